"""The style sheet of the page. The page's policy names its hash, so it stands here once, as one text."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --text: #1c2024; --paper: #ffffff; --faint: #8b929a; --line: #cfd4da;
  --good: #1a7f37; --bad: #c62828; --open: #9a6700; --accent: #1f5fbf; --soft: #f2f4f7; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --paper: #15181c; --faint: #8b929a; --line: #3a4048;
    --good: #4cc26a; --bad: #ff7b72; --open: #e3b341; --accent: #79b0ff; --soft: #20252b; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--paper);
  max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; overflow-wrap: anywhere; }
code, table, svg text { font-family: ui-monospace, monospace; }
code { overflow-wrap: anywhere; } .sizes, .legend, figcaption { color: var(--faint); }
section { border-top: 1px solid var(--line); margin-top: 1.5rem; }
.overview { list-style: none; padding: 0; }
.badge { font-size: .8rem; font-weight: 700; text-transform: uppercase; border: 1px solid currentColor;
  border-radius: .3rem; padding: .05rem .4rem; }
.badge.holds { color: var(--good); }
.badge.violated { color: var(--bad); } .badge.unknown { color: var(--open); }
.missing { border-left: .25rem solid var(--bad); padding: .3rem .8rem; background: var(--soft); }
figure { margin: 1rem 0; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { text-align: left; padding: .15rem .7rem; border-bottom: 1px solid var(--line); white-space: pre; }
tr.decides { font-weight: 700; color: var(--bad); }
a { color: var(--accent); }
svg text { font-size: 12px; fill: var(--text); }
svg .process { font-weight: 700; } svg .what { fill: var(--faint); font-size: 10px; text-anchor: middle; }
svg .step { fill: var(--bad); font-weight: 700; text-anchor: middle; }
svg .lane { stroke: var(--line); stroke-width: 2; }
svg .event { fill: var(--paper); stroke: var(--text); stroke-width: 1.5; }
svg .event.on { fill: var(--bad); stroke: var(--bad); }
svg .message { stroke: var(--accent); stroke-width: 1.5; } svg .head-message { fill: var(--accent); }
svg .order { stroke: var(--faint); stroke-width: 1.5; stroke-dasharray: 4 3; }
svg .head-order { fill: var(--faint); }
svg .joint { stroke: var(--text); stroke-width: 4; }
svg .cut { fill: none; stroke: var(--bad); stroke-width: 3; stroke-linejoin: round; opacity: .6; }
@media print {
  body { max-width: none; margin: 0; } .scroll { overflow: visible; }
  svg { max-width: 100%; height: auto; } section { break-inside: avoid-page; } }
"""
