"""Slicing a trace for a predicate: names bound, the slice made, its parts named as in the trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from possibly.detection.closure import slice_of
from possibly.detection.declared import check_declared
from possibly.detection.slicing import Slicing
from possibly.logic.bind import Declaration, bind
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
    trace: Trace, predicate: str, order: str = "causal", what: str | None = None, declared: str | None = None
) -> SlicedTrace:
    """The slice of the trace for a predicate, which may be temporal; `what` names its text in errors.

    `declared` is a class that the user vouches for.
    """
    source = Source(predicate, what)
    bound = bind(parse(predicate, "ctl", source), vocabulary(trace), (), source)
    computation = Computation(trace, order)
    lattice = Lattice(computation)
    words = {} if declared is None else {bound.formula: Declaration("PREDICATE", declared)}
    predicates = CutPredicates(lattice, Readings(computation), words)
    check_declared(words, lattice, predicates)
    slicing = Slicing(lattice, predicates)
    return SlicedTrace(predicate, slice_of(slicing, bound.formula), bound.warnings)
