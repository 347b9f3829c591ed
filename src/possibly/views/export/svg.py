"""The space-time diagram of a computation as one SVG file.

A lane a process, time to the right. An event stands in its causal column: one further than everything
that happened before it, so concurrent events may share a column. Arrows are messages (solid) and other
order between processes (dashed); joint events are tied together. A witness is drawn over it: its events
numbered in their order, and the cut it ends in as a line across the lanes.

A picture of more events than anybody can see is of no use: beyond `MOST_EVENTS` only the neighbourhood
of the witness is drawn (its last events, what they directly depend on, and what comes next). The page, which
draws only what is in sight, has no such limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from possibly.verdict.model import Witness
from possibly.views.text.words import elided, plain, value_text
from possibly.views.web.markup import Markup, element, lines, raw

if TYPE_CHECKING:
    from possibly.order.computation import Computation
    from possibly.trace.model import Trace

MOST_EVENTS = 2_000
LONGEST_TAIL = 1_000
"""Events of a witness that are drawn when not all can be."""
COLUMN, LANE, TOP, RADIUS = 56, 64, 40, 9
LONGEST_NAME = 24
STYLE = (
    "text{font:12px monospace;fill:#1c2024} .process{font-weight:700} "
    ".what{fill:#6b7480;font-size:10px;text-anchor:middle} "
    ".step{fill:#c0272d;font-weight:700;text-anchor:middle} .lane{stroke:#d5dae1;stroke-width:2} "
    ".event{fill:#fff;stroke:#1c2024;stroke-width:1.5} .event.on{fill:#c0272d;stroke:#c0272d} "
    ".message{stroke:#1f5fbf;stroke-width:1.5} .head-message{fill:#1f5fbf} "
    ".order{stroke:#6b7480;stroke-width:1.5;stroke-dasharray:4 3} .head-order{fill:#6b7480} "
    ".joint{stroke:#1c2024;stroke-width:4} "
    ".cut{fill:none;stroke:#6d3fc0;stroke-width:3;stroke-linejoin:round;opacity:.7}"
)
"""Plain colours: an SVG file may be shown by programs that know little of style sheets."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an event is drawn."""

    x: float
    y: float


def chosen_events(computation: Computation, witness: Witness | None) -> Sequence[int]:
    """The events to draw, ascending: all, or the neighbourhood of the witness."""
    trace = computation.trace
    if len(trace) <= MOST_EVENTS:
        return range(len(trace))
    if witness is None or not witness.path:
        return range(MOST_EVENTS)
    near = [event for event in map(trace.find, witness.path[-LONGEST_TAIL:]) if event is not None]
    found = dict.fromkeys(near)
    for event in (
        *_next_events(trace, witness),
        *(p for e in near for p in computation.predecessors(e)),
    ):
        if len(found) < MOST_EVENTS:
            found[event] = None
    return sorted(found)


def _next_events(trace: Trace, witness: Witness) -> Iterator[int]:
    for number, process in enumerate(trace.processes):
        count = witness.cut.get(process.name, 0)
        if count < len(trace.events_of[number]):
            yield trace.events_of[number][count]


def columns(computation: Computation, events: Sequence[int]) -> Mapping[int, int]:
    """The causal column of each of the events, from 0."""
    inside = frozenset(events)
    last = [-1] * len(computation.lengths)
    found: dict[int, int] = {}
    for step in computation.steps:
        together = [event for event in computation.events(step) if event in inside]
        before = [last[computation.trace.process[event]] for event in together]
        before += [found.get(other, -1) for event in together for other in computation.predecessors(event)]
        for event in together:
            found[event] = last[computation.trace.process[event]] = max(before) + 1
    return found


def places(computation: Computation, events: Sequence[int]) -> Mapping[int, Place]:
    left = _left(computation.trace)
    return {
        event: Place(left + column * COLUMN, _lane(computation.trace.process[event]))
        for event, column in columns(computation, events).items()
    }


def _lane(process: int) -> float:
    return TOP + process * LANE


def _left(trace: Trace) -> float:
    longest = max((len(_lane_name(process.name)) for process in trace.processes), default=0)
    return 32 + 8 * longest + COLUMN / 2


def _lane_name(name: str) -> str:
    return elided(plain(name), LONGEST_NAME)


# ---- drawing ------------------------------------------------------------------------------------


def render_svg(computation: Computation, witness: Witness | None, caption: str) -> str:
    """The diagram as the text of a file, with the witness over it if there is one."""
    return f"{render_diagram(computation, witness, caption)}\n"


def render_diagram(computation: Computation, witness: Witness | None, caption: str) -> Markup:
    """The diagram as an `svg` element."""
    where = places(computation, chosen_events(computation, witness))
    right = max((place.x for place in where.values()), default=_left(computation.trace)) + COLUMN
    height = TOP + LANE * len(computation.lengths)
    return element(
        "svg",
        element("title", caption),
        element("style", raw(STYLE)),
        element("rect", width=right, height=height, fill="#ffffff"),
        _arrow_heads(),
        _lanes(computation.trace, right),
        _arrows(computation, where),
        _cut_line(computation.trace, where, witness, right) if witness is not None else None,
        _events(computation.trace, where, witness),
        role="img",
        xmlns="http://www.w3.org/2000/svg",
        width=right,
        height=height,
        viewBox=f"0 0 {right:g} {height:g}",
    )


