"""Slicing a trace for a predicate: names bound, the slice made, its parts named as in the trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from possibly.detection.slices.closure import joined_slices, sliced
from possibly.detection.slices.declared import check_declared
from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import Bound, Declaration, bind
from possibly.logic.parser import parse
from possibly.logic.source import Source
from possibly.order.computation import Computation, Cut, Place
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.slice import Slice
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.model import Trace

BOTTOM, TOP = "_bottom", "_top"
"""The fictitious events that are in every cut and in none."""


@dataclass(frozen=True, slots=True)
class SlicedTrace:
    """The slice of a trace, with cuts and edges in the names of the trace."""

    predicate: str
    slice: Slice
    warnings: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    """How it was made, a line each."""

    @property
    def least(self) -> dict[str, int] | None:
        return self._named(self.slice.least)

    @property
    def greatest(self) -> dict[str, int] | None:
        return self._named(self.slice.greatest)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(e, f): a cut with f contains e."""
        return [(self._event(e, TOP), self._event(f, BOTTOM)) for e, f in self.slice.all_edges()]

    def skeleton(self) -> Iterator[tuple[str, str]]:
        """The skeletal representation: for each event e the first event f of each process that needs it.

        Edges (e, f) as in `edges`; between `least` and `greatest` they alone have the cuts of the slice.
        """
        from possibly.order.skeleton import skeleton

        return ((self._event(e, TOP), self._event(f, BOTTOM)) for e, f in skeleton(self.slice))

    def cuts(self) -> Iterator[dict[str, int]]:
        """Every cut of the slice, found as they are asked for."""
        return ({} if cut is None else cut for cut in map(self._named, self.slice.cuts()))

    def _named(self, cut: Cut | None) -> dict[str, int] | None:
        names = self.slice.computation.processes
        return None if cut is None else dict(zip(names, cut, strict=True))

    def _event(self, place: Place | None, fictitious: str) -> str:
        computation = self.slice.computation
        return fictitious if place is None else computation.trace.name(computation.at(*place))


def slice_trace(
    trace: Trace,
    predicate: str,
    order: str = "causal",
    what: str | None = None,
    declared: str | None = None,
    joined: str = "or",
    more: tuple[str, ...] = (),
) -> SlicedTrace:
    """The slice of the trace for a predicate, which may be temporal; `what` names its text in errors.

    `declared` is a class that the user vouches for. With `more` predicates their slices are made one by one
    and joined, `and` or `or`: no cut of the whole is looked at.
    """
    bounds = [_bound(text, trace, what) for text in (predicate, *more)]
    computation = Computation(trace, order)
    lattice = Lattice(computation)
    words = {} if declared is None else {bounds[0].formula: Declaration("PREDICATE", declared)}
    predicates = CutPredicates(lattice, Readings(computation), words)
    check_declared(words, lattice, predicates)
    slicing = Slicing(lattice, predicates)
    parts = [sliced(slicing, each.formula) for each in bounds]
    made = [f"{text}: {way}" for text, (_, way) in zip((predicate, *more), parts, strict=True)]
    found = parts[0][0]
    if more:
        found = joined_slices([part for part, _ in parts], joined)
        made.append(f"{len(parts)} slices joined by their edges alone")
    text = f" {'&' if joined == 'and' else '|'} ".join(
        [f"({each})" for each in (predicate, *more)] if more else [predicate]
    )
    warnings = tuple(warning for each in bounds for warning in each.warnings)
    return SlicedTrace(text, found, warnings, tuple(made))


def _bound(text: str, trace: Trace, what: str | None) -> Bound:
    source = Source(text, what)
    return bind(parse(text, "ctl", source), vocabulary(trace), (), source)
