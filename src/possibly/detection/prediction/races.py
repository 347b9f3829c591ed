"""Races that a reordering of the run reaches: two conflicting accesses that come next, whichever goes first.

"Optimal prediction of synchronization-preserving races" (Mathur, Pavlogiannis, Viswanathan, POPL 2021): the
reorderings are those of `closure`, which keep the order of critical sections and in which every read reads
what it read, so that there is no false alarm. Two accesses race iff the least part that contains all that
their processes did before contains neither. If it contains one of the two, that access races with no later
one either; so of two series of accesses the first pair that races is found while one part grows.

Departure, for long runs: short races. A window slides over the run by half its length; all that came before
it is kept as it was, and only what is in it is left out or reordered. So the search costs what the windows
cost. No false alarm arises, as a beginning of the run is a reordering; what is missed are races that need
an event before the window to be left out, and pairs farther apart than half a window.

Of races between the same two lines on one variable, or on items of one container, the first is told.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations

from possibly.detection.limits import Budget
from possibly.detection.prediction.closure import Closure, Required
from possibly.detection.prediction.sections import Sections
from possibly.recorder.sharing.races import WRITE, Access, Atomic, Key, Race, contended, key_of
from possibly.trace.model import NONE, Trace
from possibly.trace.turns import Turns

Series = list[Access]
"""Accesses of one process to one variable, at one place and in one way, as they came."""


class RaceFinder:
    """The races of one run; `window` events are looked at together, None: all."""

    def __init__(self, trace: Trace, window: int | None = None, budget: Budget | None = None) -> None:
        self._trace = trace
        self._window = window
        self._budget = budget or Budget()
        self._contended = contended(trace)
        self._events = list(self._contended)
        self._known: set[Key] = set()
        self._atomic = Atomic(trace)

    @cached_property
    def _order(self) -> Required:
        return Required(self._trace, Sections(self._trace))

    @cached_property
    def _turns(self) -> Turns:
        return self._order.turns

    def found(self, known: Sequence[Race] = ()) -> Iterator[Race]:
        """Those that are not known, in the order of the windows. Raises when the budget is spent."""
        self._known.update(key_of(self._trace, each) for each in known)
        if not self._events:
            return
        for start, end, before in self._windows():
            for variable, series in self._accesses(start, end).items():
                for one, other in combinations(series, 2):
                    race = self._race(variable, one, other, before)
                    if race is not None:
                        yield race

    def _windows(self) -> Iterator[tuple[int, int, Closure]]:
        """Each with the part of the run before it."""
        before, length = Closure(self._order), len(self._trace)
        size = length if self._window is None else self._window
        step = max(size // 2, 1)
        for start in range(0, max(length - step, 1), step):
            yield start, min(start + size, length), before
            for event in range(start, min(start + step, length)):
                before.pass_by(event)

    def _accesses(self, start: int, end: int) -> dict[str, list[Series]]:
        trace = self._trace
        found: dict[str, dict[tuple[int, str, str], Series]] = defaultdict(dict)
        for event in self._events[bisect_left(self._events, start) : bisect_left(self._events, end)]:
            if trace.meet is not None and trace.meet[event] != NONE:
                continue  # it comes with others, not next to them
            for variable, how in self._contended[event]:
                access = Access(event, trace.process[event], trace.position[event], how)
                place = trace.text(trace.place, event) or ""
                found[variable].setdefault((access.process, how, place), []).append(access)
        return {variable: list(each.values()) for variable, each in found.items()}

    def _race(self, variable: str, one: Series, other: Series, before: Closure) -> Race | None:
        """The first pair of the two series that a reordering after this part brings together."""
        first, second = one[0], other[0]
        if first.process == second.process or WRITE not in (first.how, second.how):
            return None
        if self._turns.together(first.event, second.event):
            return None  # they take turns, in this order as in any other
        is_atomic = self._atomic.holds(variable, first, second)
        key = key_of(self._trace, Race(variable, first, second, is_atomic))
        if key in self._known:
            return None
        inside = before.copy()
        for process, last in self._cut_turns(before):
            inside.grow(process, last)
        at = [0, 0]
        while at[0] < len(one) and at[1] < len(other):
            self._budget.visit()
            pair = one[at[0]], other[at[1]]
            for access in pair:
                self._reach(inside, access)
            passed = [side for side, access in enumerate(pair) if inside.contains(access.event)]
            if not passed and not all(self._is_last(inside, access) for access in pair):
                passed = [min((0, 1), key=lambda side: pair[side].event)]
            if not passed:
                self._known.add(key)
                earlier, later = sorted(pair, key=lambda access: access.event)
                return Race(variable, earlier, later, is_atomic, tuple(inside.events()))
            for side in passed:
                at[side] += 1
        return None

    def _cut_turns(self, before: Closure) -> Iterator[tuple[int, int]]:
        """Turns that a window begins in the middle of: they end before another one begins."""
        for process, done in enumerate(before.cut) if self._turns else ():
            turn = self._turns.of(self._trace.events_of[process][done - 1]) if done else None
            if turn is not None and turn.last > done:
                yield process, turn.last

    def _is_last(self, inside: Closure, access: Access) -> bool:
        """Whether no later turn of its loop is there: the access is made in the middle of its own."""
        turn = self._turns.of(access.event)
        if turn is None:
            return True
        newest = (
            self._trace.events_of[process][done - 1]
            for process, done in enumerate(inside.cut)
            if done and process != access.process
        )
        return all(
            each < access.event or (other := self._turns.of(each)) is None or other.loop != turn.loop
            for each in newest
        )

    def _reach(self, inside: Closure, access: Access) -> None:
        """Take in all that must have happened when the access comes next."""
        trace = self._trace
        inside.reach(access.event)
        for event in trace.after(access.event):
            inside.grow(trace.process[event], trace.position[event])
