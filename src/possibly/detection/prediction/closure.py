"""The least part of a run that a reordering must contain, if it is to contain some events.

"Sound dynamic deadlock prediction in linear time" (Tunç, Mathur, Pavlogiannis, Viswanathan), section 4. A
reordering that keeps the order of critical sections of each lock is a subsequence of the recorded run. It
is closed under three rules: what happened before in a process, or by a message, a spawn or any other order
but that of locks, is in it; so is the write that a read has read; and if two critical sections of a lock
are in it, the first one ends in it. Then every process does in it what it did in the run, since it reads
the same.

Departures: a unit of a semaphore is a lock of its own, and everybody takes the unit that he took in the run.
Whoever puts into a queue keeps his place among those who do, and so does whoever gets; a put needs the get
that freed its place. Other primitives keep the order of all that was done with them, so that each is in a
state in which it was in the run. A closed part is a number of events for each process, as a cut is. A task
of an event loop is not interrupted: its turns are in it as a whole, but for one that ends in waiting.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from possibly.detection.prediction.sections import ACQUIRE, Sections
from possibly.trace.model import NONE, Trace
from possibly.trace.turns import Turn, Turns
from possibly.verdict.deadlocks import Section

WAKE = "wake"


class Closure:
    """Grows a closed part of a run; each event is looked at once however often it grows."""

    def __init__(self, order: Required) -> None:
        self._order = order
        self._trace = order.trace
        self.cut = [0] * len(order.trace.processes)
        self._newest: dict[int, int] = {}
        """For each lock its newest acquire inside."""
        self._pending: list[tuple[int, int]] = []
        self._halted: dict[int, Turn] = {}
        """For each task that waits, the turn in which it does."""

    def copy(self) -> Closure:
        """The same part, which grows by itself from here."""
        found = Closure(self._order)
        found.cut, found._newest, found._halted = list(self.cut), dict(self._newest), dict(self._halted)
        return found

    def reach(self, request: int) -> None:
        """Take in all that its process did before it asked for that; there its turn may end."""
        process, done = self._trace.process[request], self._order.turns.asked(request)
        turn = self._order.turns.of(self._trace.events_of[process][done - 1]) if done else None
        if turn is not None:
            self._halted[process] = turn
        self.grow(process, done)

    def is_past(self, request: int) -> bool:
        """Whether its process got what it asked for."""
        return self.cut[self._trace.process[request]] > self._order.turns.asked(request)

    def grow(self, process: int, count: int) -> None:
        """Take in the first events of a process, and all that must come with them."""
        self._want(process, count)
        while self._pending:
            process, count = self._pending.pop()
            events = self._trace.events_of[process]
            while self.cut[process] < count:
                event = events[self.cut[process]]
                self.cut[process] += 1
                self._take(event)

    def pass_by(self, event: int) -> None:
        """Take in the next event of the run, where all before it are inside."""
        self.cut[self._trace.process[event]] += 1
        section = self._order.sections.of_acquire.get(event)
        if section is not None:
            self._newest[section.lock] = event

    def contains(self, event: int) -> bool:
        return self._trace.position[event] <= self.cut[self._trace.process[event]]

    def _want(self, process: int, count: int) -> None:
        if count > self.cut[process]:
            self._pending.append((process, count))

    def _want_event(self, event: int) -> None:
        self._want(self._trace.process[event], self._trace.position[event])

    def _take(self, event: int) -> None:
        for earlier in self._order.before(event):
            self._want_event(earlier)
        turn = self._order.turns.of(event)
        if turn is not None and self._halted.get(turn.process) is not turn:
            self._want(turn.process, turn.last)
        section = self._order.sections.of_acquire.get(event)
        if section is None:
            return
        newest = self._newest.get(section.lock)
        if newest is None or newest < event:
            self._newest[section.lock] = event
        first = event if newest is not None and newest > event else newest
        if first is not None:
            release = self._order.sections.of_acquire[first].release
            assert release is not None, "another acquire followed"
            self._want_event(release)

    def events(self) -> Iterable[int]:
        """The events inside, in the order of the run."""
        return sorted(
            event
            for process, count in enumerate(self.cut)
            for event in self._trace.events_of[process][:count]
        )


class Required:
    """What must come before each event in any reordering, whatever the locks do."""

    def __init__(self, trace: Trace, sections: Sections) -> None:
        self.trace = trace
        self.sections = sections
        self.turns = Turns(trace)
        self._more: dict[int, list[int]] = {}
        self._add_messages()
        self._add_others()
        self._add_reads()
        self._add_meetings()
        self._add_wakes()

    def before(self, event: int) -> Iterable[int]:
        """Events that it needs, besides those of its process."""
        yield from self._more.get(event, ())
        section = self.sections.of_acquire.get(event)
        if section is None:
            yield from self.trace.after(event)
        else:
            yield from (each for each in self.trace.after(event) if not self._ends(section, each))
            if event in self.sections.brought:
                yield self.sections.brought[event]

    def _ends(self, section: Section, event: int) -> bool:
        """Whether the event is a release of that lock."""
        assert self.trace.tag is not None, "a lock has a tag"
        return self.trace.tag[event] == section.thing

    def _add(self, earlier: int, later: int) -> None:
        self._more.setdefault(later, []).append(earlier)

    def _add_messages(self) -> None:
        trace = self.trace
        for send, receive in zip(trace.delivery_send, trace.delivery_receive, strict=True):
            if receive != NONE:
                self._add(send, receive)

    def _add_others(self) -> None:
        """All that was done with a primitive that is no lock stays in its order; with queues, each way."""
        queues = self.sections.queues.values()
        ways = [way.events for queue in queues for way in (queue.sends, queue.receives)]
        for events in (*self.sections.others.values(), *ways):
            for earlier, later in pairwise(events):
                self._add(earlier, later)

    def _add_reads(self) -> None:
        """A read needs the write that it read. Whoever reads a container may look at all that is in it.

        A recorder tells of items that are read by index or key, not of loops and lengths. So writes of
        items stay in their order, and a read of the container needs the last of them.
        """
        written: dict[str, int] = {}
        trace = self.trace
        for event in range(len(trace)):
            for variable in trace.reads(event):
                self._add_last(written, variable, event)
                self._add_last(written, f"{variable}[", event)
            for variable, _ in trace.writes(event):
                container, bracket, _ = variable.partition("[")
                if bracket:
                    self._add_last(written, f"{container}[", event)
                    written[f"{container}["] = event
                written[variable] = event

    def _add_last(self, written: dict[str, int], variable: str, event: int) -> None:
        if variable in written:
            self._add(written[variable], event)

    def _add_meetings(self) -> None:
        """Lines of one joint event need each other."""
        trace = self.trace
        if trace.meet is None:
            return
        meetings: dict[int, list[int]] = {}
        for event, meet in enumerate(trace.meet):
            if meet != NONE:
                meetings.setdefault(meet, []).append(event)
        for events in meetings.values():
            for earlier, later in zip(events, [*events[1:], events[0]], strict=True):
                self._add(earlier, later)

    def _add_wakes(self) -> None:
        """A wait that was notified acquires its lock again, and tells of it, before it tells who woke it."""
        trace = self.trace
        for events in trace.events_of:
            for first, second in pairwise(events):
                kinds = trace.strings[trace.kind[first]], trace.strings[trace.kind[second]]
                if kinds == (ACQUIRE, WAKE):
                    for notify in trace.after(second):
                        self._add(notify, first)
