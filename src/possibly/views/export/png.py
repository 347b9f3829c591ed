"""Pictures as PNG, painted from their SVG.

The painter is resvg, a small library without further needs, from the extra `possibly[web]`: a browser would
paint the same but would have to be there. It is imported when a PNG is asked for.

Law: a picture has its text. The painter leaves out, without a word, what it has no font for, and its own
choice for "monospace" is there on few machines. So a font that is there is looked for, by painting a letter;
where there is none the picture is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from possibly.errors import UsageError

LARGEST = 60_000_000
"""Points of a picture that is painted; a larger one is made smaller until it fits."""
FONTS = (
    "DejaVu Sans Mono", "Liberation Mono", "Noto Sans Mono", "Menlo", "Consolas", "Courier New",
    "Ubuntu Mono", "Cascadia Mono", "Source Code Pro", "Fira Mono", "Roboto Mono", "FreeMono",
    "Nimbus Mono PS", "Courier", "DejaVu Sans", "Liberation Sans", "Noto Sans", "Helvetica", "Arial",
    "Segoe UI", "Ubuntu", "Cantarell", "FreeSans",
)  # fmt: skip
"""Usual ones, those in which all letters are equally wide first: the pictures are measured for these."""
_LETTER = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
    '<text x="2" y="16" font-family="{}" font-size="16">M</text></svg>'
)


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
    family = font_there()
    if family is None and "<text" in svg:
        raise UsageError(
            "PNG needs a font and none of the usual ones is installed",
            hint="install one, DejaVu Sans Mono for instance (fonts-dejavu), or use --svg",
        )
    return bytes(
        svg_to_bytes(
            svg_string=svg, width=size, background="#ffffff", monospace_family=family, font_family=family
        )
    )


@cache
def font_there() -> str | None:
    """The first of the usual fonts that the painter finds."""
    return found_font(lambda family: _letter(family) != _letter("possibly: no such font"))


def found_font(is_there: Callable[[str], bool]) -> str | None:
    return next((family for family in FONTS if is_there(family)), None)


def _letter(family: str) -> bytes:
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=_LETTER.format(family), width=20, background="#ffffff"))
