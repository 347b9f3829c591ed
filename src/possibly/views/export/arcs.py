"""Graphs with cycles as a column of shapes: the next one straight below, other arrows as arcs at the sides.

Here belongs drawing such a graph, as SVG and as DOT, from one description. Arrows down past other shapes
run on the right, arrows back up on the left, further out the longer they are. It is a layout in which flow
graphs and automata stay readable without a program that places them; DOT leaves that to Graphviz.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from possibly.views.export.dot import quoted
from possibly.views.text.words import plain
from possibly.views.web.markup import Markup, element, raw

LINE, LETTER, GAP, MARGIN, LANE = 14, 7, 30, 20, 16


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    lines: tuple[str, ...]
    kind: str = "box"
    """`box`, `test` (its ends are pointed), `round`, `double` (a round one with two borders), `plain`."""
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Arc:
    first: str
    second: str
    text: str = ""


@dataclass(slots=True)
class Graph:
    """One column."""

    title: str
    shapes: list[Shape] = field(default_factory=list)
    arcs: list[Arc] = field(default_factory=list)


# ---- DOT ----------------------------------------------------------------------------------------

_DOT = {
    "box": "shape=box",
    "test": "shape=diamond",
    "round": "shape=box, style=rounded",
    "double": "shape=box, style=rounded, peripheries=2",
    "plain": "shape=plaintext",
}


def render_dot_graphs(title: str, graphs: Sequence[Graph]) -> str:
    """The graphs for Graphviz, a cluster each; shapes are called by their number."""
    lines = [f"digraph {quoted(title)} {{", '  node [fontname="monospace", fontsize=10];']
    for number, graph in enumerate(graphs):
        names = {shape.name: f"g{number}_{place}" for place, shape in enumerate(graph.shapes)}
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f"    label={quoted(graph.title)};")
        for shape in graph.shapes:
            mark = ", color=red, penwidth=2" if shape.marked else ""
            lines.append(f"    {names[shape.name]} [label={quoted(*shape.lines)}, {_DOT[shape.kind]}{mark}];")
        for arc in graph.arcs:
            text = f" [label={quoted(arc.text)}]" if arc.text else ""
            lines.append(f"    {names[arc.first]} -> {names[arc.second]}{text};")
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


# ---- SVG ----------------------------------------------------------------------------------------

_STYLE = (
    "text{font:11px monospace;fill:#1c2024} .shape{fill:#fff;stroke:#1c2024} .plain{fill:none;stroke:none} "
    ".marked{stroke:#c62828;stroke-width:3} .arc{stroke:#1c2024;fill:none} .title{font-weight:bold} "
    ".note{fill:#1f5fbf}"
)


@dataclass(frozen=True, slots=True)
class _Frame:
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def render_svg_graphs(title: str, graphs: Sequence[Graph]) -> str:
    """The graphs side by side as one SVG file that needs nothing else."""
    parts: list[Markup] = []
    left, height = float(MARGIN), 0.0
    for graph in graphs:
        column = _Column(graph, left)
        parts.extend(column.drawn())
        left, height = column.right + MARGIN, max(height, column.bottom)
    head = element(
        "marker",
        element("path", d="M0,0 L8,4 L0,8 z", fill="#1c2024"),
        id="head", viewBox="0 0 8 8", refX=8, refY=4, markerWidth=8, markerHeight=8, orient="auto",
    )  # fmt: skip
    svg = element(
        "svg",
        element("title", title),
        element("style", raw(_STYLE)),
        element("defs", head),
        parts,
        xmlns="http://www.w3.org/2000/svg", width=left, height=height + MARGIN,
        viewBox=f"0 0 {left:g} {height + MARGIN:g}",
    )  # fmt: skip
    return f"{svg}\n"


class _Column:
    """A graph placed: shapes below each other, arcs in lanes at both sides."""

    def __init__(self, graph: Graph, left: float) -> None:
        self.graph = graph
        self.rows = {shape.name: row for row, shape in enumerate(graph.shapes)}
        up = [arc for arc in graph.arcs if self.rows[arc.second] <= self.rows[arc.first]]
        down = [arc for arc in graph.arcs if self.rows[arc.second] > self.rows[arc.first] + 1]
        self.lanes = {**_lanes(up, self.rows), **_lanes(down, self.rows)}
        widest = max((_width(shape) for shape in graph.shapes), default=0)
        labels = max((len(arc.text) for arc in graph.arcs), default=0) * LETTER
        self.start = left + LANE * (1 + _most(up, self.lanes)) + labels
        self.end = self.start + max(widest, len(graph.title) * LETTER)
        self.right = self.end + LANE * (1 + _most(down, self.lanes)) + labels
        self.frames: dict[str, _Frame] = {}
        y = float(MARGIN + LINE + GAP / 2)
        for shape in graph.shapes:
            high = max(len(shape.lines), 1) * LINE + 10
            x = (self.start + self.end - _width(shape)) / 2
            self.frames[shape.name] = _Frame(x, y, _width(shape), high)
            y += high + GAP
        self.bottom = y

    def drawn(self) -> Iterator[Markup]:
        middle = (self.start + self.end) / 2
        yield element(
            "text", plain(self.graph.title), x=middle, y=MARGIN, text_anchor="middle", class_="title"
        )
        for arc in self.graph.arcs:
            yield from self._arc(arc)
        for shape in self.graph.shapes:
            yield from _shape(shape, self.frames[shape.name])

    def _arc(self, arc: Arc) -> Iterator[Markup]:
        first, second = self.frames[arc.first], self.frames[arc.second]
        if self.rows[arc.second] == self.rows[arc.first] + 1:
            below = first.y + first.height
            yield _curve(f"M{first.middle:g},{below:g} L{second.middle:g},{second.y:g}")
            yield from _note(arc.text, first.middle + 4, below + 12, "start")
            return
        lane = (self.lanes[arc] + 1) * LANE
        y1, y2 = first.y + first.height / 2 + 4, second.y + second.height / 2 - 4
        if self.rows[arc.second] > self.rows[arc.first]:
            x1, x2, x = first.x + first.width, second.x + second.width, self.end + lane
            anchor, at = "start", first.x + first.width + 2
        else:
            x1, x2, x = first.x, second.x, self.start - lane
            anchor, at = "end", first.x - 2
        yield _curve(f"M{x1:g},{y1:g} C{x:g},{y1:g} {x:g},{y1:g} {x:g},{(y1 + y2) / 2:g} "
                     f"S{x:g},{y2:g} {x2:g},{y2:g}")  # fmt: skip
        yield from _note(arc.text, at, y1 - 3, anchor)


def _lanes(arcs: Sequence[Arc], rows: dict[str, int]) -> dict[Arc, int]:
    """Short arcs inside, long ones outside, no two that overlap in one lane."""
    found: dict[Arc, int] = {}
    taken: list[list[tuple[int, int]]] = []
    for arc in sorted(arcs, key=lambda a: abs(rows[a.first] - rows[a.second])):
        low, high = sorted((rows[arc.first], rows[arc.second]))
        lane = 0
        while lane < len(taken) and any(low <= b and a <= high for a, b in taken[lane]):
            lane += 1
        if lane == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        found[arc] = lane
    return found


def _most(arcs: Sequence[Arc], lanes: dict[Arc, int]) -> int:
    return max((lanes[arc] + 1 for arc in arcs), default=0)


def _width(shape: Shape) -> float:
    slack = 40 if shape.kind == "test" else 16
    return max((len(plain(line)) for line in shape.lines), default=0) * LETTER + slack


def _curve(way: str) -> Markup:
    return element("path", d=way, class_="arc", marker_end="url(#head)")


def _note(text: str, x: float, y: float, anchor: str) -> Iterator[Markup]:
    if text:
        yield element("text", plain(text), x=x, y=y, text_anchor=anchor, class_="note")


def _shape(shape: Shape, frame: _Frame) -> Iterator[Markup]:
    style = "plain" if shape.kind == "plain" else "shape marked" if shape.marked else "shape"
    x, y, width, height = frame.x, frame.y, frame.width, frame.height
    if shape.kind == "test":
        corners = [(x, y + height / 2), (x + 14, y), (x + width - 14, y), (x + width, y + height / 2),
                   (x + width - 14, y + height), (x + 14, y + height)]  # fmt: skip
        yield element("polygon", points=" ".join(f"{a:g},{b:g}" for a, b in corners), class_=style)
    else:
        radius = 10 if shape.kind in ("round", "double") else 0
        yield element("rect", x=x, y=y, width=width, height=height, rx=radius, class_=style)
        if shape.kind == "double":
            yield element("rect", x=x + 3, y=y + 3, width=width - 6, height=height - 6, rx=8, class_="shape")
    for number, line in enumerate(shape.lines, 1):
        yield element("text", plain(line), x=frame.middle, y=y + 2 + number * LINE, text_anchor="middle")
