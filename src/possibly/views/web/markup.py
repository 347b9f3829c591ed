"""HTML and SVG built from parts, safe by construction.

`element` escapes every text and every attribute it is given, unless it is `Markup`, and only this
file makes `Markup`. So what a trace says can never become a tag.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from possibly.views.text.words import plain

VOID = frozenset({"meta", "circle", "line", "path", "rect", "polyline"})
"""Elements that are written without content."""


class Markup(str):
    """A text that is markup already."""

    __slots__ = ()


Part = str | None | Iterable[str | None]


def element(tag: str, *parts: Part, **attributes: str | float | None) -> Markup:
    """`<tag attribute="...">parts</tag>`; `class_` stands for class, `a_b` for a-b, None is left out."""
    opening = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_escaped(_shown(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in VOID and not parts:
        return Markup(f"<{tag}{opening}>") if tag == "meta" else Markup(f"<{tag}{opening}/>")
    return Markup(f"<{tag}{opening}>{''.join(map(_content, parts))}</{tag}>")


def raw(text: str) -> Markup:
    """A text of ours (style, script, encoded document) that goes in as it is; never one from a trace."""
    return Markup(text)


def lines(texts: Iterable[str]) -> Markup:
    """The texts under each other: only the line breaks between them are real ones."""
    return Markup("\n".join(map(_escaped, texts)))


def _content(part: Part) -> str:
    match part:
        case None:
            return ""
        case Markup():
            return part
        case str():
            return _escaped(part)
        case _:
            return "".join(map(_content, part))


def _escaped(text: str) -> str:
    return text if isinstance(text, Markup) else escape(plain(text))


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
