"""The page of many runs: which properties fail in how many, a table of the runs that leads to their pages.

One self-contained file without a script: it asks the network for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from possibly.views.web.markup import Markup, Part, element, raw

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem }
th, td { text-align: left; padding: .3rem .8rem; border-bottom: 1px solid #8884; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums }
.violated, .bad { color: #b3261e } .unknown { color: #8a5a00 } .holds { color: #1b6e3c }
:root { color-scheme: light dark }
@media (prefers-color-scheme: dark) {
  .violated, .bad { color: #f2b8b5 } .unknown { color: #f0c674 } .holds { color: #8fd3a6 }
}
"""


@dataclass(frozen=True, slots=True)
class PropertyRow:
    """A property, in how many runs it has which verdict, and the run with its shortest counterexample."""

    name: str
    formula: str
    counts: dict[str, int]
    shortest: tuple[str, int] | None = None
    """The run, and the length of the order."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run, its size and what is not in order with it."""

    path: str
    events: int
    words: tuple[tuple[str, str], ...]
    """A verdict, and the name of the property or a message."""
    page: str | None = None
    """Where its own page is, relative to this one."""


def render_index(title: str, sizes: str, properties: Sequence[PropertyRow], runs: Sequence[RunRow]) -> str:
    """The whole page."""
    pages = {run.path: run.page for run in runs}
    body = element(
        "body",
        element("h1", title),
        element("p", sizes),
        _table(("property", "formula", "runs", "shortest"), (_property(each, pages) for each in properties)),
        _table(("run", "events", "verdicts"), (_run(each) for each in runs)),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("title", title),
        element("style", raw(STYLE)),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _table(heads: Iterable[str], rows: Iterable[Markup]) -> Markup:
    return element("table", element("tr", (element("th", head) for head in heads)), rows)


def _property(row: PropertyRow, pages: dict[str, str | None]) -> Markup:
    counts = [
        element("span", f"{verdict} in {count:,} ", class_=verdict)
        for verdict, count in row.counts.items()
        if count
    ]
    shortest: Part = None
    if row.shortest is not None:
        path, length = row.shortest
        shortest = [_link(path, pages.get(path)), f" ({length:,} steps)" if length else ""]
    return element(
        "tr",
        element("td", row.name),
        element("td", element("code", row.formula)),
        element("td", counts),
        element("td", shortest),
    )


def _run(row: RunRow) -> Markup:
    words = [element("span", f"{verdict.upper()} {text} ", class_=verdict) for verdict, text in row.words]
    return element(
        "tr",
        element("td", _link(row.path, row.page)),
        element("td", f"{row.events:,}", class_="number"),
        element("td", words or element("span", "all hold", class_="holds")),
    )


def _link(text: str, page: str | None) -> Markup:
    return element("a", text, href=page) if page is not None else element("span", text)
