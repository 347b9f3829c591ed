"""Occurrences of an expression all of whose events bear one variable: `send(M); receive(M)`.

Here belongs looking for them value by value. The events of an occurrence have the same value, so those of one
value are a run of their own, mostly a small one, while among all events every message that was ever sent is
the beginning of a set that stays under way.

An occurrence has no event of the expression, of whatever value, causally between two of its events. There is
one between them iff some latest event before a member, itself no member, comes after a member: along a chain
from the event between to the member, the last one that is no member is such a one. So whatever is found among
the events of one value is looked at once more, with clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from possibly.detection.limits import Budget
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.occurrences import Growth, occurrences
from possibly.detection.paths.projection import projection
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.syntax import Atom, Choice, Control, Expression, Path, Together, Variable
from possibly.logic.paths.syntax import Sequence as InOrder
from possibly.order.knowledge import Knowledge

MOST_OF_ONE = 100
"""Events of one value up to which their order is worked out pair by pair."""

Before = Callable[[int, int], bool]


def bears_one_variable(expression: Expression) -> bool:
    """Whether each event has the same variable as its only argument, and nothing is repeated."""
    found: set[str] = set()
    pending: list[Path] = [expression.root]
    while pending:
        match pending.pop():
            case InOrder(left, right) | Choice(left, right) | Together(left, right):
                pending += left, right
            case Atom(Control(arguments=(Variable(name),))):
                found.add(name)
            case _:
                return False
    return len(found) == 1


def all_occurrences(meaning: Meaning, machine: Machine, budget: Budget) -> Iterator[tuple[int, ...]]:
    """The events of every occurrence, value by value where that can be."""
    if bears_one_variable(machine.expression.expression) and not meaning.computation.joint:
        found = occurrences_by_value(meaning, machine, budget)
        if found is not None:
            return found
    return occurrences(meaning, machine, budget)


def occurrences_by_value(
    meaning: Meaning, machine: Machine, budget: Budget
) -> Iterator[tuple[int, ...]] | None:
    """The events of every occurrence, in the order of their last ones; None: a value has too many events."""
    last = _last_of_each(meaning)
    return None if last is None else _found(last, meaning, machine, budget)


def _last_of_each(meaning: Meaning) -> bytearray | None:
    """For each event whether no later one has its value; None if too many have one."""
    seen: dict[tuple[Hashable, ...], tuple[int, int]] = {}
    for step, symbols in enumerate(meaning.all_symbols):
        if symbols:
            values = meaning.values(step)
            count = seen.get(values, (0, 0))[0] + 1
            if count > MOST_OF_ONE:
                return None
            seen[values] = count, step
    found = bytearray(len(meaning.all_symbols))
    for _, step in seen.values():
        found[step] = True
    return found


@dataclass(slots=True)
class _UnderWay:
    """The events of one value so far, as long as more of them come."""

    growth: Growth
    latest: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Each with the latest events of the expression before it, of whatever value."""


def _found(last: bytearray, meaning: Meaning, machine: Machine, budget: Budget) -> Iterator[tuple[int, ...]]:
    process, before = meaning.computation.trace.process, _order(meaning, budget)
    under_way: dict[tuple[Hashable, ...], _UnderWay] = {}
    for event in projection(meaning):
        own = under_way.get(event.values)
        if own is None:
            own = _UnderWay(Growth(machine, process.__getitem__, budget, tells=False))
            under_way[event.values] = own
        alone = event._replace(predecessors=_last_before(event.step, list(own.latest), before))
        own.latest[event.step] = event.predecessors
        for partial in own.growth.feed(alone, (process[event.step],)):
            if partial.is_complete and _is_convex(partial.events, own.latest, before):
                yield tuple(sorted(partial.events))
        if last[event.step]:
            del under_way[event.values]


def _order(meaning: Meaning, budget: Budget) -> Before:
    computation = meaning.computation
    knowledge = Knowledge(computation, budget.look)

    def before(one: int, other: int) -> bool:
        (process, count), (where, position) = computation.place(one), computation.place(other)
        return count < position if process == where else knowledge.of(where, position, process) >= count

    return before


def _last_before(step: int, others: Sequence[int], before: Before) -> tuple[int, ...]:
    """The latest of the others that come before it."""
    earlier = [other for other in others if before(other, step)]
    return tuple([one for one in earlier if not any(before(one, other) for other in earlier)])


def _is_convex(members: Sequence[int], latest: Mapping[int, Sequence[int]], before: Before) -> bool:
    return not any(
        before(member, other)
        for each in members
        for other in latest[each]
        if other not in members
        for member in members
    )
