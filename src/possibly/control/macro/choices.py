"""What there is to choose at a collective breakpoint, and which choices touch each other.

Choices that touch each other form a group; of a group one is made, or none for now. A selection takes one
choice of each group or lets the group wait: another sender may come up while the others go on. Nothing is
tried twice: choices that a path leaves to its siblings sleep (sleep sets, "Partial-order methods for the
verification of concurrent systems", chapter 5), and wake when something that depends on them is chosen. A
path on which everything sleeps is a repetition of one that was taken. A group waits only if some process
that is known to use its channels, from this execution or an earlier one, could still bring a new choice;
`Users` is that knowledge, and an explorer comes back when it grows.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from possibly.control.macro.model import Channel, Choice, Process, Selection, process_of


class Users:
    """Who was ever seen to send to a channel and to receive from it."""

    def __init__(self) -> None:
        self.senders: dict[Channel, set[Process]] = {}
        self.receivers: dict[Channel, set[Process]] = {}
        self.count = 0
        """How much is known."""

    def sends(self, process: Process, channel: Channel) -> None:
        self._note(self.senders.setdefault(channel, set()), process)

    def receives(self, process: Process, channel: Channel) -> None:
        self._note(self.receivers.setdefault(channel, set()), process)

    def _note(self, known: set[Process], process: Process) -> None:
        self.count += process not in known
        known.add(process)


class Branch(NamedTuple):
    """One way on from a collective breakpoint."""

    selection: Selection
    asleep: frozenset[Choice]
    """What need not be chosen below, as long as nothing depends on it."""


class Group(NamedTuple):
    """Choices that exclude or touch each other: one of them is made, or none for now."""

    choices: tuple[Choice, ...]
    channels: frozenset[Channel]
    grows: bool
    """Another choice may come in any case."""

    def may_change(self, users: Users, ended: frozenset[Process]) -> bool:
        """Whether somebody who is known to use the channels could still bring a new choice."""
        senders = {process_of(choice.message) for choice in self.choices if choice.message}
        receivers = {choice.process for choice in self.choices}
        for channel in self.channels:
            if users.senders.get(channel, set()) - senders - receivers - ended:
                return True
            if users.receivers.get(channel, set()) - receivers - ended:
                return True
        return self.grows


class Space(NamedTuple):
    """All there is to choose at a collective breakpoint."""

    groups: tuple[Group, ...]
    ended: frozenset[Process]
    asleep: frozenset[Choice]
    conflicts: frozenset[tuple[Choice, Choice]]
    """Choices of different queues of which at most one agrees with what came before what, both ways round."""

    def branches(self, users: Users) -> list[Branch]:
        """The ways on; none if everything sleeps. The more users are known, the more ways, never fewer."""
        options: list[list[Choice | None]] = []
        for group in self.groups:
            awake: list[Choice | None] = [choice for choice in group.choices if choice not in self.asleep]
            may_wait = len(self.groups) > 1 and (not awake or group.may_change(users, self.ended))
            options.append([*awake, None] if may_wait else awake)
        found = []
        for chosen in product(*options):
            selection = tuple([choice for choice in chosen if choice is not None])
            if selection:
                found.append(Branch(selection, self._sleeping(chosen)))
        return found

    def _sleeping(self, chosen: tuple[Choice | None, ...]) -> frozenset[Choice]:
        """What sleeps after a selection: left to siblings, and not dependent on what was chosen."""
        left = set(self.asleep)
        for group, choice in zip(self.groups, chosen, strict=True):
            made = group.choices
            left.update(made if choice is None else made[: made.index(choice)])
        taken = [choice for choice in chosen if choice is not None]
        return frozenset(each for each in left if not any(self._depend(each, choice) for choice in taken))

    def _depend(self, first: Choice, second: Choice) -> bool:
        return depend(first, second) or (first, second) in self.conflicts


QUEUED = ("take", "nothing")


def depend(first: Choice, second: Choice) -> bool:
    """Whether the order of the two choices matters."""
    if first.receive == second.receive and first.kind != "enter":
        return True
    if "enter" in (first.kind, second.kind):
        both = {first.kind, second.kind} <= {"enter", "nothing"}
        return both and first.channel == second.channel
    if first.kind in QUEUED and second.kind in QUEUED and first.channel:
        return first.channel == second.channel
    return first.kind == second.kind == "match" and first.message == second.message


def is_queued(choice: Choice) -> bool:
    """Whether it speaks of a queue; waits that find nothing have no channel and no receive."""
    return choice.kind == "take" or (choice.kind == "nothing" and bool(choice.channel))


def reached(start: Choice, after: dict[Choice, set[Choice]]) -> set[Choice]:
    found: set[Choice] = set()
    pending = [start]
    while pending:
        fresh = after[pending.pop()] - found
        found |= fresh
        pending.extend(fresh)
    return found


def groups_of(choices: list[Choice], conflicts: frozenset[tuple[Choice, Choice]]) -> list[list[Choice]]:
    """Choices that hang together, directly or by others."""
    groups: list[list[Choice]] = []
    for choice in choices:
        touched = [
            group
            for group in groups
            if any(depend(choice, other) or (choice, other) in conflicts for other in group)
        ]
        merged = [other for group in touched for other in group] + [choice]
        groups = [group for group in groups if group not in touched] + [merged]
    return groups