def _arrow_heads() -> Markup:
    heads = (
        element(
            "marker",
            element("path", d="M0 0 L8 4 L0 8 z", class_=f"head-{kind}"),
            id=f"head-{kind}",
            viewBox="0 0 8 8",
            refX=8,
            refY=4,
            markerWidth=7,
            markerHeight=7,
            orient="auto",
        )
        for kind in ("message", "order")
    )
    return element("defs", heads)


def _lanes(trace: Trace, right: float) -> Iterator[Markup]:
    left = _left(trace) - COLUMN / 2
    for number, process in enumerate(trace.processes):
        y = _lane(number)
        yield element("line", x1=left, y1=y, x2=right - 8, y2=y, class_="lane")
        name = element("title", process.name)
        yield element("text", name, _lane_name(process.name), x=12, y=y + 5, class_="process")


def _arrows(computation: Computation, where: Mapping[int, Place]) -> Iterator[Markup]:
    trace = computation.trace
    messages = set(zip(trace.delivery_send, trace.delivery_receive, strict=True))
    for event, end in where.items():
        for other in computation.predecessors(event):
            if other not in where:
                continue
            if computation.step(other) == computation.step(event):
                kind = "joint" if other < event else None
            else:
                kind = "message" if (other, event) in messages else "order"
            if kind is not None:
                yield _arrow(kind, where[other], end, f"{trace.name(other)} -> {trace.name(event)}")


def _arrow(kind: str, start: Place, end: Place, title: str) -> Markup:
    length = ((end.x - start.x) ** 2 + (end.y - start.y) ** 2) ** 0.5 or 1.0
    dx, dy = (end.x - start.x) / length * (RADIUS + 1), (end.y - start.y) / length * (RADIUS + 1)
    return element(
        "line",
        element("title", title),
        x1=start.x + dx,
        y1=start.y + dy,
        x2=end.x - dx,
        y2=end.y - dy,
        class_=kind,
        marker_end=None if kind == "joint" else f"url(#head-{kind})",
    )


def _cut_line(trace: Trace, where: Mapping[int, Place], witness: Witness, right: float) -> Markup:
    points: list[str] = []
    for number, process in enumerate(trace.processes):
        count = witness.cut.get(process.name, 0)
        drawn = [
            (trace.position[event], where[event].x) for event in trace.events_of[number] if event in where
        ]
        last = max((x for position, x in drawn if position <= count), default=_left(trace) - COLUMN)
        following = min((x for position, x in drawn if position > count), default=last + COLUMN)
        x, y = min((last + following) / 2, last + COLUMN / 2, right - 8), _lane(number)
        points += [f"{x:g},{y - LANE / 3:g}", f"{x:g},{y + LANE / 3:g}"]
    return element("polyline", element("title", "the cut it ends in"), points=" ".join(points), class_="cut")


def _events(trace: Trace, where: Mapping[int, Place], witness: Witness | None) -> Iterator[Markup]:
    path = () if witness is None else witness.path
    step = {trace.find(name): number for number, name in enumerate(path, start=1)}
    for event, place in where.items():
        number = step.get(event)
        yield element(
            "g",
            element("title", tooltip(trace, event)),
            element(
                "circle", cx=place.x, cy=place.y, r=RADIUS, class_="event" if number is None else "event on"
            ),
            element("text", str(number), x=place.x, y=place.y - RADIUS - 5, class_="step")
            if number
            else None,
            element("text", _inside(trace, event), x=place.x, y=place.y + RADIUS + 14, class_="what"),
        )


def _inside(trace: Trace, event: int) -> str:
    """A word below the event: its label, else its function or kind unless that says nothing."""
    label = trace.text(trace.label, event) or trace.text(trace.function, event)
    kind = trace.strings[trace.kind[event]]
    return elided(plain(label or ("" if kind == "internal" else kind)), 9)


def tooltip(trace: Trace, event: int) -> Markup:
    """All facts of an event, a line each."""
    facts = trace.event(event)
    found = [f"{facts.name}: {facts.kind}"]
    named = {"label": facts.label, "function": facts.fn, "message": facts.msg, "to": ", ".join(facts.to)}
    found += [f"{name}: {text}" for name, text in named.items() if text]
    found += [f"{facts.process}.{name} = {value_text(value)}" for name, value in facts.set.items()]
    found += [f"{name} = {value_text(value)}" for name, value in facts.write.items()]
    found += [f"reads {', '.join(facts.read)}"] if facts.read else []
    found += [f"at {facts.at}"] if facts.at else []
    return lines(found)
