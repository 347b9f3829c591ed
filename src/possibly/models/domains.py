"""Which values a variable can take, found before the first state is made, where they are few.

Here belongs the estimate that fixes the width of a bit field. It executes each node with every combination
of the values known so far for what it reads, until nothing new is assigned: guards of other nodes are
ignored, so the result is never too small. A variable with more than `MOST_VALUES`, or assigned from too
many combinations, counts as unbounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod

from possibly.models.flow import Node
from possibly.models.slots import NOTHING, Failure, Slot, Value, identity

MOST_VALUES = 256
MOST_COMBINATIONS = 1024
MOST_EXECUTIONS = 2000
"""Of one node, in all rounds together."""

Domain = dict[object, Value]


def domains(slots: Sequence[Slot], nodes: Iterable[Node]) -> list[list[Value] | None]:
    """The values of each slot; None: unbounded."""
    found: list[Domain | None] = [{identity(slot.initial): slot.initial} for slot in slots]
    writing = [node for node in nodes if node.writes]
    for node in writing:
        for leaving in node.exits:
            for slot in leaving.clears:
                _add(found, slot, NOTHING)
    changed = set(range(len(slots)))
    executed = dict.fromkeys(writing, 0)
    first = True
    while changed:
        before = changed
        changed = set()
        for node in writing:
            if first or not before.isdisjoint(node.reads):
                executed[node] += _execute(node, found, changed, len(slots), executed[node])
        first = False
    return [None if domain is None else list(domain.values()) for domain in found]


def _execute(node: Node, found: list[Domain | None], changed: set[int], count: int, before: int) -> int:
    """Adds what the node can assign; how many combinations were tried."""
    read = sorted(node.reads)
    known = [domain for slot in read if (domain := found[slot]) is not None]
    size = prod(map(len, known))
    if len(known) < len(read) or size > MOST_COMBINATIONS or before + size > MOST_EXECUTIONS:
        for slot in node.writes:
            if found[slot] is not None:
                found[slot] = None
                changed.add(slot)
        return 0
    values: list[Value] = [NOTHING] * count
    for combination in product(*[list(domain.values()) for domain in known]):
        for slot, value in zip(read, combination, strict=True):
            values[slot] = value
        try:
            outcomes = node.act(values)
        except Failure:
            continue
        for outcome in outcomes:
            changed.update(slot for slot, value in outcome.writes if _add(found, slot, value))
    return size


def _add(found: list[Domain | None], slot: int, value: Value) -> bool:
    """Whether that was new."""
    domain = found[slot]
    if domain is None or (key := identity(value)) in domain:
        return False
    domain[key] = value
    if len(domain) > MOST_VALUES:
        found[slot] = None
    return True
