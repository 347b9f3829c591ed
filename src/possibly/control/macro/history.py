"""What happened on a path as a partial order: the instants at which a process can be seen, and their causes.

Law: a process is seen directly after each of its operations, and where it waits in one; of an operation that
cannot wait (a send that is buffered, an attempt) the moment before it is not seen, as no collective
breakpoint could show it. The order is that of `matching.Before`: the path stands for all orders of its
instants that agree with it, each of them an execution with the same matching.

Theory of operation. Every event that `Board` makes belongs to an instant, or to none: then it only passes
order on (a message that enters a queue by itself, the start of a process). The event at which a process
arrived is that of a send that does not wait, or of a wait that others notice (a rendezvous, a collective, a
mailbox). That of a receive from a queue is the moment at which the item is taken: after the process came
there, and before it is seen with it; others may take theirs in between.

A task of an event loop is seen where it may suspend, for nobody else runs until then: what it does from one
such place to the next is one instant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from possibly.control.macro.before import Before
from possibly.control.macro.matching import Arrival, Board
from possibly.control.macro.model import Completion, Message, Operation, Process, Seen

Counts = dict[Process, int]
"""A cut: how many instants of each process it contains."""
Latest = dict[Process, int]
"""Of each process: the number of its last instant that comes before something."""


class CircularOrderError(Exception):
    """The order contradicts itself, which would be a mistake in what the operations are taken to mean."""


@dataclass(slots=True)
class Instant:
    """A moment of a process; what it is seen with is learnt a little later."""

    process: Process
    kind: str
    """`comes` to an operation that may make it wait, has `done` one, has come to its `end`; `post`."""
    text: str
    at: str
    seen: Seen | None = None
    sends: tuple[Message, ...] = ()
    takes: tuple[str, ...] = ()
    """The messages that it receives."""


@dataclass(frozen=True, slots=True)
class Path:
    """The instants of a path in an order in which they could have happened."""

    instants: Sequence[Instant]
    causes: Sequence[Sequence[int]]
    """Of each instant: earlier ones of other processes that come before it."""
    processes: tuple[Process, ...]
    """In the order in which they appeared."""

    def states(self, process: Process) -> list[Seen | None]:
        """How the process is seen for each count of its instants."""
        found: list[Seen | None] = [None]
        for each in self.instants:
            if each.process == process:
                found.append(each.seen if each.seen is not None else found[-1])
        return found

    def closed(self, counts: Counts) -> Counts:
        """The least cut that contains these instants."""
        wanted, numbers = dict(counts), self.numbers()
        for number in reversed(range(len(self.instants))):
            process, count = numbers[number]
            if count <= wanted.get(process, 0):
                for cause in self.causes[number]:
                    other, least = numbers[cause]
                    wanted[other] = max(wanted.get(other, 0), least)
        return wanted

    def numbers(self) -> list[tuple[Process, int]]:
        """Of each instant: its process, and which one of that process it is, from 1."""
        counts: Counts = {}
        found = []
        for each in self.instants:
            counts[each.process] = counts.get(each.process, 0) + 1
            found.append((each.process, counts[each.process]))
        return found


@dataclass(slots=True)
class Start:
    """From where on a claim speaks: the first collective breakpoint at which it could be judged."""

    counts: Counts
    """The instants that each process had when the claim was made, with the one that it cannot wait before."""
    processes: frozenset[Process] | None = None
    """Those that were there at the breakpoint; not known yet: None."""

    def cut(self, path: Path) -> Counts:
        wanted: Counts = {}
        for process in self.processes or ():
            states = path.states(process)
            first = next((count for count, seen in enumerate(states) if seen is not None), 0)
            wanted[process] = min(max(self.counts.get(process, 0), first), len(states) - 1)
        return path.closed(wanted)


@dataclass(slots=True)
class History:
    """Grows with the path."""

    instants: list[Instant] = field(default_factory=list)
    counts: Counts = field(default_factory=dict)
    _instant_of: dict[int, int] = field(default_factory=dict)
    """Event -> instant."""
    _taken: dict[int, int] = field(default_factory=dict)
    """The event of a receive from a queue -> the instant at which the process came there."""
    _arrivals: dict[Process, tuple[int, Operation, Message | None]] = field(default_factory=dict)
    """Operations that are not done."""
    _unseen: dict[Process, int] = field(default_factory=dict)
    """Instants after an operation whose state has not been told."""
    _pieces: dict[Process, int] = field(default_factory=dict)
    """The instants of tasks that go on until they may suspend."""

    def arrived(self, process: Process, operation: Operation, arrival: Arrival, seen: Seen | None) -> None:
        self.counts.setdefault(process, 0)
        for (event, message), sent in zip(arrival.sends, operation.sends, strict=True):
            instant = Instant(process, "done", sent.text, sent.at, sent.seen, (message,))
            self._end_piece(process, sent)
            self._add_piece(instant, bool(sent.loop), event)
        for event in arrival.posts:
            self._add(Instant(process, "post", "post a receive", operation.at), event)
        self._end_piece(process, operation)
        self._arrivals[process] = arrival.event, operation, arrival.message
        if may_wait(operation):
            events = (arrival.event,) if _is_noticed(operation) else ()
            kind = "end" if operation.kind == "end" else "comes"
            is_piece = bool(operation.loop) or operation.kind == "await" or kind == "end"
            instant = Instant(process, kind, operation.text, operation.at, seen)
            number = self._add_piece(instant, is_piece, *events)
            if not events:
                self._taken[arrival.event] = number

    def completed(self, completion: Completion, board: Board) -> None:
        event, operation, message = self._arrivals.pop(completion.process)
        events = [board.newest(completion.process)]
        if operation.kind == "send" and not _is_noticed(operation):
            events.append(event)
        if operation.kind == "send" and message is not None:
            events.append(board.entries.get(message.name, events[0]))
        takes = tuple([name for _, name, _, _ in completion.deliveries])
        if operation.receive is not None and operation.receive.peeks:
            takes = takes[:-1]  # it leaves its own message where it is
        sends = () if message is None or operation.synchronous else (message,)  # that is never under way
        instant = Instant(completion.process, "done", operation.text, operation.at, None, sends, takes)
        if operation.loop and may_wait(operation):
            self._pieces[completion.process] = self._add(instant, *events)
        else:
            self._unseen[completion.process] = self._add_piece(instant, bool(operation.loop), *events)

    def went_on(self, process: Process) -> None:
        """From an operation that is no communication."""
        event, operation, _ = self._arrivals.pop(process)
        self._add(Instant(process, "done", operation.text, operation.at), event)

    def seen(self, breaks: Mapping[Process, Seen]) -> None:
        """The states directly after operations."""
        for process, state in breaks.items():
            if process in self._unseen:
                self.instants[self._unseen.pop(process)].seen = state

    def positions(self) -> Counts:
        """Where every process is, one further if it cannot be seen there (see `Start`)."""
        found = dict(self.counts)
        for process, (_, operation, _) in self._arrivals.items():
            found[process] += not may_wait(operation)
        return found

    def _end_piece(self, process: Process, operation: Operation) -> None:
        """A task that has waited for something else than a message begins another piece."""
        if operation.suspended:
            self._pieces.pop(process, None)

    def _add_piece(self, instant: Instant, is_piece: bool, *events: int) -> int:
        """What a task does until it may suspend belongs to one instant."""
        number = self._pieces.get(instant.process)
        if not is_piece or number is None:
            found = self._add(instant, *events)
            if is_piece and instant.kind == "done":
                self._pieces[instant.process] = found
            return found
        piece = self.instants[number]
        piece.sends += instant.sends
        piece.seen = instant.seen if instant.seen is not None else piece.seen
        piece.text = f"{piece.text}; {instant.text}" if instant.kind == "done" else piece.text
        for event in events:
            self._instant_of.setdefault(event, number)
        return number

    def _add(self, instant: Instant, *events: int) -> int:
        number = len(self.instants)
        self.instants.append(instant)
        self.counts[instant.process] = self.counts.get(instant.process, 0) + 1
        for event in events:
            self._instant_of.setdefault(event, number)
        return number

    # ---- the order --------------------------------------------------------------------------------

    def path(self, before: Before) -> Path:
        causes = self._causes(before)
        order = _sorted(_followers(causes))
        place = {number: index for index, number in enumerate(order)}
        own: dict[int, int] = self._previous()
        found = [sorted(place[each] for each in causes[n] if each != own.get(n)) for n in order]
        return Path([self.instants[n] for n in order], found, tuple(self.counts))

    def _previous(self) -> dict[int, int]:
        last: dict[Process, int] = {}
        found = {}
        for number, each in enumerate(self.instants):
            if each.process in last:
                found[number] = last[each.process]
            last[each.process] = number
        return found

    def _causes(self, before: Before) -> list[set[int]]:
        """Of each instant: those directly before it, that of its own process too."""
        found: list[Latest] = [{} for _ in self.instants]
        for number, previous in self._previous().items():
            self._note(found[number], previous)
        passed: list[Latest | None] = [{} for _ in range(len(before))]
        for event in _sorted([before.after(event) for event in range(len(before))]):
            instant, latest = self._instant_of.get(event), passed[event]
            assert latest is not None  # an event comes once
            passed[event] = None
            if instant is not None:
                for cause in latest.values():
                    if cause != instant:
                        self._note(found[instant], cause)
                latest = {self.instants[instant].process: instant}
            elif event in self._taken:
                self._note(latest, self._taken[event])
            for later in before.after(event):
                for cause in latest.values():
                    self._note(passed[later], cause)
        return [set(each.values()) for each in found]

    def _note(self, latest: Latest | None, number: int) -> None:
        """Of each process the last one is enough: those before it come before that."""
        assert latest is not None  # edges lead forward
        process = self.instants[number].process
        latest[process] = max(latest.get(process, number), number)


def may_wait(operation: Operation) -> bool:
    """Whether the process can be seen where the operation is still to complete."""
    if operation.kind == "send":
        return operation.synchronous or operation.capacity > 0
    if operation.kind == "receive":
        return operation.receive is not None and not operation.receive.optional
    return not operation.optional


def _is_noticed(operation: Operation) -> bool:
    """Whether others can go on because the process has come to the operation."""
    if operation.kind == "send":
        return operation.synchronous or operation.capacity > 0
    if operation.kind == "receive":
        return operation.receive is not None and operation.receive.mailbox
    return operation.kind != "join"


def _sorted(following: Sequence[Sequence[int]]) -> list[int]:
    """The least order of numbers in which each comes before all that follow it."""
    waiting = [0] * len(following)
    for each in following:
        for later in each:
            waiting[later] += 1
    ready = [number for number, count in enumerate(waiting) if not count]
    found: list[int] = []
    while ready:
        number = heappop(ready)
        found.append(number)
        for later in following[number]:
            waiting[later] -= 1
            if not waiting[later]:
                heappush(ready, later)
    if len(found) < len(following):
        raise CircularOrderError
    return found


def _followers(causes: Sequence[set[int]]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in causes]
    for number, each in enumerate(causes):
        for cause in each:
            found[cause].append(number)
    return found
