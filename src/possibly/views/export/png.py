"""Pictures as PNG, painted from their SVG.

The painter is resvg, a small library without further needs, from the extra `possibly[web]`: a browser would
paint the same but would have to be there. It is imported when a PNG is asked for.
"""

from __future__ import annotations

from possibly.errors import UsageError

LARGEST = 60_000_000
"""Points of a picture that is painted; a larger one is made smaller until it fits."""


def painted(svg: str, width: float, height: float, scale: float = 2.0) -> bytes:
    """The PNG of an SVG of that size, `scale` points for each of its own."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise UsageError(
            "PNG needs a painter that is not installed", hint="pip install 'possibly[web]', or use --svg"
        ) from None
    fitting = min(scale, (LARGEST / max(1.0, width * height)) ** 0.5)
    size = max(1, round(width * fitting))
    return bytes(svg_to_bytes(svg_string=svg, width=size, background="#ffffff"))
