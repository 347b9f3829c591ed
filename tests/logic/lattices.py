"""Small computations written out: every cut as a set of events, every class as its definition.

Events are numbers in an order in which they can happen. Processes are chains of events; the writes of the
shared variable are made a chain by extra order, as in causal order; sends and receives are ordered.
Nothing of the code under test is used to decide whether a set of cuts has a class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Any

from possibly.logic.predicates.functions import MISSING, compile_predicate
from possibly.logic.syntax import At, Done, Leaf, Local, Node, Shared, Stack, Transit

PROCESSES = ("P1", "P2", "P3")
VALUES = (0, 1, 2, 2, 3, "a", MISSING)
Cut = frozenset[int]


@dataclass(frozen=True)
class Message:
    send: int
    receive: int | None
    sender: str
    receiver: str | None
    tag: str


@dataclass(frozen=True)
class Computation:
    process: tuple[str, ...]
    """Of each event."""
    below: tuple[Cut, ...]
    """Of each event: those that happened before it, itself included."""
    values: dict[tuple[str, str], list[Any]]
    """Of each variable: its value after so many events of its chain."""
    writes: tuple[int, ...]
    messages: tuple[Message, ...]
    labels: tuple[str, ...]

    def cuts(self) -> list[Cut]:
        found = {frozenset[int]()}
        for event in range(len(self.process)):
            found |= {cut | {event} for cut in found if self.below[event] <= cut | {event}}
        return sorted(found, key=len)

    def position(self, process: str, cut: Cut) -> int:
        return sum(self.process[event] == process for event in cut)

    def value(self, leaf: Leaf, cut: Cut) -> Any:
        match leaf:
            case Local(process, variable):
                return self.values[process, variable][self.position(process, cut)]
            case Shared(variable):
                return self.values["", variable][len(cut & set(self.writes))]
            case Done(process):
                return self.position(process, cut) == self.process.count(process)
            case At(process, label):
                mine = [event for event in cut if self.process[event] == process]
                return bool(mine) and self.labels[max(mine)] == label
            case Stack(_, process, _):
                return self.position(process, cut) in (1, 2)
            case Transit(None):
                return sum(self.in_transit(message, cut) for message in self.messages)
            case Transit(sender, receiver, tag):
                return sum(
                    self.in_transit(message, cut)
                    for message in self.messages
                    if (message.sender, message.receiver) == (sender, receiver) and tag in (None, message.tag)
                )
        raise TypeError

    def in_transit(self, message: Message, cut: Cut) -> bool:
        return message.send in cut and message.receive not in cut

    def satisfying(self, node: Node) -> set[Cut]:
        predicate = compile_predicate(node)
        cuts = self.cuts()
        return {
            cut for cut in cuts if predicate.evaluate([self.value(leaf, cut) for leaf in predicate.leaves])
        }


def random_computation(random: Random, events: int = 7) -> Computation:
    process = tuple(random.choice(PROCESSES) for _ in range(events))
    writes = tuple(event for event in range(events) if random.random() < 0.3)
    messages = _messages(random, process)
    before: list[set[int]] = [set() for _ in process]
    for event in range(events):
        before[event] |= {other for other in range(event) if process[other] == process[event]}
        if event in writes:
            before[event] |= {other for other in writes if other < event}
    for message in messages:
        if message.receive is not None:
            before[message.receive].add(message.send)
    below: list[Cut] = []
    for event in range(events):
        below.append(frozenset({event}.union(*[below[other] for other in before[event]])))
    values = {
        (owner, variable): [random.choice(VALUES) for _ in range(events + 1)]
        for owner in (*PROCESSES, "")
        for variable in ("x", "y", "n")
    }
    labels = tuple(random.choice(["m1", "m2"]) for _ in process)
    return Computation(process, tuple(below), values, writes, messages, labels)


def _messages(random: Random, process: tuple[str, ...]) -> tuple[Message, ...]:
    free = set(range(len(process)))
    found = []
    for send in range(len(process)):
        if send not in free or random.random() < 0.3:
            continue
        later = [event for event in free if event > send]
        kind = random.choice(["received", "received", "received", "lost", "nowhere"])
        if kind == "received" and later:
            receive = random.choice(later)
            free -= {send, receive}
            found.append(Message(send, receive, process[send], process[receive], random.choice("ab")))
        elif kind != "received":
            to = random.choice(PROCESSES) if kind == "lost" else None
            found.append(Message(send, None, process[send], to, random.choice("ab")))
    return tuple(found)


# ---- the classes, by definition -----------------------------------------------------------------


def _closed(found: set[Cut], combine: Callable[[Cut, Cut], Cut]) -> bool:
    return all(combine(one, two) in found for one, two in combinations(found, 2))


def linear(found: set[Cut], cuts: list[Cut]) -> bool:
    return _closed(found, frozenset.intersection)


def post_linear(found: set[Cut], cuts: list[Cut]) -> bool:
    return _closed(found, frozenset.union)


def regular(found: set[Cut], cuts: list[Cut]) -> bool:
    return linear(found, cuts) and post_linear(found, cuts)


def stable(found: set[Cut], cuts: list[Cut]) -> bool:
    return all(later in found for one in found for later in cuts if one <= later)


def observer_independent(found: set[Cut], cuts: list[Cut]) -> bool:
    """From every cut on: if some observation meets the set then all do."""
    some: set[Cut] = set()
    every: set[Cut] = set()
    known = set(cuts)
    events = frozenset().union(*cuts)
    for cut in sorted(cuts, key=len, reverse=True):
        after = [cut | {event} for event in events - cut if cut | {event} in known]
        if cut in found or any(later in some for later in after):
            some.add(cut)
        if cut in found or (after and all(later in every for later in after)):
            every.add(cut)
    return some == every


DEFINITIONS: dict[str, Callable[[set[Cut], list[Cut]], bool]] = {
    "linear": linear,
    "post-linear": post_linear,
    "regular": regular,
    "stable": stable,
    "observer-independent": observer_independent,
}


def has_class(name: str, found: set[Cut], cuts: list[Cut]) -> bool:
    """Whether the set of cuts has the class; classes of form alone are not asked for here."""
    if name.startswith("co-"):
        return DEFINITIONS[name.removeprefix("co-")](set(cuts) - found, cuts)
    return DEFINITIONS[name](found, cuts)


SEMANTIC = (*DEFINITIONS, *[f"co-{name}" for name in DEFINITIONS])
