"""Relational atoms as sums over events: a start value, and what each event adds.

Here belongs the way from an atom such as `P1.x + 2 * P2.y - transit(P1, P2) <= 5` to numbers that a flow
network or a linear constraint can hold. Not the algorithms (`flow`, `solver_model`).

Theory of operation. Every term reads one chain, so an event of that chain changes the term by a fixed
amount, whatever the rest of the cut: the sum at a cut is the start value plus the changes of the events in
it. A channel count is such a sum by itself. Where a term has no value the atom is false; there the changes
mean nothing, so an engine has to keep to cuts where all of `partial` have a value. Values that are not
integers, and terms that somewhere cannot be evaluated, make the atom no sum (None).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from possibly.detection.slices.slicing import Slicing
from possibly.logic.predicates.functions import MISSING, CompiledValue, compile_value
from possibly.logic.predicates.relation import relation
from possibly.logic.syntax import And, Compare, Node, Shared, Transit
from possibly.order.computation import Cut, Place
from possibly.order.state import Chain, Sum

LARGEST = 2**40
"""Sums beyond this are left to engines that work with integers of any size."""


@dataclass(frozen=True)
class Total:
    """An integer at each cut where all of `partial` have a value."""

    start: int
    """Its value at the initial cut."""
    changes: Mapping[Place, int]
    """What events add to it; those that add nothing are left out."""
    partial: tuple[Node, ...] = ()
    """The terms that have no value at some cuts."""

    def at(self, cut: Cut) -> int:
        inside = (change for (process, count), change in self.changes.items() if cut[process] >= count)
        return self.start + sum(inside)


@dataclass(frozen=True)
class Range:
    """A total that lies between two bounds; None: no bound on that side."""

    total: Total
    least: int | None = None
    most: int | None = None

    def contains(self, value: int) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def both(self, other: Range) -> Range | None:
        """The same total in both ranges; None if they are of different totals."""
        if (self.total.start, self.total.changes) != (other.total.start, other.total.changes):
            return None
        lower = [bound for bound in (self.least, other.least) if bound is not None]
        upper = [bound for bound in (self.most, other.most) if bound is not None]
        return Range(self.total, max(lower, default=None), min(upper, default=None))


def ranges_of(slicing: Slicing, node: Node, positive: bool = True) -> list[Range] | None:
    """The atom, or its negation where all terms have a value, as a union of ranges; None if it is no sum."""
    found = relation(node)
    if found is None or type(found.constant) is not int or abs(found.constant) > LARGEST:
        return None
    total = _total(slicing, found.terms)
    if total is None:
        return None
    operator = found.operator if positive else _OPPOSITE[found.operator]
    return [Range(total, *bounds) for bounds in _bounds(operator, found.constant)]


def links(node: Compare) -> Node:
    """`a < b < c` as the conjunction of its links, which is what it means."""
    pairs = zip(node.operands, node.operators, node.operands[1:], strict=False)
    return And(tuple([Compare((left, right), (operator,)) for left, operator, right in pairs]))


def has_value(term: Node) -> Node:
    """True where the term has a value, which is an integer."""
    return Compare((term, term), ("==",))


_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _bounds(operator: str, constant: int) -> Iterator[tuple[int | None, int | None]]:
    if operator in ("==", "<=", ">="):
        yield (constant if operator != "<=" else None), (constant if operator != ">=" else None)
    if operator in ("!=", "<"):
        yield None, constant - 1
    if operator in ("!=", ">"):
        yield constant + 1, None


def _total(slicing: Slicing, terms: Sequence[tuple[int | float, Node]]) -> Total | None:
    start = 0
    changes: dict[Place, int] = {}
    partial: dict[Node, None] = {}
    for factor, term in terms:
        part = _part(slicing, term)
        if part is None or type(factor) is not int:
            return None
        start += factor * part.start
        partial.update(dict.fromkeys(part.partial))
        for place, change in part.changes.items():
            changes[place] = changes.get(place, 0) + factor * change
    changes = {place: change for place, change in changes.items() if change}
    if abs(start) + sum(map(abs, changes.values())) > LARGEST:
        return None
    return Total(start, changes, tuple(partial))


def _part(slicing: Slicing, term: Node) -> Total | None:
    """One term, without its factor."""
    if isinstance(term, Transit):
        return _messages(slicing, term)
    if not slicing.is_on_one_chain(term):
        return None
    value = compile_value(term)
    readings = [slicing.readings(leaf) for leaf in value.leaves]
    if len(readings) == 1 and isinstance(value.leaves[0], Shared):
        chain = readings[0]
        assert isinstance(chain, Chain)
        values = [value.evaluate([each]) for each in chain.values]
        return _steps(value, values, writes_of(chain))
    support = slicing.predicates.support(term)
    counts = list(slicing.computation.initial)
    values = [value.evaluate([reading.value(counts) for reading in readings])]
    places = []
    for process in support:
        for count in range(1, slicing.computation.lengths[process] + 1):
            counts[process] = count
            values.append(value.evaluate([reading.value(counts) for reading in readings]))
            places.append((process, count))
    return _steps(value, values, places)


def writes_of(chain: Chain) -> list[Place]:
    """The places of the writes, in their order."""
    found = {
        number: (process, count)
        for process, counts, numbers in chain.reached
        for count, number in zip(counts, numbers, strict=True)
    }
    return [found[number] for number in sorted(found)]


def _messages(slicing: Slicing, channel: Transit) -> Total:
    reading = slicing.readings(channel)
    assert isinstance(reading, Sum)
    return Total(0, changes_of(reading))


def changes_of(messages: Sum) -> dict[Place, int]:
    """What each event adds to the number of messages in transit."""
    return {
        (process, count): net[count] - net[count - 1]
        for process, net in messages.parts
        for count in range(1, len(net))
        if net[count] != net[count - 1]
    }


def _steps(value: CompiledValue, values: Sequence[object], places: Sequence[Place]) -> Total | None:
    """Differences of values along a chain; a missing one counts as the last one that was there."""
    if value.faults:
        return None
    known: list[int] = []
    missing = False
    for each in values:
        if each is MISSING:
            missing = True
            known.append(known[-1] if known else 0)
        elif isinstance(each, int):
            known.append(int(each))
        else:
            return None
    changes = {place: known[i + 1] - known[i] for i, place in enumerate(places) if known[i + 1] != known[i]}
    return Total(known[0], changes, (value.node,) if missing else ())
