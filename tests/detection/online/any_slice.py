"""The slice of any predicate on a growing computation, for which EF can be tested: Algo 4.4, plainly.

Here belongs the general algorithm of Sen's thesis (section 4.4, figure 4.8 with the improvement of figure
4.9). It asks for nothing but a test whether some satisfying cut contains one event and not another, and is
the twin that `slice` is compared with.

F(e)[j] is the earliest event f of process j such that every satisfying cut with f contains e. The events of
process j are 1, 2, ...; 0 is the fictitious first event and one more than the last is the fictitious last
one, so "the last becomes the new event" (lines 2 and 3) needs no work: the number stays what it is. Rows
are kept for the events and for the fictitious last one, which is the same row for all processes.
Departures: the lines of a joint event are taken in together, and count as one new event. Figure 4.9 prints
P_i in line 11b where the text above it has P_j, which is meant. The number of tests is amortised O(n(c +
n)) an event with c the average number of concurrent events.
"""

from __future__ import annotations

from collections.abc import Callable

from possibly.order.computation import Cut, Place
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step

Test = Callable[[Place | None, Place | None], bool]
"""Whether a satisfying cut contains the second event and not the first.

None as the first: the fictitious last event, which no cut contains; as the second: the fictitious first one,
which all contain."""


class GeneralSlice:
    """F(e) for every event e so far. The test must know of a step before the slice is told of it."""

    def __init__(self, growing: Growing, test: Test) -> None:
        self.growing = growing
        self._test = test
        self.tests = 0
        """How often the test was asked."""
        self._clocks: list[list[Cut]] = []
        self._rows: list[list[list[int]]] = []
        self._last: list[int] = []
        """The row of the fictitious last event."""
        self._widen()
        growing.follow(self.take)

    def test(self, e: Place | None, f: Place | None) -> bool:
        self.tests += 1
        return self._test(e, f)

    def _widen(self) -> None:
        """A new process has only its fictitious events: every cut contains the first, none the last."""
        for process in range(len(self._rows), len(self.growing.processes)):
            for owner, rows in enumerate(self._rows):
                for position, row in enumerate(rows, start=1):
                    row.append(int(self.test((owner, position), None)))
            self._last.append(int(self.test(None, None)))
            self._clocks.append([])
            self._rows.append([])
            assert len(self._last) == process + 1

    # ---- arrival --------------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        self._widen()
        clock = self._clock(step)
        for line in step:
            # Line 1, lemma 4.24: the cuts without the new event are those that were there before.
            self._rows[line.process].append(list(self._last))
            self._clocks[line.process].append(clock)
        for process, rows in enumerate(self._rows):
            before = self._before(process, clock)
            for position in range(clock[process] + 1, len(rows) + 1):
                self._update(rows[position - 1], before, (process, position), clock)
                before = rows[position - 1]
        self._update(self._last, [0] * len(clock), None, clock)

    def _before(self, process: int, clock: Cut) -> list[int]:
        return self._rows[process][clock[process] - 1] if clock[process] else [0] * len(clock)

    def _update(self, row: list[int], before: list[int], e: Place | None, clock: Cut) -> None:
        """Lines 9 to 13 for all j; `before` is the row of the event before e."""
        for j, rows in enumerate(self._rows):
            f = max(before[j], row[j])
            while f <= len(rows) and self.test(e, (j, f) if f else None):
                # Lines 11a to 11c: whatever happened before the new event is in that cut too.
                f = clock[j] + 1 if f <= clock[j] else f + 1
            row[j] = f

    def _clock(self, step: Step) -> Cut:
        clock = [0] * len(self._rows)
        for line in step:
            for process, position in [(line.process, line.position - 1), *line.needs]:
                if 0 < position <= len(self._clocks[process]):
                    known = self._clocks[process][position - 1]
                    clock[: len(known)] = map(max, clock, known)
        for line in step:
            clock[line.process] = line.position
        return tuple(clock)

    # ---- the slice so far -----------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        return not all(self._last)

    @property
    def least(self) -> Cut | None:
        """All events that every satisfying cut contains."""
        return None if self.is_empty else tuple(sum(not all(row) for row in rows) for rows in self._rows)

    @property
    def greatest(self) -> Cut | None:
        """All events that some satisfying cut contains."""
        return None if self.is_empty else tuple(first - 1 for first in self._last)

    def first_needing(self, process: int, position: int) -> tuple[int, ...]:
        """F(e): for each process its first event that only cuts with e contain."""
        return tuple(self._rows[process][position - 1])

    def irreducible(self, process: int, position: int) -> Cut | None:
        """J(f), the least cut of the slice that contains f: all e with F(e)[process] at most f."""
        if self._last[process] <= position:
            return None
        return tuple(sum(row[process] <= position for row in rows) for rows in self._rows)
