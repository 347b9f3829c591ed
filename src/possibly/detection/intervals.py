"""AF of a conjunction of local predicates, by intervals (also known as "definitely").

Here belongs one algorithm (Garg and Waldecker, "Detection of strong unstable predicates in distributed
programs"; Chandra and Kshemkalyani state the order conditions). A maximal stretch of local states where a
process satisfies its conjunct is an interval; it begins with an event lo (or before all events) and ends
with an event hi (or never). Every observation passes a cut where all conjuncts hold iff there is one
interval a process such that lo of each happened before hi of every other. If lo of one did not happen before
hi of another, the latter can be over before the former begins, now and for all later intervals of the
former: it is discarded. Time is that of comparing clocks of interval ends, a few for each discarded one.

It is for predicates on processes alone; chains of shared variables share events with processes and are left
to other engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from possibly.order.bitmaps import States
from possibly.order.computation import Computation, Place
from possibly.records import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    process: int
    lo: int
    """The position of the event that begins it; 0 if it begins before all events."""
    hi: int | None
    """The position of the event that ends it; None if it never ends."""


def intervals(process: int, states: States) -> Iterator[Interval]:
    """The maximal stretches of allowed local states."""
    start = states.find(1)
    while start >= 0:
        end = states.find(0, start)
        yield Interval(process, start, None if end < 0 else end)
        start = -1 if end < 0 else states.find(1, end)


def overlap(
    computation: Computation, conjuncts: Mapping[int, States]
) -> tuple[Sequence[Interval] | None, list[tuple[Place, Place]]]:
    """Intervals that every observation passes together, or None; and the orders that keep others apart.

    Such an order (hi of one, lo of another) says: let the first end before the second begins.
    """
    queues = {process: list(intervals(process, states)) for process, states in conjuncts.items()}
    heads = dict.fromkeys(queues, 0)
    apart: list[tuple[Place, Place]] = []
    changed = list(queues)
    while changed:
        first = changed.pop()
        if heads[first] >= len(queues[first]):
            return None, apart
        for second in queues:
            if second == first:
                continue
            for one, other in ((first, second), (second, first)):
                if heads[one] >= len(queues[one]) or heads[other] >= len(queues[other]):
                    return None, apart
                begins, ends = queues[one][heads[one]], queues[other][heads[other]]
                if not _before(computation, begins, ends):
                    assert ends.hi is not None
                    apart.append(((other, ends.hi), (one, begins.lo)))
                    heads[other] += 1
                    changed.append(other)
                    break
            else:
                continue
            if first not in changed:
                changed.append(first)
            break
    return [queues[process][heads[process]] for process in queues], apart


def _before(computation: Computation, begins: Interval, ends: Interval) -> bool:
    """Whether the one has begun in every observation before the other ends."""
    if not begins.lo or ends.hi is None:
        return True
    end = computation.at(ends.process, ends.hi)
    if computation.step(end) == computation.step(computation.at(begins.process, begins.lo)):
        return False
    return computation.clock(end)[begins.process] >= begins.lo
