"""Boxes in rows and columns with arrows between them: what the pictures of nets and trees are made of.

Here belongs drawing, as SVG and as DOT, from one description; not what is drawn. Names from a trace stand in
texts only, where they are escaped. Equal pictures give equal texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import hypot

from possibly.views.export.dot import quoted
from possibly.views.text.words import plain
from possibly.views.web.markup import Markup, element, raw

LINE, LETTER, GAP_X, GAP_Y, MARGIN = 14, 7, 28, 26, 16
LABEL, LONGEST_LABEL = 12, 24
"""Of a label over a box: the height of a line, and its letters."""
ROUND = ("circle", "double")


@dataclass(frozen=True, slots=True)
class Box:
    """Some lines of text at a place; `kind` chooses its form, `marked` its colour."""

    lines: tuple[str, ...]
    column: int
    row: int
    kind: str = "state"
    """`state` (round), `action` (square, filled), `title` (no border), `circle`, `double` (rings), `bar`."""
    marked: bool = False
    columns: int = 1
    """It spreads over so many columns."""


@dataclass(frozen=True, slots=True)
class Arrow:
    first: str
    second: str
    kind: str = "flow"
    """`flow`, or `order` (dashed)."""
    label: str = ""


@dataclass(slots=True)
class Picture:
    name: str
    boxes: dict[str, Box] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)
    direction: str = "TB"
    """Where arrows lead: `TB` to the bottom, `LR` to the right."""
    is_tree: bool = False
    """Arrows come to a box from above, their labels in lines over it, so that none meets another."""


# ---- DOT ----------------------------------------------------------------------------------------

_SHAPES = {
    "state": "shape=box, style=rounded",
    "action": "shape=box, style=filled, fillcolor=gray85",
    "title": "shape=plaintext",
    "circle": "shape=circle",
    "double": "shape=doublecircle",
    "bar": "shape=box, style=filled, fillcolor=black, width=0.08",
}


def render_dot_picture(picture: Picture) -> str:
    """The picture for Graphviz, which places the boxes itself."""
    lines = [f"digraph {quoted(picture.name)} {{", '  node [fontname="monospace", fontsize=10];']
    lines += [f"  rankdir={picture.direction};"] if picture.direction != "TB" else []
    for name, box in picture.boxes.items():
        mark = ", color=red, penwidth=2" if box.marked else ""
        lines.append(f"  {name} [label={quoted(*box.lines)}, {_SHAPES[box.kind]}{mark}];")
    for arrow in picture.arrows:
        facts = ["style=dashed"] if arrow.kind == "order" else []
        facts += [f"label={quoted(arrow.label)}"] if arrow.label else []
        style = f" [{', '.join(facts)}]" if facts else ""
        lines.append(f"  {arrow.first} -> {arrow.second}{style};")
    return "\n".join([*lines, "}", ""])


# ---- SVG ----------------------------------------------------------------------------------------

_STYLE = (
    "text{font:11px monospace;fill:#1c2024} .state{fill:#fff;stroke:#1c2024} "
    ".action{fill:#d9dde2;stroke:#1c2024} .title{fill:none;stroke:none} "
    ".circle,.double{fill:#fff;stroke:#1c2024} .inner{fill:none;stroke:#1c2024} .bar{fill:#1c2024} "
    ".marked{stroke:#c62828;stroke-width:3} "
    ".circle.marked,.double.marked{fill:#bfe5cc;stroke:#14713a;stroke-width:2} "
    ".label{fill:#6b7480;font-size:10px;paint-order:stroke;stroke:#fff;stroke-width:4px} "
    ".flow{stroke:#1c2024;fill:none} .order{stroke:#1f5fbf;stroke-dasharray:4 3;fill:none} "
    ".added{stroke:#c62828;stroke-dasharray:7 3;fill:none} .path{stroke:#6d3fc0;stroke-width:3;fill:none}"
)


@dataclass(frozen=True, slots=True)
class _Frame:
    x: float
    y: float
    width: float
    height: float
    is_round: bool = False

    def towards(self, other: _Frame) -> tuple[float, float]:
        """Where a circle is left on the way to the middle of another."""
        x, y = self.x + self.width / 2, self.y + self.height / 2
        dx, dy = other.x + other.width / 2 - x, other.y + other.height / 2 - y
        reach = self.width / 2 / (hypot(dx, dy) or 1)
        return x + dx * reach, y + dy * reach


def render_svg_picture(picture: Picture) -> str:
    """The picture as one SVG file that needs nothing else."""
    frames = _frames(picture)
    line = _branch if picture.is_tree else _line
    width = max((f.x + f.width for f in frames.values()), default=0) + MARGIN
    if picture.is_tree:  # a label may be wider than what is below it
        over = [(frames[a.second], max((len(text) for text in _lines(a)), default=0)) for a in picture.arrows]
        width = max([width, *(f.x + f.width / 2 + n * LETTER / 2 + MARGIN for f, n in over)])
    height = max((f.y + f.height for f in frames.values()), default=0) + MARGIN
    head = element(
        "marker",
        element("path", d="M0,0 L8,4 L0,8 z", fill="#1c2024"),
        id="head", viewBox="0 0 8 8", refX=8, refY=4, markerWidth=9, markerHeight=9,
        markerUnits="userSpaceOnUse", orient="auto",
    )  # fmt: skip
    svg = element(
        "svg",
        element("title", picture.name),
        element("style", raw(_STYLE)),
        element("defs", head),
        [part for a in picture.arrows for part in line(frames[a.first], frames[a.second], a)],
        [part for name, box in picture.boxes.items() for part in _drawn(box, frames[name])],
        xmlns="http://www.w3.org/2000/svg", width=width, height=height, viewBox=f"0 0 {width:g} {height:g}",
    )  # fmt: skip
    return f"{svg}\n"


def _frames(picture: Picture) -> Mapping[str, _Frame]:
    """Columns as wide and rows as high as their boxes need."""
    boxes = picture.boxes.values()
    columns = 1 + max((box.column + box.columns - 1 for box in boxes), default=0)
    widths, heights = [0.0] * columns, [0.0] * (1 + max((box.row for box in boxes), default=0))
    labels = {arrow.second: _lines(arrow) for arrow in picture.arrows} if picture.is_tree else {}
    for name, box in picture.boxes.items():
        if box.columns == 1:
            over = max((len(line) * LETTER for line in labels.get(name, ())), default=0)
            widths[box.column] = max(widths[box.column], _width(box), over)
        heights[box.row] = max(heights[box.row], _height(box))
    longest = max((len(plain(arrow.label)) for arrow in picture.arrows), default=0)
    if picture.is_tree:
        most = max(map(len, labels.values()), default=0)
        lefts, tops = _sums(widths, GAP_X // 2), _sums(heights, GAP_Y + most * LABEL)
    else:
        lefts, tops = _sums(widths, GAP_X + longest * LETTER), _sums(heights, GAP_Y + (18 if longest else 0))
    found = {}
    for name, box in picture.boxes.items():
        last = box.column + box.columns - 1
        room = lefts[last] + widths[last] - lefts[box.column]
        width = room if box.columns > 1 else _width(box)
        left, down = lefts[box.column] + (room - width) / 2, (heights[box.row] - _height(box)) / 2
        top = tops[box.row] + (down if longest and not picture.is_tree else 0)
        found[name] = _Frame(left, top, width, _height(box), box.kind in ROUND)
    return found


def _sums(sizes: list[float], gap: int) -> list[float]:
    found, at = [], float(MARGIN)
    for size in sizes:
        found.append(at)
        at += size + gap
    return found


def _width(box: Box) -> float:
    if box.kind == "bar":
        return 8
    width = max((len(plain(line)) for line in box.lines), default=0) * LETTER + 14
    return max(width, _text_height(box), 26) if box.kind in ROUND else width


def _height(box: Box) -> float:
    if box.kind == "bar":
        return 30
    return _width(box) if box.kind in ROUND else _text_height(box)


def _text_height(box: Box) -> float:
    return max(len(box.lines), 1) * LINE + 8


def _drawn(box: Box, frame: _Frame) -> Iterator[Markup]:
    style = f"{box.kind} marked" if box.marked else box.kind
    middle, centre = frame.x + frame.width / 2, frame.y + frame.height / 2
    if box.kind in ("circle", "double"):
        yield element("circle", cx=middle, cy=centre, r=frame.width / 2, class_=style)
        if box.kind == "double":
            yield element("circle", cx=middle, cy=centre, r=frame.width / 2 - 3, class_="inner")
    else:
        radius = 8 if box.kind == "state" else 0
        size = {"width": frame.width, "height": frame.height}
        yield element("rect", x=frame.x, y=frame.y, **size, rx=radius, class_=style)
    top = centre - len(box.lines) * LINE / 2
    for number, line in enumerate(box.lines, 1):
        yield element("text", line, x=middle, y=top + number * LINE - 4, text_anchor="middle")


def _line(first: _Frame, second: _Frame, arrow: Arrow) -> Iterator[Markup]:
    """From the lower edge of a box to the upper edge of the other, or from side to side."""
    if first == second:
        yield from _loop(first, arrow)
        return
    x1, x2 = first.x + first.width / 2, second.x + second.width / 2
    if first.is_round and second.is_round:
        x1, y1 = first.towards(second)
        x2, y2 = second.towards(first)
    elif second.y > first.y + first.height:
        x1 = min(max(x2, first.x + 6), first.x + first.width - 6)
        x2 = min(max(x1, second.x + 6), second.x + second.width - 6)
        y1, y2 = first.y + first.height, second.y
    else:
        y1, y2 = first.y + first.height / 2, second.y + second.height / 2
        to_the_right = second.x > first.x + first.width
        if to_the_right:
            x1, x2 = first.x + first.width, second.x
        elif second.x + second.width < first.x:
            x1, x2 = first.x, second.x + second.width
    yield element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=arrow.kind, marker_end="url(#head)")
    if arrow.label:
        place = {"x": (x1 + x2) / 2, "y": (y1 + y2) / 2 - 4}
        yield element("text", arrow.label, **place, text_anchor="middle", class_="label")


def _branch(first: _Frame, second: _Frame, arrow: Arrow) -> Iterator[Markup]:
    """From the lower edge of a box to the upper edge of one below it, the label over that."""
    lines = _lines(arrow)
    x, bend = second.x + second.width / 2, second.y - 10 - len(lines) * LABEL
    start = f"M{first.x + first.width / 2:g} {first.y + first.height:g}L{x:g} {bend:g}"
    if lines:
        yield element("path", d=start, class_=arrow.kind)
        start = f"M{x:g} {second.y - 8:g}"
    yield element("path", d=f"{start}L{x:g} {second.y:g}", class_=arrow.kind, marker_end="url(#head)")
    for number, line in enumerate(reversed(lines)):
        place = {"x": x, "y": second.y - 12 - number * LABEL}
        yield element("text", line, **place, text_anchor="middle", class_="label")


def _lines(arrow: Arrow) -> list[str]:
    from textwrap import wrap

    return wrap(plain(arrow.label), LONGEST_LABEL, break_long_words=False)


def _loop(frame: _Frame, arrow: Arrow) -> Iterator[Markup]:
    """An arrow from a box to itself, above it."""
    middle, top = frame.x + frame.width / 2, frame.y
    start, end = f"M{middle - 8:g} {top + 3:g}", f"{middle + 8:g} {top + 3:g}"
    path = f"{start}C{middle - 22:g} {top - 26:g} {middle + 22:g} {top - 26:g} {end}"
    yield element("path", d=path, class_=arrow.kind, marker_end="url(#head)")
    if arrow.label:
        yield element("text", arrow.label, x=middle, y=top - 22, text_anchor="middle", class_="label")
