"""What a page carries: a run, the answers on it and other pictures, as one JSON document.

Here belongs the form of the document; the page's `model.ts` is its reader. Events are named by their numbers;
values are texts, exact as a formula would write them, for the page computes with none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from possibly.verdict.model import Report, Verdict
from possibly.views.text.report import facts, loop_text, missing_text, summary_text
from possibly.views.text.words import count_text, value_text
from possibly.views.web.columns import packed
from possibly.views.web.models import Stack, Tree, document_of

if TYPE_CHECKING:
    from possibly.order.computation import Computation
    from possibly.trace.model import Ints, Trace
    from possibly.views.export.arcs import Graph
    from possibly.views.export.boxes import Picture

FORMAT, VERSION = "possibly-picture", 1
LONGEST_VALUE = 200
MOST_SOURCES = 5_000
MOST_MATCHES = 200
MESSAGE, ORDER, JOINT = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything that a page may show beside the run and the answers."""

    lattice: Mapping[str, Any] | None = None
    slices: Sequence[Mapping[str, Any]] = ()
    trees: Sequence[Tree] = ()
    stacks: Sequence[Stack] = ()
    pictures: Sequence[Picture | Graph] = ()
    commands: Callable[[Verdict], Sequence[tuple[str, str]]] | None = None
    """What a user may type to see, replay or confirm an answer: a word and a command each."""
    quote: Callable[[str | None], str | None] | None = None
    """The source line at a place, where it can be read."""


def picture_document(
    title: str, computation: Computation | None, report: Report | None, contents: Contents
) -> dict[str, Any]:
    """The whole document."""
    trace = trace_document(computation, contents.quote) if computation is not None else None
    return {**changing_document(title, computation, report, contents), "trace": trace, "live": None}


