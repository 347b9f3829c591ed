"""Which values a shared variable can have in a local state, where nothing but synchronisation orders writes.

Here belongs val(var, s) of Frey, "Debugging parallel programs using temporal logic specifications", section
3: a write that is not causally ordered with s may or may not have happened, so the variable can have the
value before it as well as after it. Exactly: the values that the last write can have given in any order of
the events of any cut with that local state. That is the value of each write concurrent with s, and of each
write before s that no other write before s follows; the initial value if no write comes before s.

Theory of operation. For each local state it suffices to know, for each writing task, how many of its writes
come before s and how many do not come after it; those between are concurrent. Both numbers only grow along a
task, and they change only where order comes in from another task or a write is executed. So they are
kept as *steps*: the counts at which they change, found in one pass over the events forward and one backward.
No vector clocks are needed; the cost is that of the edges between tasks times the number of writing tasks.
Which of the writes before a state are the last ones, their *frontier*, is kept with these numbers: where two
pasts join, a write of one frontier stays unless the other past has it and something after it.
The writes of the lines of one joint event are one write; the last line that writes gives the value.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import lt
from typing import Literal

from possibly.logic.predicates.functions import MISSING
from possibly.order.computation import Computation
from possibly.trace.model import Value

Numbers = bytes
"""One number a writing task, packed: there are as many as joins of order and writes."""
NARROW = 1 << 16
"""Writes of a task from which on a number has four bytes, not two."""
Frontier = frozenset[tuple[int, int]]
"""Writing task and number of those writes that no other one follows."""


@dataclass(slots=True)
class Steps:
    """A fact along one task that changes at a few counts only."""

    counts: list[int] = field(default_factory=list)
    facts: list[Numbers] = field(default_factory=list)

    def at(self, count: int) -> Numbers:
        return self.facts[bisect_right(self.counts, count) - 1]

    def put(self, count: int, fact: Numbers) -> None:
        if not self.facts or self.facts[-1] != fact:
            self.counts.append(count)
            self.facts.append(fact)


@dataclass(frozen=True, slots=True)
class ValueSets:
    """The value sets of one shared variable: for each task the counts at which the set changes."""

    counts: tuple[Sequence[int], ...]
    sets: tuple[Sequence[tuple[Value, ...]], ...]

    def at(self, task: int, count: int) -> tuple[Value, ...]:
        """The values in that local state, each once; MISSING stands for "no value yet"."""
        return self.sets[task][bisect_right(self.counts[task], count) - 1]


def value_sets(computation: Computation, variable: str) -> ValueSets:
    writes = _Writes(computation, variable)
    before, after = writes.before(), writes.not_after()
    counts, sets = [], []
    for task in range(len(computation.lengths)):
        changes = sorted({*before[task].counts, *after[task].counts})
        counts.append(changes)
        sets.append([writes.values(before[task].at(c), after[task].at(c)) for c in changes])
    return ValueSets(tuple(counts), tuple(sets))


class _Writes:
    """The writes of one variable, by task: their counts and values."""

    def __init__(self, computation: Computation, variable: str) -> None:
        self.computation = computation
        self.initial: Value = computation.trace.shared.get(variable, MISSING)
        self.counts: list[list[int]] = []
        self.written: list[list[int]] = []
        """The values written, as numbers of distinct ones."""
        self.distinct: list[Value] = []
        self._numbers: dict[tuple[type, str], int] = {}
        self._sets: dict[tuple[int, ...], tuple[Value, ...]] = {}
        self.last: dict[Numbers, Frontier] = {}
        """For each past that occurs its last writes."""
        self.task: list[int] = []
        self.place: dict[int, int] = {}
        """The writing task's number among the writing tasks."""
        self.events = self._collect(variable)
        most = max(map(len, self.counts), default=0)
        self._code: Literal["H", "i"] = "H" if most < NARROW else "i"
        self.zero = self._packed([0] * len(self.task))

    def _packed(self, numbers: Iterable[int]) -> Numbers:
        return array(self._code, numbers).tobytes()

    def _numbers_of(self, fact: Numbers) -> memoryview[int]:
        return memoryview(fact).cast(self._code)

    def _collect(self, variable: str) -> dict[int, int]:
        """The writing events, one a step, with the place of their task."""
        trace, found = self.computation.trace, dict[int, int]()
        if trace.write_start is None:
            return found
        numbers = {n for n in set(trace.write_variable) if trace.strings[n] == variable}
        by_step: dict[int, tuple[int, Value]] = {}
        start = trace.write_start
        for event in range(len(trace)):
            for entry in range(start[event], start[event + 1]):
                if trace.write_variable[entry] in numbers:
                    by_step[self.computation.step(event)] = event, trace.values[trace.write_value[entry]]
        for event, value in sorted(by_step.values(), key=lambda write: write[0]):
            task = trace.process[event]
            if task not in self.place:
                self.place[task] = len(self.task)
                self.task.append(task)
                self.counts.append([])
                self.written.append([])
            place = self.place[task]
            self.counts[place].append(trace.position[event])
            self.written[place].append(self._number(value))
            found[event] = place
        return found

    def _number(self, value: Value) -> int:
        """1, 1.0 and true are different."""
        found = self._numbers.setdefault((type(value), repr(value)), len(self.distinct))
        if found == len(self.distinct):
            self.distinct.append(value)
        return found

    def before(self) -> list[Steps]:
        """For each task and count: how many writes of each writing task come before that local state."""
        computation = self.computation
        found = [Steps([0], [self.zero]) for _ in computation.lengths]
        self.last[self.zero] = frozenset()
        place_of = computation.place
        start, _ = computation.edge_columns
        for step in computation.steps:
            if step not in computation.joint and step not in self.events and start[step] == start[step + 1]:
                continue
            lines = computation.events(step)
            known = {found[place_of(event)[0]].facts[-1] for event in lines}
            for event in lines:
                for other in computation.predecessors(event):
                    if other not in lines:
                        task, count = place_of(other)
                        known.add(found[task].at(count))
            fact = known.pop()
            for other_fact in known:
                fact = self._joined(fact, other_fact)
            for event in lines:
                if event in self.events:
                    place = self.events[event]
                    fact, number = self._raised(fact, place)
                    self.last[fact] = frozenset(((place, number),))
            for event in lines:
                task, count = place_of(event)
                found[task].put(count, fact)
        return found

    def _joined(self, one: Numbers, two: Numbers) -> Numbers:
        """Both pasts together, with its last writes."""
        ones, twos = self._numbers_of(one), self._numbers_of(two)
        fact = self._packed(map(max, ones, twos))
        if fact not in self.last:
            first, second = self.last[one], self.last[two]
            kept = {(place, n) for place, n in first if twos[place] < n or (place, n) in second}
            kept.update((place, n) for place, n in second if ones[place] < n)
            self.last[fact] = frozenset(kept)
        return fact

    def _raised(self, fact: Numbers, place: int) -> tuple[Numbers, int]:
        """With one write more of the task at that place, and how many these are."""
        numbers = array(self._code, fact)
        numbers[place] += 1
        return numbers.tobytes(), numbers[place]

    def not_after(self) -> list[Steps]:
        """For each task and count: how many writes of each writing task do not come after that local state.

        Backwards: after the state before an event comes what comes after the states behind it, and the
        event itself.
        """
        computation = self.computation
        everything = self._packed(map(len, self.counts))
        lengths = computation.lengths
        # Counted from the end of each task, so that the counts ascend on the way back.
        found = [Steps([0], [everything]) for _ in lengths]
        place_of = computation.place
        waiting: dict[int, list[Numbers]] = {}
        start, edges = computation.edge_columns
        for step in reversed(computation.steps):
            if step not in computation.joint and step not in self.events and step not in waiting:
                if start[step] != start[step + 1]:
                    fact = found[place_of(step)[0]].facts[-1]
                    for other in edges[start[step] : start[step + 1]]:
                        waiting.setdefault(other, []).append(fact)
                continue
            lines = computation.events(step)
            known = {found[place_of(event)[0]].facts[-1] for event in lines}
            for event in lines:
                known.update(waiting.pop(event, ()))
            fact = known.pop()
            if known:
                fact = self._packed(map(min, self._numbers_of(fact), *map(self._numbers_of, known)))
            for event in lines:
                if event in self.events:
                    fact = self._lowered(fact, event)
            for event in lines:
                task, count = place_of(event)
                found[task].put(lengths[task] - count + 1, fact)
                for other in computation.predecessors(event):
                    if other not in lines:
                        waiting.setdefault(other, []).append(fact)
        return [_turned(steps, length) for steps, length in zip(found, lengths, strict=True)]

    def _lowered(self, fact: Numbers, event: int) -> Numbers:
        """The event's own write and all later ones of its task come after."""
        place = self.events[event]
        earlier = bisect_left(self.counts[place], self.computation.place(event)[1])
        numbers = array(self._code, fact)
        numbers[place] = min(numbers[place], earlier)
        return numbers.tobytes()

    def values(self, before: Numbers, not_after: Numbers) -> tuple[Value, ...]:
        """The values of the last writes before the state and of those concurrent with it, each once."""
        found = [self.written[place][number - 1] for place, number in sorted(self.last[before])]
        if before == self.zero:
            found.append(self._number(self.initial))
        if before != not_after:
            low, high = self._numbers_of(before), self._numbers_of(not_after)
            for place in compress(range(len(low)), map(lt, low, high)):
                found.extend(self.written[place][low[place] : high[place]])
        return self._set(tuple(dict.fromkeys(found)))

    def _set(self, numbers: tuple[int, ...]) -> tuple[Value, ...]:
        """The very same object for the same values."""
        if numbers not in self._sets:
            self._sets[numbers] = tuple([self.distinct[number] for number in numbers])
        return self._sets[numbers]


def _turned(steps: Steps, length: int) -> Steps:
    """Steps counted from the end of a task, counted from its start."""
    found = Steps()
    ends = [*steps.counts[1:], length + 1]
    for end, fact in zip(reversed(ends), reversed(steps.facts), strict=True):
        found.put(length - end + 1, fact)
    return found
