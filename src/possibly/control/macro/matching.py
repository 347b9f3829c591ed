"""Which operations complete in the next macro-step, and where there is a choice.

Here belongs the meaning of the operations, apart from any program. `Board` knows what every process is about
to do, the messages that are under way and the receives that are posted.

Theory of operation. Whatever can complete in one way only completes at once: a send, a receive from a named
source, a collective at which everybody has arrived. A wildcard receive is decided only when nothing of that
kind is left, for then every sender that can come to its send without this receive has come to it ("Dynamic
verification of MPI programs with reductions in presence of split operations and relaxed orderings", the
order POE). What there is to choose then is a `Space` (see `choices`).

Order in a channel. A mailbox of MPI keeps the messages of one sender in order, for those that one receive
would match. A queue is a line: its messages enter one after the other and are taken in that order. Which
order they entered in is decided by who takes them; that decision must agree with everything else that is
known about what came before what, in this queue and in others: `Before` is that knowledge, and a message can
be taken only if no other one in the queue must have entered before it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from possibly.control.macro.before import Before
from possibly.control.macro.choices import Group, Space, Users, groups_of, is_queued, reached
from possibly.control.macro.loops import Loop
from possibly.control.macro.model import (
    Channel,
    Choice,
    Completion,
    Message,
    Operation,
    Process,
    Receive,
    ReceiveName,
    Selection,
    process_of,
)
from possibly.control.macro.touches import Opened, Touches

MANY_ORDERS = "tasks of an event loop: more orders than were looked at"
MOST_POLLS = 3
"""How often in a row a process may find nothing though something is under way."""


class Arrival(NamedTuple):
    """The events of a process that has come to an operation, for whoever follows the path."""

    event: int
    message: Message | None
    """That it is about to send."""
    sends: tuple[tuple[int, Message], ...]
    """What it sent on the way without stopping."""
    posts: tuple[int, ...]


class Board:
    """The state of all communication. Processes report by `arrive`; `complete` and `choose` make a step."""

    def __init__(self, users: Users) -> None:
        self.users = users
        self.pending: dict[Process, Operation] = {}
        self.ended: set[Process] = set()
        self.daemons: set[Process] = set()
        """Processes that are not waited for at the end."""
        self.messages: dict[Channel, list[Message]] = {}
        """Sent and not matched yet, in the order in which they were sent."""
        self.outside: dict[Channel, list[Message]] = {}
        """For channels of bounded capacity: sends that have not entered."""
        self.posted: dict[Process, list[Receive]] = {}
        """Receives that are not matched yet, in the order in which they were posted."""
        self.matched: dict[ReceiveName, Message] = {}
        self.deliveries: dict[Process, list[tuple[Receive, Message]]] = {}
        """Matched and not told yet."""
        self.log: list[tuple[ReceiveName, Message]] = []
        """Every match so far, for the reader of a path."""
        self.before = Before()
        self.touches = Touches(self.before)
        self._last: dict[Process, int] = {}
        """The event of each process's newest operation."""
        self._entries_by: dict[tuple[Process, Channel], int] = {}
        self._bounds: dict[Channel, list[int]] = {}
        """Events that come before everything that enters the channel from now on."""
        self._takes: dict[Channel, list[int]] = {}
        """Who took from a queue, in order."""
        self._arrivals: dict[Channel, dict[Process, int]] = {}
        """Of each collective: who has come to it, at which event."""
        self._posts: dict[ReceiveName, int] = {}
        """The event at which each receive was posted."""
        self._sent: dict[Process, Message] = {}
        self._counts: dict[Process, int] = {}
        self._choices: dict[Process, Choice] = {}
        self._declined: dict[Process, tuple[frozenset[str], int]] = {}
        """What was there when a process last found nothing, and how many times in a row."""
        self.uncontrolled: dict[str, None] = {}
        """What was left out."""
        self._acted: dict[Process, list[int]] = {}
        """Of a task of an event loop: the event after each of its puts and gets."""
        self.loops: dict[str, Loop] = {}
        """The event loops that run tasks, by their threads."""
        self.done: dict[Process, int] = {}
        """How many operations each process has completed."""
        self._requests: set[ReceiveName] = set()
        """Receives that did not stop their processes: these ask for them later."""
        self.entries: dict[str, int] = {}
        """The events at which messages came into channels of bounded capacity."""

    # ---- reports --------------------------------------------------------------------------------

    def arrive(self, process: Process, operation: Operation) -> Arrival:
        """The process has come to its next operation."""
        sends, posts, since = [], [], self._last.get(process)
        for sent in operation.sends:
            self._last[process] = self.before.event(self._last.get(process))
            self._come_after(process, sent)
            sends.append((self._last[process], self._send(process, sent)))
            self._follow(process, sent, sends[-1][1].name)
            self._act(process, sent)
        for receive in operation.posts:
            self._last[process] = self.before.event(self._last.get(process))
            self._post(receive)
            self._requests.add(receive.name)
            posts.append(self._last[process])
        self.pending[process] = operation
        self._last[process] = self.before.event(self._last.get(process))
        self._come_after(process, operation)
        if operation.receive is not None:
            self._post(operation.receive)
        message = self._send(process, operation) if operation.kind == "send" else None
        if message is not None:
            self._follow(process, operation, message.name)
        elif operation.receive is not None:
            self._follow(process, operation, operation.receive.name)
        if operation.kind == "collective":
            self._arrivals.setdefault(operation.channel, {})[process] = self._last[process]
        elif operation.kind == "end":
            self.ended.add(process)
        self.touches.add(process, since, self._last[process], operation.touched)
        return Arrival(self._last[process], message, tuple(sends), tuple(posts))

    def _follow(self, process: Process, operation: Operation, name: str) -> None:
        if operation.loop:
            self.loops.setdefault(operation.loop, Loop()).did(process, operation, name)

    def _come_after(self, process: Process, operation: Operation) -> None:
        """What a task of an event loop has waited for, beside messages, comes before what it does then."""
        for who, count in operation.after:
            if count <= len(self._acted.get(who, ())):
                self.before.add(self._acted[who][count - 1], self._last[process])

    def _act(self, process: Process, operation: Operation) -> None:
        if operation.loop:
            self._acted.setdefault(process, []).append(self._last[process])

    def loops_allow(self, selection: Selection = ()) -> bool:
        """Whether the event loops could have come to this, and go on with these choices."""
        if not self.loops:
            return True
        matched = {name: message.name for name, message in self.matched.items()}
        matched.update({each.receive: each.message for each in selection if each.kind in ("match", "take")})
        for loop in self.loops.values():
            found = loop.can(matched)
            if found is None:
                self.uncontrolled[MANY_ORDERS] = None
            if found is False:
                return False
        return True

    def newest(self, process: Process) -> int:
        """The last event of the process."""
        return self._last[process]

    def _post(self, receive: Receive) -> None:
        self.posted.setdefault(receive.process, []).append(receive)
        self._posts[receive.name] = self._last[receive.process]
        for channel in receive.channels:
            self.users.receives(receive.process, channel)

    def start(self, child: Process, parent: Process | None, touched: Opened = ()) -> None:
        """A process begins, after what its parent did; these files it had opened."""
        if parent is not None and touched:
            since = self._last.get(parent)
            self._last[parent] = self.before.event(since)
            self.touches.add(parent, since, self._last[parent], touched)
        self._last[child] = self.before.event(self._last.get(parent) if parent else None)

    def _send(self, process: Process, operation: Operation) -> Message:
        self._counts[process] = self._counts.get(process, 0) + 1
        number, channel = self._counts[process], operation.channel
        name = f"{process}#{number}"
        entry = self._entry(process, operation)
        message = Message(
            name, process, channel, operation.tag, number, entry, operation.order,
            operation.synchronous, operation.to, operation.at, operation.value,
        )  # fmt: skip
        self.users.sends(process, channel)
        self._sent[process] = message
        waiting = self.outside if operation.capacity else self.messages
        waiting.setdefault(channel, []).append(message)
        return message

    def _entry(self, process: Process, operation: Operation) -> int:
        """The event at which the message comes into its channel."""
        event, key = self._last[process], (process, operation.channel)
        if operation.order == "later":
            event = self.before.event(event, self._entries_by.get(key))
        elif operation.capacity:
            return event  # it is known when it enters
        self._entries_by[key] = event
        for bound in self._bounds.get(operation.channel, ()):
            self.before.add(bound, event)
        return event

    # ---- what completes without a choice --------------------------------------------------------

    def complete(self) -> list[Completion]:
        """Matches what can be matched in one way only; then the operations that are done."""
        self.can_complete()
        found = [self._completion(process) for process in sorted(self.pending) if self._is_done(process)]
        for each in found:
            del self.pending[each.process]
            self.done[each.process] = self.done.get(each.process, 0) + 1
        return found

    def can_complete(self) -> bool:
        """Whether the next macro-step needs no choice."""
        while self._match_named():
            pass
        return any(self._is_done(process) for process in self.pending)

    def go_on(self) -> list[Process]:
        """Processes whose operation is no communication and can be done: they go on without a macro-step."""
        found = [p for p, o in sorted(self.pending.items()) if o.kind == "go" or self._joins(o)]
        for process in found:
            operation = self.pending.pop(process)
            if operation.target in self._last:
                self.before.add(self._last[operation.target], self._last[process])
        return found

    def _joins(self, operation: Operation) -> bool:
        return operation.kind == "join" and operation.target in self.ended

    def _match_named(self) -> bool:
        progress = False
        for receives in list(self.posted.values()):
            for receive in list(receives):
                if receive.source is not None and not receive.optional:
                    for message in self._candidates(receive):
                        self._match(receive, message)
                        progress = True
                        break
        return progress

    def _match(self, receive: Receive, message: Message) -> None:
        self.posted[receive.process].remove(receive)
        self.matched[receive.name] = message
        if not receive.peeks:
            self.messages[message.channel].remove(message)
        self.deliveries.setdefault(receive.process, []).append((receive, message))
        self.log.append((receive.name, message))
        if message.synchronous and not receive.peeks:
            last = self._last[message.sender]
            self._last[message.sender] = self.before.event(last, self._posts[receive.name])
        if message.order != "source" and not receive.peeks:
            self._take(receive.process, message)

    def _take(self, process: Process, message: Message) -> None:
        """The message was the first in the queue."""
        channel, event = message.channel, self._last[process]
        for other in _heads(self.messages[channel]):
            self.before.add(message.entry, other.entry)
        takes = self._takes.setdefault(channel, [])
        if takes:
            self.before.add(takes[-1], event)
        self.before.add(message.entry, event)
        takes.append(event)
        self._bounds[channel] = [message.entry]

    def _is_done(self, process: Process) -> bool:
        operation = self.pending[process]
        if operation.loop and self._is_blocked(operation.loop):
            return False
        match operation.kind:
            case "send":
                message = self._sent[process]
                if operation.synchronous:
                    return message not in self.messages[operation.channel]
                return message not in self.outside.get(operation.channel, ())
            case "receive":
                assert operation.receive is not None
                return operation.receive.name in self.matched or process in self._choices
            case "wait":
                if operation.first or operation.optional:
                    return process in self._choices or not operation.requests
                return all(name in self.matched for name in operation.requests)
            case "collective":
                arrived = self._arrivals[operation.channel]
                return all(member in arrived for member in operation.members)
        return False

    def _is_blocked(self, thread: Process) -> bool:
        """Whether a task has blocked the thread of its loop, by an operation that is none of asyncio."""
        pending = self.pending.get(thread)
        return pending is not None and pending.kind not in ("await", "end")

    def _completion(self, process: Process) -> Completion:
        operation = self.pending[process]
        told = self.deliveries.pop(process, [])
        if operation.kind == "collective":
            self._meet(process, operation)
        choice = self._choices.pop(process, None)
        is_nothing = choice is not None and choice.kind == "nothing"
        if not is_nothing:
            finished = _finished(operation, choice)
            self._requests.difference_update(finished)
            entries = [self.matched[name].entry for name in finished]
            self._last[process] = self.before.event(self._last[process], *entries)
        self._act(process, operation)
        deliveries = tuple([(r.name, m.name, m.sender, m.tag) for r, m in told])
        first = choice.message if choice is not None and choice.kind == "first" else ""
        return Completion(process, deliveries, first, is_nothing)

    def _meet(self, process: Process, operation: Operation) -> None:
        """What a process does after a collective comes after what those it waited for did before it."""
        arrived = self._arrivals[operation.channel]
        events = [arrived[member] for member in operation.members]
        self._last[process] = self.before.event(self._last[process], *events)

    # ---- candidates -----------------------------------------------------------------------------

    def _candidates(self, receive: Receive) -> list[Message]:
        """The messages that this receive could get now."""
        found = []
        for channel in receive.channels:
            there = self.messages.get(channel, [])
            is_open = receive.source is None and receive.tag is None
            fitting = there if is_open else [m for m in there if _fits(receive, m)]
            found += [
                message for message in self._least(fitting) if not self._is_claimed_before(receive, message)
            ]
        return found

    def _least(self, fitting: list[Message]) -> list[Message]:
        """Those before which no other message of these must be received: of each sender the first at most.

        What another message of that sender comes before, its first one does too.
        """
        if fitting and fitting[0].order == "line":
            return fitting[:1]
        heads = _heads(fitting)
        return [each for each in heads if each.order == "source" or not self._has_earlier(each, heads)]

    def _has_earlier(self, message: Message, others: list[Message]) -> bool:
        return any(self.before.holds(each.entry, message.entry) for each in others if each is not message)

    def _is_claimed_before(self, receive: Receive, message: Message) -> bool:
        """Whether a receive that the same process posted earlier would take the message."""
        for earlier in self.posted[receive.process]:
            if earlier is receive:
                return False
            if message.channel in earlier.channels and _fits(earlier, message) and not earlier.peeks:
                return True
        return False

    # ---- choices --------------------------------------------------------------------------------

    def choices(self) -> list[Choice]:
        """Everything that could be decided now; asked for when nothing completes without a choice."""
        found: list[Choice] = []
        for process in sorted(self.posted):
            for receive in self.posted[process]:
                candidates = self._candidates(receive)
                found += [Choice(_kind(m), receive.name, m.name, m.channel) for m in candidates]
                if receive.optional and self._may_find_nothing(receive, candidates):
                    alone = len(receive.channels) == 1 and not receive.mailbox
                    channel = receive.channels[0] if alone else ""
                    found.append(Choice("nothing", receive.name, "", channel))
        for channel, messages in sorted(self.outside.items()):
            found += self._entries(channel, messages)
        for process, operation in sorted(self.pending.items()):
            if operation.kind == "wait" and (operation.first or operation.optional):
                ready = self._ready(operation)
                found += [Choice("first", f"{process}?", name) for name in ready]
                if operation.optional and self._may_poll_again(process, frozenset(ready)):
                    found.append(Choice("nothing", f"{process}?"))
        return found

    def _ready(self, operation: Operation) -> list[ReceiveName]:
        """The requests with which the wait can go on; if it is for all of them, the last stands for all."""
        done = [name for name in operation.requests if name in self.matched]
        if operation.first:
            return done
        return done[-1:] if len(done) == len(operation.requests) else []

    def _may_find_nothing(self, receive: Receive, candidates: list[Message]) -> bool:
        """Not if a message is there for sure; nor too often in a row, or a process could poll for ever."""
        now = [self._last[receive.process]]
        if not receive.mailbox:
            now += [event for channel in receive.channels for event in self._takes.get(channel, [])[-1:]]
        there = _heads(
            m for channel in receive.channels for m in self.messages.get(channel, ()) if _fits(receive, m)
        )
        if self._any_before([message.entry for message in there], now):
            return False
        return self._may_poll_again(receive.process, frozenset(m.name for m in candidates))

    def _may_poll_again(self, process: Process, there: frozenset[str]) -> bool:
        known, times = self._declined.get(process, (frozenset[str](), 0))
        if not there or known != there or times < MOST_POLLS:
            return True
        self.uncontrolled[f"{process} polls: it was let find nothing {MOST_POLLS} times in a row"] = None
        return False

    def _note_poll(self, process: Process, there: frozenset[str]) -> None:
        known, times = self._declined.get(process, (frozenset[str](), 0))
        self._declined[process] = there, (times + 1 if known == there else 1)

    def _entries(self, channel: Channel, messages: list[Message]) -> list[Choice]:
        capacity = max((o.capacity for o in self.pending.values() if o.channel == channel), default=0)
        if len(self.messages.get(channel, ())) >= capacity:
            return []
        return [Choice("enter", f"{m.sender}?", m.name, channel) for m in messages]

    def space(self, asleep: frozenset[Choice]) -> Space:
        """What there is to choose at this breakpoint."""
        choices = self.choices()
        conflicts = self._conflicts(choices)
        groups = tuple([self._group(group) for group in groups_of(choices, conflicts)])
        return Space(groups, frozenset(self.ended), asleep, conflicts)

    def _conflicts(self, choices: list[Choice]) -> frozenset[tuple[Choice, Choice]]:
        """A choice says that some events come before others; those that say so cannot all be right."""
        queued = {choice: self._said(choice) for choice in choices if is_queued(choice)}
        after: dict[Choice, set[Choice]] = {choice: set() for choice in queued}
        for one, (_, later) in queued.items():
            for two, (sooner, _) in queued.items():
                if one.channel != two.channel and self._any_before(later, sooner):
                    after[one].add(two)
        reach = {choice: reached(choice, after) for choice in queued}
        return frozenset(
            (one, two) for one in queued for two in reach[one] if one != two and one in reach[two]
        )

    def _any_before(self, events: list[int], others: list[int]) -> bool:
        return any(self.before.holds(event, other) for event in events for other in others)

    def _said(self, choice: Choice) -> tuple[list[int], list[int]]:
        """The events that this choice puts before others, and the others."""
        channels = self._receive(choice).channels
        there = [message for channel in channels for message in self.messages.get(channel, ())]
        if choice.kind == "nothing":
            takes = self._takes.get(choice.channel, [])[-1:]
            return [self._last[choice.process], *takes], [message.entry for message in _heads(there)]
        rest = _heads(m for m in there if m.channel == choice.channel and m.name != choice.message)
        return [self._message(choice).entry], [message.entry for message in rest]

    def _group(self, choices: list[Choice]) -> Group:
        channels = {choice.channel for choice in choices if choice.channel}
        for receive in (r for receives in self.posted.values() for r in receives):
            if any(choice.receive == receive.name for choice in choices):
                channels.update(receive.channels)
        waits = [self.pending[c.process] for c in choices if c.process in self.pending and not c.channel]
        unmatched = any(name not in self.matched for wait in waits for name in wait.requests)
        senders = {process_of(choice.message) for choice in choices if choice.message}
        hidden = any(m.sender not in senders for channel in channels for m in self.messages.get(channel, ()))
        return Group(tuple(choices), frozenset(channels), unmatched or hidden)

    def choose(self, selection: Selection) -> None:
        """Makes these choices; `complete` then yields the operations that are done."""
        for choice in selection:
            if choice.kind in ("match", "take"):
                self._match(self._receive(choice), self._message(choice))
            elif choice.kind == "enter":
                self._enter(choice)
            elif choice.kind == "nothing":
                self._decline(choice)
            else:
                self._choices[choice.process] = choice

    def _receive(self, choice: Choice) -> Receive:
        return next(each for each in self.posted[choice.process] if each.name == choice.receive)

    def _message(self, choice: Choice) -> Message:
        return next(each for each in self.messages[choice.channel] if each.name == choice.message)

    def _enter(self, choice: Choice) -> None:
        outside = self.outside[choice.channel]
        message = next(each for each in outside if each.name == choice.message)
        outside.remove(message)
        entered = self._entries_by.get(("", choice.channel))
        bounds = (*self._takes.get(choice.channel, [])[-1:], *self._bounds.get(choice.channel, ()))
        entry = self.before.event(message.entry, entered, *bounds)
        self._entries_by["", choice.channel] = self.entries[message.name] = entry
        self._last[message.sender] = self.before.event(self._last[message.sender], entry)
        self.messages.setdefault(choice.channel, []).append(message._replace(order="line", entry=entry))

    def _decline(self, choice: Choice) -> None:
        """Everything that comes into the channels comes after this."""
        wait = self.pending[choice.process]
        if wait.kind == "wait":
            self._note_poll(choice.process, frozenset(self._ready(wait)))
            self._choices[choice.process] = choice
            return
        receive = self._receive(choice)
        self._note_poll(receive.process, frozenset(m.name for m in self._candidates(receive)))
        event = self._last[receive.process]
        for channel in receive.channels if not receive.mailbox else ():
            takes = self._takes.setdefault(channel, [])
            if takes:
                self.before.add(takes[-1], event)
            takes.append(event)
            self._bounds.setdefault(channel, []).append(event)
            for message in _heads(self.messages.get(channel, ())):
                self.before.add(event, message.entry)
        self.posted[receive.process].remove(receive)
        self._choices[receive.process] = choice

    # ---- what equal states have in common -------------------------------------------------------

    def sources(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """The events of which it may be asked what comes after them, or that others may be put before."""
        for process, event in self._last.items():
            if process not in self.ended:
                yield ("last", process), event
        for message in self.under_way():
            yield ("entry", message.name), message.entry
        for role, _, until in self.touches.all():
            if until is not None:
                yield ("until", *role), until

    def targets(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """The other events of which it may be asked what comes before them, or before what follows them."""
        for process in self.ended:
            yield ("last", process), self._last[process]
        for role, since, _ in self.touches.all():
            if since is not None:
                yield ("since", *role), since
        for (process, channel), event in self._entries_by.items():
            yield ("entries", process, channel), event
        for channel, takes in self._takes.items():
            yield ("take", channel), takes[-1]
        for channel, bounds in self._bounds.items():
            for number, event in enumerate(bounds):
                yield ("bound", channel, str(number)), event
        for channel, arrived in self._arrivals.items():
            for process, event in arrived.items():
                yield ("arrival", channel, process), event
        for receives in self.posted.values():
            for receive in receives:
                yield ("post", receive.name), self._posts[receive.name]
        for name in self._requests & self.matched.keys():
            yield ("request", name), self.matched[name].entry

    def under_way(self) -> Iterator[Message]:
        """What is sent and not taken yet, or matched and not told."""
        for deliveries in self.deliveries.values():
            yield from (message for _, message in deliveries)
        for channels in (self.messages, self.outside):
            for there in channels.values():
                yield from there

    def left(self) -> Hashable:
        """What else is there, beside operations and messages."""
        told = [(p, [(r.name, m.name) for r, m in there]) for p, there in sorted(self.deliveries.items())]
        return (
            tuple([role for role, _, _ in self.touches.all()]),
            frozenset(self.done.items()),
            frozenset(self._counts.items()),
            frozenset((name, self.matched[name].name) for name in self._requests & self.matched.keys()),
            frozenset(self._declined.items()),
            frozenset(self._choices.items()),
            repr([each for each in told if each[1]]),
        )

    # ---- what a reader wants to know ------------------------------------------------------------

    def transit(self) -> list[Message]:
        """The messages that are sent and not received; not those whose send is still to complete."""
        sending = {self._sent[process].name for process, each in self.pending.items() if each.kind == "send"}
        found = [message for messages in self.messages.values() for message in messages]
        return [message for message in found if message.name not in sending]

    def unreceived(self) -> list[Message]:
        """What is left in mailboxes: MPI wants every message received."""
        return [each for messages in self.messages.values() for each in messages if each.order == "source"]

    @property
    def all_ended(self) -> bool:
        return set(self.pending) <= self.ended

    @property
    def only_daemons(self) -> bool:
        """Whether all have ended that are waited for at the end."""
        return set(self.pending) <= self.ended | self.daemons


def _finished(operation: Operation, choice: Choice | None) -> tuple[ReceiveName, ...]:
    """The receives whose messages a process knows of when the operation is done, and not before."""
    if operation.receive is not None:
        return (operation.receive.name,)
    return (choice.message,) if choice is not None and operation.first else operation.requests


def _fits(receive: Receive, message: Message) -> bool:
    return receive.source in (None, message.sender) and receive.tag in (None, message.tag)


def _kind(message: Message) -> str:
    return "match" if message.order == "source" else "take"


def _heads(messages: Iterable[Message]) -> list[Message]:
    """The first message of each sender to each channel, before which none of its others enters."""
    found: dict[tuple[Process, Channel], Message] = {}
    for message in messages:  # each sender's are in the order in which it sent them
        found.setdefault((message.sender, message.channel), message)
    return list(found.values())
