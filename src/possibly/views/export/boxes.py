"""Boxes in rows and columns with arrows between them: what the pictures of nets and trees are made of.

Here belongs drawing, as SVG and as DOT, from one description; not what is drawn. Names from a trace stand in
texts only, where they are escaped. Equal pictures give equal texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from possibly.views.export.dot import quoted
from possibly.views.text.words import plain
from possibly.views.web.markup import Markup, element, raw

LINE, LETTER, GAP_X, GAP_Y, MARGIN = 14, 7, 28, 26, 16


@dataclass(frozen=True, slots=True)
class Box:
    """Some lines of text at a place; `kind` chooses its form, `marked` its colour."""

    lines: tuple[str, ...]
    column: int
    row: int
    kind: str = "state"
    """`state` (round), `action` (square, filled), `title` (no border)."""
    marked: bool = False
    columns: int = 1
    """It spreads over so many columns."""


@dataclass(frozen=True, slots=True)
class Arrow:
    first: str
    second: str
    kind: str = "flow"
    """`flow`, or `order` (dashed)."""


@dataclass(slots=True)
class Picture:
    name: str
    boxes: dict[str, Box] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)


# ---- DOT ----------------------------------------------------------------------------------------

_SHAPES = {
    "state": "shape=box, style=rounded",
    "action": "shape=box, style=filled, fillcolor=gray85",
    "title": "shape=plaintext",
}


def render_dot_picture(picture: Picture) -> str:
    """The picture for Graphviz, which places the boxes itself."""
    lines = [f"digraph {quoted(picture.name)} {{", '  node [fontname="monospace", fontsize=10];']
    for name, box in picture.boxes.items():
        mark = ", color=red, penwidth=2" if box.marked else ""
        lines.append(f"  {name} [label={quoted(*box.lines)}, {_SHAPES[box.kind]}{mark}];")
    for arrow in picture.arrows:
        style = " [style=dashed]" if arrow.kind == "order" else ""
        lines.append(f"  {arrow.first} -> {arrow.second}{style};")
    return "\n".join([*lines, "}", ""])


# ---- SVG ----------------------------------------------------------------------------------------

_STYLE = (
    "text{font:11px monospace;fill:#1c2024} .state{fill:#fff;stroke:#1c2024} "
    ".action{fill:#d9dde2;stroke:#1c2024} .title{fill:none;stroke:none} "
    ".marked{stroke:#c62828;stroke-width:3} "
    ".flow{stroke:#1c2024;fill:none} .order{stroke:#1f5fbf;stroke-dasharray:4 3;fill:none}"
)


@dataclass(frozen=True, slots=True)
class _Frame:
    x: float
    y: float
    width: float
    height: float


def render_svg_picture(picture: Picture) -> str:
    """The picture as one SVG file that needs nothing else."""
    frames = _frames(picture)
    width = max((f.x + f.width for f in frames.values()), default=0) + MARGIN
    height = max((f.y + f.height for f in frames.values()), default=0) + MARGIN
    head = element(
        "marker",
        element("path", d="M0,0 L8,4 L0,8 z", fill="#1c2024"),
        id="head", viewBox="0 0 8 8", refX=8, refY=4, markerWidth=8, markerHeight=8, orient="auto",
    )  # fmt: skip
    svg = element(
        "svg",
        element("title", picture.name),
        element("style", raw(_STYLE)),
        element("defs", head),
        [_line(frames[a.first], frames[a.second], a.kind) for a in picture.arrows],
        [part for name, box in picture.boxes.items() for part in _drawn(box, frames[name])],
        xmlns="http://www.w3.org/2000/svg", width=width, height=height, viewBox=f"0 0 {width:g} {height:g}",
    )  # fmt: skip
    return f"{svg}\n"


def _frames(picture: Picture) -> Mapping[str, _Frame]:
    """Columns as wide and rows as high as their boxes need."""
    boxes = picture.boxes.values()
    columns = 1 + max((box.column + box.columns - 1 for box in boxes), default=0)
    widths, heights = [0.0] * columns, [0.0] * (1 + max((box.row for box in boxes), default=0))
    for box in boxes:
        if box.columns == 1:
            widths[box.column] = max(widths[box.column], _width(box))
        heights[box.row] = max(heights[box.row], _height(box))
    lefts, tops = _sums(widths, GAP_X), _sums(heights, GAP_Y)
    found = {}
    for name, box in picture.boxes.items():
        last = box.column + box.columns - 1
        room = lefts[last] + widths[last] - lefts[box.column]
        width = room if box.columns > 1 else _width(box)
        found[name] = _Frame(lefts[box.column] + (room - width) / 2, tops[box.row], width, _height(box))
    return found


def _sums(sizes: list[float], gap: int) -> list[float]:
    found, at = [], float(MARGIN)
    for size in sizes:
        found.append(at)
        at += size + gap
    return found


def _width(box: Box) -> float:
    return max((len(plain(line)) for line in box.lines), default=0) * LETTER + 14


def _height(box: Box) -> float:
    return max(len(box.lines), 1) * LINE + 8


def _drawn(box: Box, frame: _Frame) -> Iterator[Markup]:
    style = f"{box.kind} marked" if box.marked else box.kind
    radius = 8 if box.kind == "state" else 0
    yield element(
        "rect", x=frame.x, y=frame.y, width=frame.width, height=frame.height, rx=radius, class_=style
    )
    for number, line in enumerate(box.lines, 1):
        middle = frame.x + frame.width / 2
        yield element("text", line, x=middle, y=frame.y + number * LINE, text_anchor="middle")


def _line(first: _Frame, second: _Frame, kind: str) -> Markup:
    """From the lower edge of a box to the upper edge of the other, or from side to side in one row."""
    x1, x2 = first.x + first.width / 2, second.x + second.width / 2
    if second.y > first.y + first.height:
        x1 = min(max(x2, first.x + 6), first.x + first.width - 6)
        x2 = min(max(x1, second.x + 6), second.x + second.width - 6)
        y1, y2 = first.y + first.height, second.y
    else:
        y1, y2 = first.y + first.height / 2, second.y + second.height / 2
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind, marker_end="url(#head)")
