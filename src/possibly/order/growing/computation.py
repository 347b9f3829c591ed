"""A computation that grows by one step at a time, its lines arriving in any order.

Here belongs when a line may be taken in and which direct edges it brings; not values, not slices.

Theory of operation (Sen's thesis, section 4.4: an event is incorporated once it is "enabled", otherwise it
is buffered). A line is that of a trace file. It waits until everything that happened before it has been
taken in: the event before it on its process, the send of its message, the events of its `after`, and for a
joint event all its lines with all that they wait for. It looks for one missing thing at a time, under whose
name it is filed, so nothing is searched again and again. What is taken in is handed to the listeners as a
`Step`; the steps in that order are a run that could have happened, and `Computation` of a trace with those
lines in that order is the computation so far.

Three things that a file tells by its order have to be said where lines arrive in any order:

    k          the event is the k-th of its process, from 1. An `id` of the form `P:k` says it too; without
               either, the lines of a process are taken to arrive in the order of the process
    parties    the processes of a joint event, beside `meet`: otherwise nobody knows when it is complete
    conflicts  of accesses to a shared variable: in causal order they are ordered as they are taken in; where
               that may not be how they happened, `after` has to say how

A line with an error in itself changes nothing. A line whose error shows only when it is taken in (an `exit`
that does not match, a message that was not for it) is left out, and whatever needs it goes on waiting.

Memory: some numbers a process, the waiting lines, an entry for each given name and joint event, one for
each message (with `remember=False` only for messages in flight: then the name of a received message may be
used again), and for each shared variable its last write and the last read of each process since.

Lines that come many at once and need nothing that is missing are taken in by `_growing.c` on the same tables,
as long as it goes (`arrive_many`); followers may take them as columns (`growing_batches`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from possibly.errors import TraceError, UsageError
from possibly.order.computation import ORDERS, Place
from possibly.order.growing.batches import Batch, Follower, Watched, kernels
from possibly.order.growing.lines import (
    Arrived,
    Flight,
    Line,
    Missing,
    Sent,
    Step,
    checked_fields,
    missing_of,
    reason,
)
from possibly.trace.intern import quoted
from possibly.trace.model import Value
from possibly.trace.names import default_owner

Listener = Callable[[Step], None]


@dataclass(slots=True)
class _Unit:
    """Lines that are taken in together, with what may still be missing."""

    lines: tuple[Arrived, ...]
    missing: deque[Missing] = field(default_factory=deque)


@dataclass(slots=True)
class _Process:
    name: str
    number: int
    length: int = 0
    stack: list[str] = field(default_factory=list)


class Growing:
    """A computation in the making. `arrive` takes a line, the listeners are told what can be taken in."""

    def __init__(
        self,
        processes: Iterable[tuple[str, Mapping[str, Value]]] = (),
        shared: Mapping[str, Value] | None = None,
        order: str = "causal",
        *,
        remember: bool = True,
    ) -> None:
        if order not in ORDERS:
            raise UsageError(f"unknown order {order!r}: choose one of {', '.join(ORDERS)}")
        self.order = order
        self.remember = remember
        self.initial: dict[str, Mapping[str, Value]] = {}
        for name, init in processes:
            if name in self.initial:
                raise TraceError(f"the header names process {quoted(name)} twice")
            self.initial[name] = dict(init)
        self.shared: Mapping[str, Value] = dict(shared or {})
        self.addressed: set[str] = set()
        """Processes whose sends have to name their receivers, as somebody counts a channel's messages."""
        self.taken = 0
        """How many lines have been taken in."""
        self._listeners: list[Listener] = []
        self._followers: list[Follower] = []
        self.watched = Watched()
        self._spoken_of: dict[str, Arrived] = {}
        """Receivers that no event and no header has named as a process yet."""
        self._processes: dict[str, _Process] = {}
        for name in self.initial:
            self._process(name)
        self._names: dict[str, Place] = {}
        """Given names of the events taken in."""
        self._odd: set[str] = set()
        """Those among them that have the form of a default name."""
        self._messages: dict[str, Flight] = {}
        self._last_write: dict[str, Place] = {}
        self._reads: dict[str, dict[int, int]] = {}
        """For each shared variable the last read of each process since the last write."""
        self._early: dict[str, dict[int, Arrived]] = {}
        """By process and position: the lines that wait."""
        self._free: dict[str, int] = {}
        """By process: lines of all positions below have arrived."""
        self._early_names: dict[str, Arrived] = {}
        self._meets: dict[str, list[Arrived]] = {}
        """Joint events of which lines are missing."""
        self._met: set[str] = set()
        self._filed: dict[Missing, list[_Unit]] = {}
        kernel = kernels()
        self._taker = None if kernel is None else kernel.Taker(*self._tables(), order == "causal")

    def __getstate__(self) -> dict[str, Any]:
        """All that is known, with the followers: who only listens cannot be saved."""
        if len(self._followers) < len(self._listeners):
            raise UsageError("a growing computation with listeners that are no followers cannot be saved")
        return {name: value for name, value in vars(self).items() if name not in ("_taker", "_listeners")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._listeners = [follower.take for follower in self._followers]
        kernel = kernels()
        self._taker = None if kernel is None else kernel.Taker(*self._tables(), self.order == "causal")

    def _tables(self) -> tuple[object, ...]:
        """What the compiled twin reads and writes: the tables themselves, which are never replaced."""
        waiting = self._early, self._early_names, self._filed
        known = self._processes, self._names, self._odd, self._messages, self._last_write, self._reads
        return *known, *waiting, self.addressed, Line, Sent, Flight

    # ---- what is there --------------------------------------------------------------------------

    @property
    def processes(self) -> tuple[str, ...]:
        return tuple(self._processes)

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(process.length for process in self._processes.values())

    def number(self, process: str) -> int:
        return self._processes[process].number

    def follow(self, listener: Listener) -> None:
        """Tell the listener of every step; it has to be there from the beginning."""
        if self.taken:
            raise UsageError("a growing computation has to be followed from its first event on")
        self._listeners.append(listener)

    def follow_batches(self, follower: Follower) -> None:
        """Tell the follower of every step, or of many at once."""
        self.follow(follower.take)
        self._followers.append(follower)

    def waiting(self) -> list[tuple[str, str]]:
        """Each line that waits, with what it waits for, in the order of process and position."""
        reasons = {
            id(line): reason(missing)
            for missing, units in self._filed.items()
            for unit in units
            for line in unit.lines
        }
        lines = [line for early in self._early.values() for _, line in sorted(early.items())]
        return [(line.name, reasons.get(id(line)) or self._absent(line)) for line in lines]

    def _absent(self, line: Arrived) -> str:
        here = {other.owner for other in self._meets.get(line.fields["meet"], ())}
        absent = ", ".join(name for name in line.fields["parties"] if name not in here)
        return f"the part of {absent} in meet {quoted(line.fields['meet'])}"

    @property
    def spoken_of(self) -> tuple[str, ...]:
        """Receivers that no event and no header has named as a process yet."""
        return tuple(self._spoken_of)

    def forget(self) -> None:
        """From now on remember only messages in flight."""
        self.remember = False
        for name in [name for name, found in self._messages.items() if found.left == set()]:
            del self._messages[name]

    def forget_names(self, most: int) -> None:
        """Of the given names remember the newest: whoever names an older one waits for ever."""
        for name in list(self._names)[: max(0, len(self._names) - most)]:
            del self._names[name]
            self._odd.discard(name)

    def finish(self) -> None:
        """The run is over: an error if a line still waits, or a receiver never existed."""
        for name, missing in self.waiting():
            line = self._find_early(name)
            raise TraceError(f"{quoted(name)} waits for {missing}, which never arrived", line=line.number)
        for name, line in self._spoken_of.items():
            raise TraceError(f'"to" names the unknown process {quoted(name)}', line=line.number)

    def _find_early(self, name: str) -> Arrived:
        lines = (line for early in self._early.values() for line in early.values())
        return next(line for line in lines if line.name == name)

    # ---- arrival --------------------------------------------------------------------------------

    def arrive(self, fields: Mapping[str, Any], line: int | None = None) -> int:
        """A line has arrived. How many lines could be taken in, this one or others that waited for it."""
        arrived = self._checked(fields, line)
        fields, before = arrived.fields, self.taken
        if "meet" not in fields and self._is_ready(arrived):
            self._advance(_Unit((arrived,)))
            return self.taken - before
        self._early.setdefault(arrived.owner, {})[arrived.position] = arrived
        if "id" in fields:
            self._early_names[arrived.name] = arrived
        unit = self._unit(arrived)
        if unit is not None:
            self._advance(unit)
        return self.taken - before

    def arrive_many(self, lines: list[Any], first: int = 0) -> int:
        """Many lines have arrived. How many of them, from the first on, could be taken in as they stand.

        The next one is for `arrive`, which waits or complains."""
        if self._taker is None or len(self._followers) < len(self._listeners):
            return 0
        steps: list[Step] | None = [] if any(each.wants_steps for each in self._followers) else None
        count: int = self._taker.take(lines, first, self.remember, self.watched.variables, steps)
        if count:
            self._tell(Batch.of(lines, first, self.taken, self._taker.columns()), steps or ())
        return count

    def _tell(self, batch: Batch, steps: Sequence[Step]) -> None:
        for follower in self._followers:
            if follower.wants_steps:
                for self.taken, step in enumerate(steps, batch.before + 1):
                    follower.take(step)
            else:
                self.taken = batch.before + batch.count
                follower.take_batch(batch)
        self.taken = batch.before + batch.count

    def _is_ready(self, line: Arrived) -> bool:
        """Whether nothing that the line needs is missing: most lines need not be filed."""
        fields = line.fields
        if line.position != self._length(line.owner) + 1:
            return False
        if fields.get("kind") == "receive" and "msg" in fields and fields["msg"] not in self._messages:
            return False
        return "after" not in fields or all(self._place(name) is not None for name in fields["after"])

    def _checked(self, fields: Mapping[str, Any], number: int | None) -> Arrived:
        try:
            fields = checked_fields(fields)
            owner = fields["p"]
            position = self._position(fields)
        except TraceError as error:
            raise TraceError(error.message, line=number, hint=error.hint) from None
        arrived = Arrived(fields, owner, position, number)
        if position <= self._length(owner) or position in self._early.get(owner, ()):
            raise arrived.error(f"event {position} of process {quoted(owner)} has arrived already")
        if fields.get("kind") == "send" and "to" not in fields and owner in self.addressed:
            raise arrived.error('the send needs "to", as a formula counts the messages of a channel')
        self._check_name(arrived)
        self._check_meet(arrived)
        return arrived

    def _position(self, fields: Mapping[str, Any]) -> int:
        owner, position = fields["p"], fields.get("k")
        named = default_owner(fields["id"]) if "id" in fields else None
        if named is not None and named[0] != owner and named[0] in self._processes:
            raise TraceError(f"an event of {quoted(owner)} has the name {quoted(fields['id'])} of another")
        own = named[1] if named is not None and named[0] == owner else None
        if position is not None and own is not None and own != position:
            raise TraceError(f'"k" is {position}, but the name is {quoted(fields["id"])}')
        if position is None:
            position = own
        if position is None:
            return self._first_free(owner)
        return int(position)

    def _first_free(self, owner: str) -> int:
        """The first position of which no line has arrived."""
        early, position = self._early.get(owner, {}), max(self._length(owner) + 1, self._free.get(owner, 1))
        while position in early:
            position += 1
        self._free[owner] = position
        return position

    def _length(self, owner: str) -> int:
        return self._processes[owner].length if owner in self._processes else 0

    def _check_name(self, arrived: Arrived) -> None:
        fields = arrived.fields
        if (self._names or self._early_names) and (
            arrived.name in self._names or arrived.name in self._early_names
        ):
            raise arrived.error("another event has this name")
        if "after" in fields and arrived.name in fields["after"]:
            raise arrived.error('"after" names the event itself')

    def _check_meet(self, arrived: Arrived) -> None:
        meet = arrived.fields.get("meet")
        if meet is None:
            return
        parties = arrived.fields.get("parties")
        if parties is None:
            message = f'meet {quoted(meet)} needs "parties", the processes that take part'
            raise arrived.error(message)
        if arrived.owner not in parties or len(set(parties)) < len(parties):
            raise arrived.error('"parties" must name each process once, the own one too')
        if meet in self._met:
            raise arrived.error(f"meet {quoted(meet)} is complete already")
        for other in self._meets.get(meet, ()):
            if other.owner == arrived.owner:
                raise arrived.error(f"two events of process {quoted(other.owner)} in meet {quoted(meet)}")
            if set(other.fields["parties"]) != set(parties):
                raise arrived.error(f'the lines of meet {quoted(meet)} disagree about "parties"')

    def _unit(self, arrived: Arrived) -> _Unit | None:
        """What can be taken in together, once it is complete."""
        meet = arrived.fields.get("meet")
        lines = [arrived]
        if meet is not None:
            lines = self._meets.setdefault(meet, [])
            lines.append(arrived)
            if len(lines) < len(arrived.fields["parties"]):
                return None
            del self._meets[meet]
            self._met.add(meet)
            # As in a file, a message between them is sent before it is received.
            lines.sort(key=lambda line: line.fields.get("kind") != "send")
        return _Unit(tuple(lines), deque(missing_of(lines)))

    def _advance(self, unit: _Unit) -> None:
        """Take in what can be taken in now: the unit, then those that waited for it, and so on."""
        ready = deque([unit])
        errors: list[TraceError] = []
        while ready:
            unit = ready.popleft()
            while unit.missing and self._is_here(unit.missing[0]):
                unit.missing.popleft()
            if unit.missing:
                self._filed.setdefault(unit.missing[0], []).append(unit)
                continue
            try:
                step = self._take_in(unit)
            except TraceError as error:
                errors.append(error)
                continue
            if self._filed:
                for line in step:
                    ready.extend(self._released(line))
            for listener in self._listeners:
                listener(step)
        if errors:
            raise errors[0]

    def _released(self, line: Line) -> Iterator[_Unit]:
        default = f"{line.fields['p']}:{line.position}"
        keys: list[Missing] = [("order", default), ("event", default)]
        if "id" in line.fields:
            keys.append(("event", line.name))
        if line.sends is not None and "msg" in line.fields:
            keys.append(("message", line.fields["msg"]))
        for key in keys:
            yield from self._filed.pop(key, ())

    def _is_here(self, missing: Missing) -> bool:
        what, name = missing
        if what == "message":
            return name in self._messages
        return (self._place(name) if what == "event" else self._default(name)) is not None

    def _place(self, name: str) -> Place | None:
        """The event of that name, given or `P:k`, if it has been taken in."""
        return self._names[name] if name in self._names else self._default(name)

    def _default(self, name: str) -> Place | None:
        """The k-th event of P, if that is what the name says."""
        owner = default_owner(name)
        process = None if owner is None else self._processes.get(owner[0])
        if owner is None or process is None or owner[1] > process.length:
            return None
        return process.number, owner[1]

    # ---- taking in ------------------------------------------------------------------------------

    def _take_in(self, unit: _Unit) -> Step:
        for line in unit.lines:
            if line.owner in self._early:
                self._early[line.owner].pop(line.position, None)
            if "id" in line.fields:
                self._early_names.pop(line.name, None)
        try:
            self._check_all(unit)
        except TraceError:
            # The places of the lines that are left out are free again.
            self._free.clear()
            self._met.discard(unit.lines[0].fields.get("meet", ""))
            raise
        places = [(self._process(line.owner).number, line.position) for line in unit.lines]
        step = tuple(
            [
                self._line(line, place, [other for other in places if other != place])
                for line, place in zip(unit.lines, places, strict=True)
            ]
        )
        self.taken += len(step)
        return step

    def _check_all(self, unit: _Unit) -> None:
        """Everything that may be wrong, before anything changes."""
        sent: dict[str, Flight] = {}
        received: set[str] = set()
        for line in unit.lines:
            fields, kind = line.fields, line.fields.get("kind")
            if kind == "send" and "msg" in fields:
                if fields["msg"] in self._messages or fields["msg"] in sent:
                    raise line.error(f"message {quoted(fields['msg'])} is sent twice")
                sent[fields["msg"]] = _message(line, (0, 0))
            if kind == "receive" and "msg" in fields:
                message = self._messages.get(fields["msg"]) or sent.get(fields["msg"])
                self._check_receive(line, message, fields["msg"] in received)
                received.add(fields["msg"])
            if kind == "exit":
                self._check_exit(line)

    def _check_receive(self, line: Arrived, message: Flight | None, is_again: bool) -> None:
        if message is None:
            wrong = "before it is sent"
        elif message.sent.to is not None and line.owner not in message.sent.to:
            wrong = "by a process that its send does not name in to"
        elif is_again if message.left is None else line.owner not in message.left:
            wrong = "a second time"
        else:
            return
        raise line.error(f"message {quoted(line.fields['msg'])} is received {wrong}")

    def _check_exit(self, line: Arrived) -> None:
        process = self._processes.get(line.owner)
        stack = process.stack if process is not None else []
        if not stack:
            raise line.error(f"exit of {quoted(line.fields['fn'])}, but no function is open")
        if stack[-1] != line.fields["fn"]:
            raise line.error(
                f"exit of {quoted(line.fields['fn'])}, but {quoted(stack[-1])} is the innermost open one"
            )

    def _process(self, name: str) -> _Process:
        if name not in self._processes:
            self._processes[name] = _Process(name, len(self._processes))
            self._spoken_of.pop(name, None)
        return self._processes[name]

    def _line(self, arrived: Arrived, place: Place, partners: Sequence[Place]) -> Line:
        process, fields = self._process(arrived.owner), arrived.fields
        process.length = arrived.position
        if "id" in fields and default_owner(fields["id"]) != (arrived.owner, arrived.position):
            self._names[fields["id"]] = place
            if default_owner(fields["id"]) is not None:
                self._odd.add(fields["id"])
        needs = list(partners)
        needs += [found for name in fields.get("after", ()) if (found := self._place(name)) is not None]
        sends = receives = None
        match fields.get("kind"):
            case "send":
                sends = self._send(arrived, place)
            case "receive" if "msg" in fields:
                receives = self._receive(arrived)
                needs.append(receives.place)
            case "enter":
                process.stack.append(fields["fn"])
            case "exit":
                process.stack.pop()
        if "to" in fields and sends is None:
            self._speak_of(fields["to"], arrived)
        if self.order == "causal":
            needs += self._conflicts(fields, place)
        others = tuple(dict.fromkeys(need for need in needs if need[0] != place[0]))
        return Line(arrived.name, *place, others, fields, sends, receives)

    def _send(self, line: Arrived, place: Place) -> Sent:
        message = _message(line, place)
        self._speak_of(message.sent.to or (), line)
        if "msg" in line.fields:
            self._messages[line.fields["msg"]] = message
        return message.sent

    def _speak_of(self, names: Iterable[str], line: Arrived) -> None:
        for name in names:
            if name not in self._processes:
                self._spoken_of.setdefault(name, line)

    def _receive(self, line: Arrived) -> Sent:
        name = line.fields["msg"]
        message = self._messages[name]
        left = set() if message.left is None else message.left - {line.owner}
        if left or self.remember:
            self._messages[name] = Flight(message.sent, left)
        else:
            del self._messages[name]
        return message.sent

    def _conflicts(self, fields: Mapping[str, Any], place: Place) -> list[Place]:
        read, written = fields.get("read", ()), fields.get("write", {})
        found = [self._last_write[name] for name in (*read, *written) if name in self._last_write]
        for name in written:
            found += self._reads.pop(name, {}).items()
            self._last_write[name] = place
        for name in read:
            if name not in written:
                self._reads.setdefault(name, {})[place[0]] = place[1]
        return found


def _message(line: Arrived, place: Place) -> Flight:
    to = tuple(line.fields["to"]) if "to" in line.fields else None
    sent = Sent(place, to, line.fields.get("tag"))
    return Flight(sent, None if to is None else set(to))