def changing_document(
    title: str, computation: Computation | None, report: Report | None, contents: Contents
) -> dict[str, Any]:
    """All of it but the run, which stays as it is while a live page is asked."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": title,
        "subtitle": _subtitle(computation),
        "warnings": list(report.warnings) if report is not None else [],
        "properties": _properties(computation, report, contents),
        "lattice": contents.lattice,
        "slices": list(contents.slices),
        "trees": [document_of(tree) for tree in contents.trees],
        "stacks": [document_of(stack) for stack in contents.stacks],
        "graphs": [graph_document(picture) for picture in contents.pictures],
        "cut": None,
    }


def _subtitle(computation: Computation | None) -> str:
    if computation is None:
        return ""
    trace = computation.trace
    sizes = f"{count_text(len(trace.processes), 'process')}, {count_text(len(trace), 'event')}"
    return f"{sizes}, {computation.order} order"


# ---- the run ------------------------------------------------------------------------------------


def trace_document(
    computation: Computation, quote: Callable[[str | None], str | None] | None = None
) -> dict[str, Any]:
    trace = computation.trace
    return {
        "file": trace.file or "",
        "order": computation.order,
        "events": len(trace),
        "processes": [
            {"name": process.name, "init": _texts(process.init), "declared": process.declared}
            for process in trace.processes
        ],
        "shared": _texts(trace.shared),
        "strings": list(trace.strings),
        "values": [value_text(value, LONGEST_VALUE) for value in trace.values],
        "columns": {name: packed(column) for name, column in _columns(computation)},
        "sources": dict(_sources(trace, quote)) if quote is not None else {},
    }


def _texts(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, value_text(value, LONGEST_VALUE)) for name, value in values.items()]


NAMED = ("identifier", "message", "tag", "function", "place", "label")
ENTRIES = ("set_start", "set_variable", "set_value", "write_start", "write_variable", "write_value")
READS = ("read_start", "read_variable")


def _columns(computation: Computation) -> Iterator[tuple[str, Ints]]:
    trace = computation.trace
    for name in ("process", "kind", *NAMED, *ENTRIES, *READS):
        column = getattr(trace, name)
        if column is not None and len(column):
            yield name, column
    yield from zip(("edge_from", "edge_to", "edge_kind"), _edges(computation), strict=True)
    if computation.joint:
        yield "steps", computation.steps


def _edges(computation: Computation) -> tuple[list[int], list[int], list[int]]:
    """The direct edges between processes: from, to, and which kind each is."""
    trace = computation.trace
    messages = set(zip(trace.delivery_send, trace.delivery_receive, strict=True))
    first, second, kinds = [], [], []
    for event in range(len(trace)):
        for other in computation.predecessors(event):
            first.append(other)
            second.append(event)
            if event in computation.joint and other in computation.joint[event]:
                kinds.append(JOINT)
            else:
                kinds.append(MESSAGE if (other, event) in messages else ORDER)
    return first, second, kinds


def _sources(trace: Trace, quote: Callable[[str | None], str | None]) -> Iterator[tuple[str, str]]:
    """The source lines of the places that events name, as far as they can be read."""
    if trace.place is None:
        return
    for number in list(dict.fromkeys(trace.place))[:MOST_SOURCES]:
        place = trace.strings[number] if number >= 0 else None
        line = quote(place)
        if place is not None and line is not None:
            yield place, line


# ---- the answers --------------------------------------------------------------------------------


def _properties(
    computation: Computation | None, report: Report | None, contents: Contents
) -> list[dict[str, Any]]:
    if report is None or computation is None:
        return []
    return [property_document(computation.trace, verdict, contents) for verdict in report.verdicts]


def property_document(trace: Trace, verdict: Verdict, contents: Contents) -> dict[str, Any]:
    witness, explanation = verdict.witness, verdict.explanation
    if verdict.example is not None:
        witness, explanation = verdict.example.witness, verdict.example.explanation
    numbers = _numbers(trace, witness.path) if witness is not None else None
    return {
        "name": verdict.name,
        "language": verdict.language,
        "formula": verdict.formula,
        "truth": verdict.truth.value,
        "facts": list(_facts(verdict)),
        "summary": summary_text(verdict, explanation) if explanation is not None else None,
        "path": None if numbers is None else packed(numbers),
        "cut": None if witness is None else [witness.cut.get(p.name, 0) for p in trace.processes],
        "moment": explanation.moment if explanation is not None else None,
        "missing": _missing(trace, verdict),
        "atoms": [
            {"text": atom.text, "value": atom.value, "operands": _texts(atom.operands)}
            for atom in (explanation.atoms if explanation is not None else ())
        ],
        "state": _texts(explanation.state) if explanation is not None else [],
        "matches": _matches(trace, verdict),
        "notes": list(_notes(verdict)),
        "commands": list(contents.commands(verdict)) if contents.commands is not None else [],
    }


def _numbers(trace: Trace, names: Iterable[str]) -> list[int]:
    return [event for event in map(trace.find, names) if event is not None]


def _facts(verdict: Verdict) -> Iterator[str]:
    yield from facts(verdict)
    if verdict.path is not None:
        from possibly.views.text.paths import path_lines

        yield from path_lines(verdict, full=False)
    if verdict.explanation is not None and verdict.explanation.unending:
        yield loop_text(verdict.explanation)


def _notes(verdict: Verdict) -> Iterator[str]:
    cost = f"{count_text(verdict.cuts, 'cut')} in {verdict.seconds:.3f} s"
    yield f"Class {verdict.predicate_class}, engine {verdict.engine}, {cost}."
    yield from verdict.notes


def _missing(trace: Trace, verdict: Verdict) -> dict[str, Any] | None:
    """The two events whose missing order matters, where both are events of the run."""
    missing = verdict.explanation.missing if verdict.explanation is not None else None
    if missing is None:
        return None
    # A joint event is named by all its lines; the first stands for it.
    ends = [trace.find(name) for name in (missing.first.event, missing.second.event)]
    ends = [
        found if found is not None else trace.find(name.split(", ")[0])
        for found, name in zip(ends, (missing.first.event, missing.second.event), strict=True)
    ]
    if None in ends:
        return None
    return {"first": ends[0], "second": ends[1], "text": missing_text(missing, verdict.truth)}


def _matches(trace: Trace, verdict: Verdict) -> list[list[int]]:
    """Events of the occurrences of a path expression, or the first that does not fit."""
    if verdict.path is None:
        return []
    found = [_numbers(trace, events) for events in (verdict.path.matches or ())[:MOST_MATCHES]]
    if verdict.path.event is not None:
        found.append(_numbers(trace, [verdict.path.event]))
    return found


# ---- graphs -------------------------------------------------------------------------------------


def graph_document(picture: Picture | Graph) -> dict[str, Any]:
    """A picture of shapes and arrows; the page places them anew."""
    from possibly.views.export.boxes import Picture

    if not isinstance(picture, Picture):
        return _column_document(picture)
    return {
        "title": picture.name,
        "direction": picture.direction,
        "nodes": [
            {"id": name, "lines": list(box.lines), "kind": box.kind, "marked": box.marked}
            for name, box in picture.boxes.items()
        ],
        "edges": [
            {"from": arrow.first, "to": arrow.second, "kind": arrow.kind, "label": arrow.label}
            for arrow in picture.arrows
        ],
    }


KINDS = {"box": "box", "test": "action", "round": "state", "double": "final", "plain": "title"}
"""How the page calls the shapes of flow graphs and automata."""


def _column_document(graph: Graph) -> dict[str, Any]:
    return {
        "title": graph.title,
        "direction": "TB",
        "nodes": [
            {"id": s.name, "lines": list(s.lines), "kind": KINDS[s.kind], "marked": s.marked}
            for s in graph.shapes
        ],
        "edges": [
            {"from": arc.first, "to": arc.second, "kind": "flow", "label": arc.text} for arc in graph.arcs
        ],
    }
