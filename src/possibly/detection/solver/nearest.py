"""The nearest cut that satisfies constraints: small regions first.

Here belongs how far from the initial cut the solver looks. A cut of at most k steps contains only events that
have at most k steps in their past, themselves included; those events form a cut of their own. So the answer
inside that cut, if it has at most k steps, is the nearest of all, and a problem that has a near answer stays
small however long the run is. Where there is none, k grows fourfold. The past of events needs their clocks;
where a table of them would be large, the first k events of each process are taken, which contain those.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from time import monotonic

from possibly.detection.slices.slicing import Slicing
from possibly.detection.solver.model import Encoding
from possibly.detection.solver.search import UndecidedError, solved
from possibly.order.computation import Computation, Cut, meet
from possibly.order.slice import Slice
from possibly.records import replace

FIRST = 32
"""Steps of the first region."""
GROWTH = 4
CLOCKS = 400_000
"""Events times processes up to which the past of events is looked up."""

Constraints = Callable[[Encoding], None]


def nearest(
    slicing: Slicing, region: Slice, add: Constraints, seconds: float, farthest: int | None = None
) -> Cut | None:
    """The cut of the region with the fewest steps that meets the constraints; None if there is none.

    `farthest`: some cut of so many steps is known to meet them. Raises UndecidedError if nothing is known
    after that many seconds; a cut found by then is returned, though it may not be the nearest.
    """
    ending = monotonic() + seconds
    best: Cut | None = None
    steps = len(slicing.computation) if farthest is None else farthest
    bounds = _bounds(steps)
    bound = next(bounds)
    while True:
        part = replace(region, high=meet(region.high, _within(slicing.computation, bound)))
        try:
            cut = None if part.is_empty else _cut(slicing, part, add, ending - monotonic())
        except UndecidedError:
            if best is None:
                raise
            return best
        if cut is None:
            if bound >= steps:
                return best
            bound = next(bounds)
            continue
        size = size_of(slicing.computation, cut)
        if size <= bound or (best is not None and size >= size_of(slicing.computation, best)):
            return cut if best is None or size < size_of(slicing.computation, best) else best
        best, bound = cut, size


def _cut(slicing: Slicing, part: Slice, add: Constraints, seconds: float) -> Cut | None:
    encoding = Encoding(slicing, part)
    add(encoding)
    found = solved(encoding.problem(), seconds, least=True, workers=1)
    return None if found is None else encoding.cut(found)


def any_cut(slicing: Slicing, region: Slice, add: Constraints, seconds: float) -> Cut | None:
    """A cut of the region that meets the constraints, wherever; None if there is none."""
    encoding = Encoding(slicing, region)
    add(encoding)
    found = solved(encoding.problem(), seconds, least=False, workers=0)
    return None if found is None else encoding.cut(found)


def size_of(computation: Computation, cut: Cut) -> int:
    """The number of steps that lead to a cut."""
    lines = sum(cut)
    if not computation.joint:
        return lines
    hidden = (event for event in computation.joint if computation.step(event) != event)
    return lines - sum(cut[process] >= count for process, count in map(computation.place, hidden))


def _bounds(steps: int) -> Iterator[int]:
    bound = FIRST
    while bound < steps:
        yield bound
        bound *= GROWTH
    yield steps


def _within(computation: Computation, bound: int) -> Cut:
    """At least the events that have at most that many steps in their past, themselves included."""
    if bound >= len(computation):
        return computation.final
    lines = bound * max([1, *map(len, computation.joint.values())])
    if len(computation.trace) * len(computation.lengths) > CLOCKS:
        return tuple([min(lines, length) for length in computation.lengths])

    def past(event: int) -> int:
        return sum(computation.clock(event))

    return tuple([bisect_right(events, lines, key=past) for events in computation.trace.events_of])
