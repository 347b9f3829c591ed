"""What a process can wait for, who can give it, and whether it is there after a part of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from possibly.detection.prediction.sections import JOIN, RESULT, Sections
from possibly.detection.prediction.things import Acts
from possibly.verdict.deadlocks import END, ITEM, LOCK, OUTCOME, ROOM, SIGNAL, UNIT, Want

WAKE, NOTIFY = "wake", "notify"


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests that are alike, in the order of the run."""

    process: int
    want: Want
    holds: frozenset[int]
    """Locks, and units of semaphores."""
    events: tuple[int, ...]


class Wants:
    """What is wanted in a run, and who gives it."""

    def __init__(self, sections: Sections) -> None:
        self._sections = sections
        self._trace = sections.trace
        self._kinds = sections.kinds
        self.signals = self._signals()
        """For each event object or condition: who sets or notifies it."""
        self.chains: dict[int, set[int]] = defaultdict(set)
        """The units of each semaphore."""
        for section in sections.of_acquire.values():
            self.chains[section.thing].add(section.lock)

    def _signals(self) -> dict[int, Acts]:
        trace, found = self._trace, defaultdict(list)
        for event in range(len(trace)) if trace.tag is not None else ():
            if self._kinds[event] in ("set", NOTIFY):
                found[trace.tag[event]].append(event)  # type: ignore[index] # it is not None
        return {tag: Acts(trace, events) for tag, events in found.items()}

    # ---- what a process waits for before an event -----------------------------------------------

    def of(self, event: int) -> Iterator[Want]:
        """Usually one; a wait for a condition is for the signal first, and then for the lock."""
        section = self._sections.of_acquire.get(event)
        kind = self._kinds[event]
        if section is not None:
            is_lock = section.lock == section.thing
            yield Want(LOCK if is_lock else UNIT, section.thing)
            yield from self._signal_of(self._wake_after(event))
        elif kind == JOIN:
            yield from self._end_of(event)
        elif kind == RESULT:
            yield from (Want(OUTCOME, each) for each in self._trace.after(event))
        elif kind == "wait":
            yield from self._signal_of(event)
        elif kind in ("send", "receive"):
            assert self._trace.tag is not None, "it is in a queue"
            tag = self._trace.tag[event]
            if kind == "receive" or self._sections.queues[tag].room:
                yield Want(ITEM if kind == "receive" else ROOM, tag)

    def _end_of(self, event: int) -> Iterator[Want]:
        trace = self._trace
        ends = [each for each in trace.after(event) if self._kinds[each] == "end"]
        if len(ends) == 1:
            yield Want(END, trace.process[ends[0]])

    def _wake_after(self, acquire: int) -> int | None:
        """A wait acquires its lock again, and tells of it, before it tells that it was woken."""
        trace = self._trace
        events, place = trace.events_of[trace.process[acquire]], trace.position[acquire]
        following = events[place] if place < len(events) else None
        is_wake = following is not None and self._kinds[following] == WAKE
        return following if is_wake and self._sections.says_it_waits(following or 0) else None

    def _signal_of(self, event: int | None) -> Iterator[Want]:
        """By the tag of the event that gave the signal."""
        if event is None or self._trace.tag is None:
            return
        tags = {self._trace.tag[each] for each in self._trace.after(event)} & self.signals.keys()
        if len(tags) == 1:
            yield Want(SIGNAL, tags.pop())

    # ---- who gives it ---------------------------------------------------------------------------

    def givers(self, want: Want) -> Acts | None:
        """What gives it; None if that is a holder or an end."""
        match want.kind:
            case "unit" if self._sections.semaphores[want.thing].signals:
                return self._sections.semaphores[want.thing].releases
            case "room":
                return self._sections.queues[want.thing].receives
            case "item":
                return self._sections.queues[want.thing].sends
            case "signal":
                return self.signals[want.thing]
            case "outcome":
                return Acts(self._trace, [want.thing])
        return None

    def is_given_by(self, request: Requests, other: Requests) -> bool:
        want, givers = request.want, self.givers(request.want)
        if other.process == request.process:
            return False
        if givers is not None:
            return other.process in givers.positions
        if want.kind == END:
            return other.process == want.thing
        return bool(self.locks(want) & other.holds)

    def locks(self, want: Want) -> set[int]:
        """The locks that all must be held by others for it to be missing."""
        return {want.thing} if want.kind == LOCK else self.chains[want.thing] if want.kind == UNIT else set()

    def still_given(self, want: Want, event: int, cut: Sequence[int]) -> dict[int, int] | None:
        """Who can still give it, with the position of that event; None if it is there already."""
        givers = self.givers(want)
        match want.kind:
            case "unit":
                semaphore = self._sections.semaphores[want.thing]
                if self._free_units(want.thing, cut) > 0:
                    return None
                givers = givers or semaphore.releases
                return self._by_holders(want.thing, cut) if not semaphore.signals else givers.left(cut)
            case "room" | "item":
                queue = self._sections.queues[want.thing]
                items = queue.sends.inside(cut) - queue.receives.inside(cut)
                if (items < (queue.room or 0)) if want.kind == ROOM else items > 0:
                    return None
            case "signal" if self._has_come(want.thing, event, cut):
                return None
            case "outcome" if self._is_inside(want.thing, cut):
                return None
        return {} if givers is None else givers.left(cut)

    def _free_units(self, tag: int, cut: Sequence[int]) -> int:
        semaphore = self._sections.semaphores[tag]
        taken = sum(self._is_inside(e, cut) for e, s in self._sections.of_acquire.items() if s.thing == tag)
        return semaphore.units - taken + semaphore.releases.inside(cut)

    def _by_holders(self, tag: int, cut: Sequence[int]) -> dict[int, int]:
        """Of a semaphore whose users give back what they took: those who have a unit after the cut."""
        found = {}
        for event, section in self._sections.of_acquire.items():
            is_held = section.thing == tag and self._is_inside(event, cut)
            if is_held and (section.release is None or not self._is_inside(section.release, cut)):
                end = len(self._trace) if section.release is None else self._trace.position[section.release]
                found[self._trace.process[event]] = end
        return found

    def _has_come(self, tag: int, event: int, cut: Sequence[int]) -> bool:
        """Whether the signal was given: to a condition, since the wait began."""
        trace = self._trace
        mine = trace.events_of[trace.process[event]]
        begun = mine[trace.position[event] - 2] if self._kinds[event] != "wait" else -1
        return any(self._is_inside(each, cut) and each > begun for each in self.signals[tag].events)

    def _is_inside(self, event: int, cut: Sequence[int]) -> bool:
        return self._trace.position[event] <= cut[self._trace.process[event]]

    def surely_before(self, event: int) -> Iterator[int]:
        """What an event needs whatever primitives do: the spawn of its process."""
        if self._kinds[event] == "start":
            yield from self._trace.after(event)
