"""The slice of a formula whose processes have few cuts, however many the run has.

Here belong formulas without a next operator that slices do not know, AF, EG and until among them. Sen's
thesis leaves their slices open (section 9.2.1); on a run of which few cuts matter they are had from these.

Theory of operation. A cut satisfies the formula iff its projection does (`order.projection`): what of it
changes anything that is read. All cuts of the projection are visited. The slice is told by J(e), the least of
its cuts that contains an event e, which is the meet of the satisfying cuts that contain e (theorem 4.5). Of
those with one projection s, which has to contain the projection k of e's past, the least is least(s) joined
with the past of e; cuts are a distributive lattice, so J(e) is the past of e joined with M(k), the meet of
least(s) over all satisfying s that contain k. M goes backwards along the projection, a meet a step; k
changes along a process only where its events are kept or learn something.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.detection.slices.slicing import Slicing
from possibly.logic.syntax import Node
from possibly.order.computation import Cut, join, meet
from possibly.order.projection import Projection, may_be_projected
from possibly.order.slice import Edge, Rise, Slice, nothing, whole

FEW_CUTS = 20_000
"""Of the projection, that are visited."""
MOST_ENTRIES = 4_000_000
"""Of the cuts of the whole run that are kept for them."""


def slice_by_projection(slicing: Slicing, formula: Node) -> tuple[Slice, Callable[[Cut], bool]] | None:
    """The slice, and whether a cut satisfies the formula; None if it has none, or a large one."""
    if not may_be_projected(formula):
        return None
    projection = Projection(slicing.predicates, formula)
    most = min(FEW_CUTS, MOST_ENTRIES // max(1, len(slicing.computation.lengths)))
    if not projection.processes:
        return None
    cuts = list(islice(projection.lattice.depth_first(), most + 1))
    if len(cuts) > most:
        return None
    found = _Projected(projection, formula, cuts)
    return found.slice(), found.satisfies


class _Projected:
    """The cuts of a projection, and what they say of those of the run."""

    def __init__(self, projection: Projection, formula: Node, cuts: Sequence[int]) -> None:
        self.projection = projection
        self.computation = projection.whole.computation
        lattice = projection.lattice
        plain = Exhaustive(lattice, projection.predicates, Budget())
        by_size = sorted(cuts, key=lambda cut: sum(lattice.unpack(cut)))
        least = self._least(by_size)
        self.satisfying = {lattice.unpack(cut) for cut in cuts if plain.at(formula, cut)}
        self.containing: dict[Cut, Cut | None] = {}
        """M: for each cut of the projection the meet of what is least for the satisfying ones around it."""
        for cut in reversed(by_size):
            counts = lattice.unpack(cut)
            around = [self.containing[lattice.unpack(later)] for later in lattice.successors(cut)]
            if counts in self.satisfying:
                around.append(least[cut])
            self.containing[counts] = _meet_of(around)

    def _least(self, by_size: Sequence[int]) -> dict[int, Cut]:
        """For each cut of the projection the least one of the run."""
        lattice, clocks = self.projection.lattice, dict[int, Cut]()
        found = {lattice.initial: self.computation.initial}
        for cut in by_size:
            for move in lattice.moves(cut):
                if cut + move.delta not in found:
                    step = self.projection.step_of(move)
                    if step not in clocks:
                        clocks[step] = self.computation.clock(step)
                    found[cut + move.delta] = join(found[cut], clocks[step])
        return found

    def satisfies(self, cut: Cut) -> bool:
        return self.of(cut) in self.satisfying

    def of(self, cut: Sequence[int]) -> Cut:
        """The projection of a cut."""
        pairs = zip(self.projection.processes, self.projection.positions, strict=True)
        return tuple([bisect_right(positions, cut[process]) for process, positions in pairs])

    # ---- the slice ------------------------------------------------------------------------------

    def slice(self) -> Slice:
        low = self.containing[(0,) * len(self.projection.processes)]
        if low is None:
            return nothing(self.computation)
        high, edges = list(self.computation.final), list[Edge]()
        for process in range(len(high)):
            for position, past, needed in self._along(process):
                if needed is None:
                    high[process] = position - 1
                    break
                edges += [
                    ((other, count), (process, position))
                    for other, count in enumerate(needed)
                    if count > max(low[other], past[other])
                ]
        return Slice(self.computation, low, tuple(high), edges=tuple(edges), lean=None)

    def _along(self, process: int) -> Iterator[tuple[int, Sequence[int], Cut | None]]:
        """Where M may be another than before: the position, the past of the event there, and M."""
        rise, before = Rise(whole(self.computation)), None
        for position in self._positions(process):
            past = rise.at_least(process, position)
            assert past is not None, "every event is in some cut"
            here = self.of(past)
            if here != before:
                yield position, past, self.containing[here]
            before = here

    def _positions(self, process: int) -> list[int]:
        """The first event, those that are kept and those that come after another process's."""
        found = {1, *(position for position, _ in self.computation.needed.of(process))}
        if process in self.projection.processes:
            found.update(self.projection.positions[self.projection.processes.index(process)])
        return sorted(found) if self.computation.lengths[process] else []


def _meet_of(cuts: Sequence[Cut | None]) -> Cut | None:
    found: Cut | None = None
    for cut in cuts:
        found = cut if found is None else found if cut is None else meet(found, cut)
    return found
