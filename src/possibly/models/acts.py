"""What statements do: each becomes the function that a node of the flow graph executes.

Here belongs the meaning of statements on the values of the slots; `build` decides which statement it is and
where it leads. An `Action` also says which slots it may read and write: what it does depends on those it
reads alone, which is the law that successors are kept by (`model`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from possibly.models.expressions import Expression, Target
from possibly.models.flow import Act, Outcome
from possibly.models.slots import NOTHING, Failure, Value, Values

Slots = frozenset[int]
NO_SLOTS: Slots = frozenset()


class Action(NamedTuple):
    act: Act
    reads: Slots = NO_SLOTS
    writes: Slots = NO_SLOTS


def passing() -> Action:
    return Action(lambda values: [Outcome(0)])


def assigning(targets: Sequence[Target], value: Expression) -> Action:
    return choosing(targets, [value])


def choosing(targets: Sequence[Target], alternatives: Sequence[Expression]) -> Action:
    """One outcome for each value."""

    def act(values: Values) -> list[Outcome]:
        return [Outcome(0, _stored(targets, part.evaluate(values), values)) for part in alternatives]

    return Action(act, *_footprint(targets, _reads(alternatives)))


def waiting(condition: Expression) -> Action:
    return Action(lambda values: [Outcome(0)] if condition.evaluate(values) else [], condition.reads)


def asserting(condition: Expression, text: str) -> Action:
    def act(values: Values) -> list[Outcome]:
        if not condition.evaluate(values):
            raise Failure(f"{text} does not hold")
        return [Outcome(0)]

    return Action(act, condition.reads)


def testing(alternatives: Sequence[Expression]) -> Action:
    """Exit 0 is yes, exit 1 no; with several alternatives both may be possible."""

    def act(values: Values) -> list[Outcome]:
        answers = [bool(part.evaluate(values)) for part in alternatives]
        return [Outcome(0 if answer else 1) for answer in dict.fromkeys(answers)]

    return Action(act, _reads(alternatives))


def sending(channel: Target, message: Expression) -> Action:
    def act(values: Values) -> list[Outcome]:
        slot = channel.slot(values)
        if len(values[slot]) >= channel.capacity:
            return []
        return [Outcome(0, ((slot, (*values[slot], message.evaluate(values))),))]

    slots = frozenset(channel.slots)
    return Action(act, slots | channel.reads | message.reads, slots)


def receiving(targets: Sequence[Target], channel: Target) -> Action:
    """Without targets the message is dropped."""

    def act(values: Values) -> list[Outcome]:
        slot = channel.slot(values)
        if not values[slot]:
            return []
        message, *rest = values[slot]
        stored = _stored(targets, message, values) if targets else ()
        return [Outcome(0, ((slot, tuple(rest)), *stored))]

    slots = frozenset(channel.slots)
    reads, writes = _footprint(targets, slots | channel.reads)
    return Action(act, reads, writes | slots)


def handing_over(slots: Sequence[int], arguments: Sequence[Expression]) -> Action:
    """The arguments of a call into the parameters."""

    def act(values: Values) -> list[Outcome]:
        writes = [(slot, part.evaluate(values)) for slot, part in zip(slots, arguments, strict=True)]
        return [Outcome(0, tuple(writes))]

    return Action(act, _reads(arguments), frozenset(slots))


def entering(slot: int, numbers: range) -> Action:
    """The beginning of a `for` loop."""

    def act(values: Values) -> list[Outcome]:
        return [Outcome(0, ((slot, numbers[0]),))] if numbers else [Outcome(1)]

    return Action(act, NO_SLOTS, frozenset((slot,)))


def repeating(slot: int, numbers: range, name: str) -> Action:
    """The next number of a `for` loop, or its end."""

    def act(values: Values) -> list[Outcome]:
        if values[slot] is NOTHING:
            raise Failure(f"{name} has no value yet")
        following = values[slot] + numbers.step
        return [Outcome(0, ((slot, following),))] if following in numbers else [Outcome(1)]

    return Action(act, frozenset((slot,)), frozenset((slot,)))


def _stored(targets: Sequence[Target], value: Value, values: Values) -> tuple[tuple[int, Value], ...]:
    if len(targets) == 1:
        return ((targets[0].slot(values), value),)
    if not isinstance(value, tuple) or len(value) != len(targets):
        raise Failure(f"cannot unpack {value!r} into {len(targets)} variables")
    return tuple([(target.slot(values), part) for target, part in zip(targets, value, strict=True)])


def _reads(parts: Sequence[Expression]) -> Slots:
    return NO_SLOTS.union(*[part.reads for part in parts])


def _footprint(targets: Sequence[Target], reads: Slots) -> tuple[Slots, Slots]:
    return reads.union(*[target.reads for target in targets]), NO_SLOTS.union(*[t.slots for t in targets])
