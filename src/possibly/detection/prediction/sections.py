"""Primitives of a recorded run: critical sections of locks and semaphores, queues, and what is held when.

A trace names a primitive by `tag`, and says only by its order which kind it is:

- a lock, if its acquires and releases alternate, each pair by one process, and each acquire by another
  process follows the release before it;
- a semaphore of n units, if acquire n + k follows release k, for one n. A unit is then a lock of its own: it
  goes from hand to hand, and whoever gives one back that he has not taken brings a new one;
- a queue, if items leave it in the order in which they came, and all who put and get wait without a limit;
- all others keep the recorded order of all that was done with them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from possibly.detection.prediction.things import Kinds, Queue, Semaphore, queue_of, units_of
from possibly.trace.model import NONE, Trace
from possibly.trace.recorded import recorded_of
from possibly.trace.turns import TURN
from possibly.verdict.deadlocks import Section

ACQUIRE, RELEASE, JOIN, RESULT = "acquire", "release", "join", "result"
TRIED, WAITS = "tried", "waits"
"""Fields of an acquire that could have gone on without success, and of one that waits without a limit."""


@dataclass(slots=True)
class _Hands:
    """Who has which units of a semaphore, as acquires and releases come along."""

    free: list[int]
    taken: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    """For each process the units that it has, each with its acquire."""


class Sections:
    """The critical sections of a run."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.kinds = Kinds(trace)
        self.of_acquire: dict[int, Section] = {}
        self.brought: dict[int, int] = {}
        """For an acquire of a unit that somebody brought: the release that did."""
        self.semaphores: dict[int, Semaphore] = {}
        self.queues: dict[int, Queue] = {}
        self.others: dict[int, list[int]] = {}
        """Events of all other primitives, in the order of the lines."""
        self._units = -1
        for tag, events in _by_tag(trace).items():
            self._sort_out(tag, events)

    def _sort_out(self, tag: int, events: list[int]) -> None:
        if self._is_lock(events):
            self._pair(tag, events)
        elif (units := units_of(self.kinds, events)) is not None:
            self._hand_on(tag, units, events)
        elif (queue := queue_of(self.kinds, events, self.says_it_waits)) is not None:
            self.queues[tag] = queue
        else:
            self.others[tag] = events

    def _is_lock(self, events: list[int]) -> bool:
        trace, kinds = self.trace, self.kinds.of(events)
        if kinds != [(ACQUIRE, RELEASE)[number % 2] for number in range(len(kinds))]:
            return False
        for number, event in enumerate(events):
            is_same = number == 0 or trace.process[events[number - 1]] == trace.process[event]
            if kinds[number] == RELEASE and not is_same:
                return False
            if kinds[number] == ACQUIRE and not is_same and events[number - 1] not in trace.after(event):
                return False
        return True

    def _pair(self, tag: int, events: Sequence[int]) -> None:
        for number, acquire in enumerate(events[::2]):
            release = events[2 * number + 1] if 2 * number + 1 < len(events) else None
            self.of_acquire[acquire] = Section(tag, tag, acquire, release)

    def _hand_on(self, tag: int, units: int, events: Sequence[int]) -> None:
        """Follows each unit of a semaphore from hand to hand."""
        hands = _Hands([self._new_unit() for _ in range(units)])
        brought: dict[int, int] = {}
        signals = False
        for event in events:
            mine = hands.taken[self.trace.process[event]]
            if self.kinds[event] == ACQUIRE:
                unit = hands.free.pop(0)
                mine.append((unit, event))
                self.of_acquire[event] = Section(unit, tag, event, None)
                if unit in brought:
                    self.brought[event] = brought.pop(unit)
            elif mine:
                unit, acquire = mine.pop()
                self.of_acquire[acquire] = Section(unit, tag, acquire, event)
                hands.free.append(unit)
            else:
                signals = True
                hands.free.append(self._new_unit())
                brought[hands.free[-1]] = event
        self.semaphores[tag] = Semaphore(units, signals, self.kinds.split(events, RELEASE))

    def _new_unit(self) -> int:
        self._units -= 1
        return self._units

    def held(self) -> dict[int, tuple[Section, ...]]:
        """For each event before which a process could wait for ever: the sections that it is in by then."""
        found = {}
        ends = {each.release: each for each in self.of_acquire.values() if each.release is not None}
        for events in self.trace.events_of:
            inside: dict[int, Section] = {}
            for event in events:
                section = self.of_acquire.get(event)
                if self._may_wait_for_ever(event):
                    found[event] = tuple(inside.values())
                if section is not None:
                    inside[section.acquire] = section
                elif event in ends:
                    inside.pop(ends[event].acquire, None)
        return found

    def _may_wait_for_ever(self, event: int) -> bool:
        if self.kinds[event] in ("send", "receive"):
            return self.trace.tag is not None and self.trace.tag[event] in self.queues
        if event in self.of_acquire:
            return not self.trace.extra.get(event, {}).get(TRIED)
        return self.kinds[event] in (JOIN, RESULT, "wait") and self.says_it_waits(event)

    def says_it_waits(self, event: int) -> bool:
        """A recorder says who waits without a limit; by hand everybody is meant to."""
        is_by_hand = recorded_of(self.trace.header) is None
        return bool(self.trace.extra.get(event, {}).get(WAITS, is_by_hand))


def _by_tag(trace: Trace) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    if trace.tag is not None:
        for event, tag in enumerate(trace.tag):
            if tag != NONE and trace.strings[trace.kind[event]] != TURN:
                found[tag].append(event)
    return found
