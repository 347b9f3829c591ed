"""The cuts of a small run, and slices as graphs of their components, for the page.

Here belongs which cuts and components are drawn and what is marked in them. In the Hasse diagram a cut that
satisfies the predicate is filled and one of the slice ringed (Sen's thesis, figures 4.1 and 5.5); of a run
with more cuts than anybody can see, the slice is shown as a graph whose vertices are its strongly connected
components (section 4.2): events that a cut of the slice contains all or none of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from possibly.errors import PossiblyError
from possibly.logic.bind import bind_property
from possibly.logic.languages import FORMULAS
from possibly.logic.predicates.functions import is_state, maximal_predicates
from possibly.logic.printer import unparse
from possibly.logic.specification import Specification
from possibly.logic.syntax import Node, Not, Temporal
from possibly.order.computation import Cut, Place
from possibly.order.lattice import Lattice
from possibly.order.slice import Slice
from possibly.order.tied import components
from possibly.session.checking.cuts import Cuts
from possibly.views.text.words import count_text

MOST_CUTS = 400
"""Cuts of a Hasse diagram that is drawn."""
MOST_COUNTED = 20_000
"""Cuts that are counted; beyond that, the numbers say so."""
MOST_SLICES = 6
LONG_RUN, LONGEST_RUN = 20_000, 100_000
"""Events of a run of which only one slice is drawn, and of one of which still one is."""
MOST_COMPONENTS = 120
SHOWN_EVENTS = 12


@dataclass(frozen=True, slots=True)
class Marked:
    """A formula whose cuts are shown, and the property it comes from."""

    number: int | None
    """Of the property."""
    formula: Node

    @property
    def text(self) -> str:
        return unparse(self.formula)


def marked(cuts: Cuts, specification: Specification | None) -> list[Marked]:
    """The predicates of the ctl and ltl properties, and the ctl properties themselves."""
    found: list[Marked] = []
    for number, each in enumerate(specification.properties if specification is not None else ()):
        if each.language not in FORMULAS:
            continue
        assert specification is not None
        formula = bind_property(each, cuts.names, specification.lets).formula
        found += [Marked(number, node) for node in _parts(formula, each.language)]
    return found


def _parts(formula: Node, language: str) -> Iterator[Node]:
    """What a reader wants to see marked, most telling first: for a universal property where it fails."""
    universal = isinstance(formula, Temporal) and formula.operator in ("AG", "AF", "AX", "AU", "G")
    for predicate in maximal_predicates(formula):
        if universal:
            yield predicate.operand if isinstance(predicate, Not) else Not(predicate)
        yield predicate
    if language == "ctl" and not is_state(formula):
        yield formula


# ---- the Hasse diagram --------------------------------------------------------------------------


def lattice_document(cuts: Cuts, marks: Iterable[Marked]) -> dict[str, Any] | None:
    """The cuts by level with the steps between them; None if there are too many."""
    lattice = cuts.lattice
    found: dict[int, int] = {}
    for level in lattice.levels():
        if len(found) + len(level) > MOST_CUTS:
            return None
        for cut in sorted(level):
            found[cut] = len(found)
    edges = [
        (number, found[cut + move.delta], move.step)
        for cut, number in found.items()
        for move in lattice.moves(cut)
    ]
    counts = [lattice.unpack(cut) for cut in found]
    return {
        "cuts": counts,
        "edges": edges,
        "marks": [_mark(cuts, each, list(found), counts) for each in marks],
    }


def _mark(cuts: Cuts, marked: Marked, packed: Sequence[int], counts: Sequence[Cut]) -> dict[str, Any]:
    inside = cuts.slice_of(marked.formula)
    return {
        "property": marked.number,
        "text": marked.text,
        "satisfying": cuts.satisfying(marked.formula, packed),
        "slice": [number for number, cut in enumerate(counts) if inside.contains(cut)],
    }


# ---- slices as graphs ---------------------------------------------------------------------------


def slice_documents(cuts: Cuts, marks: Sequence[Marked]) -> list[dict[str, Any]]:
    """The slices of the predicates, as many as are of use; none of a run that is too long."""
    events = len(cuts.computation.trace)
    if events > LONGEST_RUN:
        return []
    found = []
    for each in marks[: MOST_SLICES if events <= LONG_RUN else 1]:
        try:
            sliced = cuts.slice_of(each.formula)
            found.append(slice_document(sliced, each.text, each.number, cuts.lattice))
        except PossiblyError:
            continue  # a predicate that has no value in this order: its property said so already
    return found


def slice_document(found: Slice, text: str, number: int | None, lattice: Lattice) -> dict[str, Any]:
    """A slice for the page: its components, how they depend on each other, and what it leaves out."""
    graph = _Components(found)
    nodes, edges, whole = graph.drawn()
    return {
        "property": number,
        "text": text,
        "numbers": [*_sizes(found, graph), *_reduction(found, lattice)],
        "nodes": nodes,
        "edges": edges,
        "whole": whole,
    }


def _sizes(found: Slice, graph: _Components) -> Iterator[tuple[str, str]]:
    tied = [group for group in graph.groups if len(group) > 1]
    yield "events", f"{len(found.computation.trace):,}"
    yield "components", f"{len(graph.groups):,}"
    yield "of several events", f"{len(tied):,}"
    yield "in every cut", count_text(sum(found.least or ()), "event")
    yield "in no cut", count_text(len(found.computation.trace) - sum(found.greatest or ()), "event")


def _reduction(found: Slice, lattice: Lattice) -> Iterator[tuple[str, str]]:
    inside = sum(1 for _ in islice(found.cuts(), MOST_COUNTED + 1))
    everywhere = sum(1 for _ in islice(lattice.depth_first(), MOST_COUNTED + 1))
    yield "cuts of the slice", _counted(inside)
    yield "cuts of the run", _counted(everywhere)
    if inside <= MOST_COUNTED and everywhere <= MOST_COUNTED:
        yield "left of the cuts", f"{inside / everywhere:.1%}"


def _counted(number: int) -> str:
    return f"{number:,}" if number <= MOST_COUNTED else f"more than {MOST_COUNTED:,}"


class _Components:
    """The components of a slice between its least and its greatest cut."""

    BOTTOM, TOP = -1, -2

    def __init__(self, found: Slice) -> None:
        self.slice = found
        self.computation = found.computation
        empty = found.least is None or found.greatest is None
        self.low: Cut = found.computation.initial if empty else found.least or ()
        self.high: Cut = found.computation.initial if empty else found.greatest or ()
        self.added = [(e, f) for e, f in found.all_edges() if e is not None and f is not None]
        needs = [(f, e) for e, f in (*self._own(), *self.added) if self._is_between(e, f)]
        self.groups: list[list[Place]] = list(components(self.low, self.high, needs))
        self.group_of = {place: number for number, group in enumerate(self.groups) for place in group}

    def _own(self) -> Iterator[tuple[Place, Place]]:
        """The order of the run between processes."""
        place = self.computation.place
        for event in range(len(self.computation.trace)):
            for other in self.computation.predecessors(event):
                yield place(other), place(event)

    def _is_between(self, *places: Place) -> bool:
        return all(self.low[process] < position <= self.high[process] for process, position in places)

    def _node(self, place: Place) -> int:
        process, position = place
        if position <= self.low[process]:
            return self.BOTTOM
        return self.TOP if position > self.high[process] else self.group_of[place]

    def _edges(self) -> dict[tuple[int, int], bool]:
        """Edges between components; whether the slice added it."""
        found: dict[tuple[int, int], bool] = {}
        chains = (
            ((process, position), (process, position + 1))
            for process, length in enumerate(self.computation.lengths)
            for position in range(1, length)
        )
        for is_added, edges in ((False, chains), (False, self._own()), (True, self.added)):
            for e, f in edges:
                ends = self._node(e), self._node(f)
                if ends[0] != ends[1]:
                    found.setdefault(ends, is_added)
        return found

    def drawn(self) -> tuple[list[dict[str, Any]], list[tuple[int, int, bool]], bool]:
        """The nodes and edges of the picture, straight runs of single events as one node."""
        edges = self._edges()
        runs = self._runs(edges)
        used = sorted({runs[number] for number in range(len(self.groups))})
        kept = set(used[:MOST_COMPONENTS]) | {self.BOTTOM, self.TOP}
        members: dict[int, list[Place]] = {}
        for number, group in enumerate(self.groups):
            members.setdefault(runs[number], []).extend(group)
        nodes = [self._described(number, members[number]) for number in used if number in kept]
        ends = {**runs, self.BOTTOM: self.BOTTOM, self.TOP: self.TOP}
        shown: dict[tuple[int, int], bool] = {}
        for (first, second), is_added in edges.items():
            pair = ends[first], ends[second]
            if pair[0] != pair[1] and pair[0] in kept and pair[1] in kept:
                shown.setdefault(pair, is_added)
        whole = len(used) <= MOST_COMPONENTS
        nodes += list(self._ends(shown, whole))
        return nodes, [(*pair, is_added) for pair, is_added in shown.items()], whole

    def _runs(self, edges: Mapping[tuple[int, int], bool]) -> dict[int, int]:
        """For each component the first of the run it belongs to: one way in, one way out, one process."""
        following: dict[int, list[int]] = {}
        before: dict[int, list[int]] = {}
        for first, second in edges:
            following.setdefault(first, []).append(second)
            before.setdefault(second, []).append(first)
        runs: dict[int, int] = {}
        for number, group in enumerate(self.groups):
            earlier = before.get(number, [])
            joins = (
                len(group) == 1
                and len(earlier) == 1
                and earlier[0] >= 0
                and len(following[earlier[0]]) == 1
                and len(self.groups[earlier[0]]) == 1
                and self.groups[earlier[0]][0][0] == group[0][0]
            )
            runs[number] = runs[earlier[0]] if joins else number
        return runs

    def _described(self, number: int, places: list[Place]) -> dict[str, Any]:
        events = sorted(self.computation.at(*place) for place in places)
        tied = len(self.groups[number]) > 1
        if not tied and len(events) > 1:
            events = [events[0], events[-1]]
        return {
            "id": number,
            "events": events[:SHOWN_EVENTS],
            "size": len(places),
            "kind": "component" if tied else "run",
        }

    def _ends(self, shown: Mapping[tuple[int, int], bool], whole: bool) -> Iterator[dict[str, Any]]:
        """The events of every cut, and those of none, if there are any and they stand in the picture."""
        computation = self.computation
        for number, kind, low, high in (
            (self.BOTTOM, "bottom", computation.initial, self.low),
            (self.TOP, "top", self.high, computation.final),
        ):
            size = sum(high) - sum(low)
            is_linked = any(number in pair for pair in shown)
            if not is_linked and not (size and whole):
                continue
            spans = zip(low, high, strict=True)
            events = (computation.at(p, k) for p, (a, b) in enumerate(spans) for k in range(a + 1, b + 1))
            yield {"id": number, "events": list(islice(events, SHOWN_EVENTS)), "size": size, "kind": kind}
