"""AF of a conjunction of local predicates, by intervals (also known as "definitely").

Here belongs one algorithm (Garg and Waldecker, "Detection of strong unstable predicates in distributed
programs"; Chandra and Kshemkalyani state the order conditions). A maximal stretch of local states where a
process satisfies its conjunct is an interval; it begins with an event lo (or before all events) and ends
with an event hi (or never). Every observation passes a cut where all conjuncts hold iff there is one
interval a process such that lo of each happened before hi of every other. If lo of one did not happen before
hi of another, the latter can be over before the former begins, now and for all later intervals of the
former: it is discarded. What the end of an interval knows is followed along its process, one pass over the
links of the trace for each process; a discarded interval costs a comparison with each other process.

It is for predicates on processes alone; chains of shared variables share events with processes and are left
to other engines.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence

from possibly.order.bitmaps import States
from possibly.order.computation import Computation, Place
from possibly.order.slice import Rise, whole
from possibly.records import dataclass

LOOK_EVERY = 4096
"""Discarded intervals between two looks at the limits."""

Look = Callable[[], None]
"""Called now and then; may raise to stop."""


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
    computation: Computation, conjuncts: Mapping[int, States], look: Look = lambda: None
) -> tuple[Sequence[Interval] | None, Apart]:
    """Intervals that every observation passes together, or None; and the orders that keep others apart."""
    heads = [_Head(computation, process, states) for process, states in conjuncts.items()]
    apart = Apart()
    changed = heads.copy() if all(head.advance() for head in heads) else []
    if not changed and heads:
        return None, apart
    while changed:
        first = changed[-1]
        late = next(_discarded(first, heads, computation), None)
        if late is None:
            changed.pop()
            continue
        over, begins = late
        apart.add(over.end, (begins.process, begins.lo))
        if not len(apart) % LOOK_EVERY:
            look()
        if not over.advance():
            return None, apart
        if over is not first:
            changed.append(over)
    return [head.interval for head in heads], apart


class Apart:
    """Orders (hi of one, lo of another): let the first end before the second begins."""

    def __init__(self) -> None:
        self._flat = array("i")

    def add(self, end: Place, begin: Place) -> None:
        self._flat.extend((*end, *begin))

    def __len__(self) -> int:
        return len(self._flat) // 4

    def __iter__(self) -> Iterator[tuple[Place, Place]]:
        numbers = iter(self._flat)
        for process, hi, other, lo in zip(numbers, numbers, numbers, numbers, strict=True):
            yield (process, hi), (other, lo)


class _Head:
    """The first interval of a process that is not discarded, with what its end knows.

    What it knows is followed along the process: no link of the trace is read twice for one process.
    """

    def __init__(self, computation: Computation, process: int, states: States) -> None:
        self.process = process
        self.lo, self.hi = 0, None
        self.knows: Sequence[int] = ()
        self._rise = Rise(whole(computation))
        self._intervals = intervals(process, states)

    lo: int
    hi: int | None

    def advance(self) -> bool:
        """Goes on to the next interval; False if there is none."""
        following = next(self._intervals, None)
        if following is None:
            return False
        self.lo, self.hi = following.lo, following.hi
        if self.hi is not None:
            clock = self._rise.at_least(self.process, self.hi)
            assert clock is not None, "every event is in some cut"
            self.knows = clock
        return True

    @property
    def interval(self) -> Interval:
        return Interval(self.process, self.lo, self.hi)

    @property
    def end(self) -> Place:
        assert self.hi is not None, "an interval that never ends is not over before another"
        return self.process, self.hi


def _discarded(
    first: _Head, heads: Sequence[_Head], computation: Computation
) -> Iterator[tuple[_Head, _Head]]:
    """Of one head and the others: those that can be over before the other begins, with that other."""
    process, lo, hi, knows = first.process, first.lo, first.hi, first.knows
    for other in heads:
        if other is first:
            continue
        if lo and other.hi is not None and not _begun(other.knows[process] >= lo, first, other, computation):
            yield other, first
        if (
            other.lo
            and hi is not None
            and not _begun(knows[other.process] >= other.lo, other, first, computation)
        ):
            yield first, other


def _begun(is_known: bool, begins: _Head, ends: _Head, computation: Computation) -> bool:
    """Whether the one has begun in every observation before the other ends; a joint event is both at once."""
    if not is_known or not computation.joint or ends.hi is None:
        return is_known
    at = computation.at
    return computation.step(at(ends.process, ends.hi)) != computation.step(at(begins.process, begins.lo))
