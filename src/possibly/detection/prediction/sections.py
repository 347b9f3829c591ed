"""Locks of a recorded run: critical sections, and the locks that a process holds before each request.

A trace names a primitive by `tag`, and says only by its order which kind it is. Here a tag is taken for a
lock if its acquires and releases alternate, each pair by one process, and each acquire by another process
follows the release before it; a semaphore of several units is none. Whatever is no lock keeps the recorded
order of all that was done with it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from possibly.trace.model import NONE, Trace
from possibly.trace.recorded import recorded_of

ACQUIRE, RELEASE, JOIN = "acquire", "release", "join"
TRIED, WAITS = "tried", "waits"
"""Fields of an acquire that could have gone on without success, and of a join that waits without a limit."""


@dataclass(frozen=True, slots=True)
class Section:
    """A critical section."""

    lock: int
    """The string number of its tag."""
    acquire: int
    release: int | None
    """None if the lock was still held when the run ended."""


class Sections:
    """The critical sections of a run."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        by_tag = _by_tag(trace)
        self.locks = {tag for tag, events in by_tag.items() if _is_lock(trace, events)}
        self.others = {tag: events for tag, events in by_tag.items() if tag not in self.locks}
        """Events of all other primitives, in the order of the lines."""
        self.of_acquire: dict[int, Section] = {}
        for tag in self.locks:
            self._pair(tag, by_tag[tag])

    def _pair(self, tag: int, events: list[int]) -> None:
        kinds = _kinds(self.trace, events)
        acquires = [event for event, kind in zip(events, kinds, strict=True) if kind == ACQUIRE]
        releases = [event for event, kind in zip(events, kinds, strict=True) if kind == RELEASE]
        for number, acquire in enumerate(acquires):
            release = releases[number] if number < len(releases) else None
            self.of_acquire[acquire] = Section(tag, acquire, release)

    def held(self) -> dict[int, tuple[Section, ...]]:
        """For each acquire and join that could wait for ever: the sections that its process is in before."""
        trace, found = self.trace, {}
        ends = {each.release: each for each in self.of_acquire.values() if each.release is not None}
        for events in trace.events_of:
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
        """A recorder says which joins wait without a limit; by hand all of them are meant to."""
        trace, said = self.trace, self.trace.extra.get(event, {})
        if trace.strings[trace.kind[event]] == JOIN:
            return bool(said.get(WAITS, recorded_of(trace.header) is None))
        return event in self.of_acquire and not said.get(TRIED)


def _by_tag(trace: Trace) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    if trace.tag is not None:
        for event, tag in enumerate(trace.tag):
            if tag != NONE:
                found[tag].append(event)
    return found


def _kinds(trace: Trace, events: list[int]) -> list[str]:
    return [trace.strings[trace.kind[event]] for event in events]


def _is_lock(trace: Trace, events: list[int]) -> bool:
    kinds = _kinds(trace, events)
    if kinds != [(ACQUIRE, RELEASE)[number % 2] for number in range(len(kinds))]:
        return False
    for number, event in enumerate(events):
        is_same = number == 0 or trace.process[events[number - 1]] == trace.process[event]
        if kinds[number] == RELEASE and not is_same:
            return False
        if kinds[number] == ACQUIRE and not is_same and events[number - 1] not in trace.after(event):
            return False
    return True
