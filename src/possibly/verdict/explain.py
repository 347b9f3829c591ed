"""Why: a path through the lattice told as steps, changes, the state at its end and what decided.

Here belongs making an `Explanation` from an order and a formula, as data; the wording of a page or a
terminal is the views'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import le

from possibly.logic.predicates.functions import MISSING, compile_predicate, is_state
from possibly.logic.printer import unparse
from possibly.logic.syntax import (
    And,
    Apart,
    AtLeast,
    Iff,
    Implies,
    Leaf,
    Literal,
    Local,
    Node,
    Not,
    Or,
    Shared,
    Temporal,
)
from possibly.order.computation import Computation
from possibly.order.state import Readings, RunningState, Variable
from possibly.trace.model import NONE, Value
from possibly.verdict.model import Atom, Change, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import overload

MOST_LOOKED_AT = 1_000_000
"""Steps times processes up to which it is looked for what comes first in every order."""


def step_of(computation: Computation, step: int, changes: tuple[Change, ...] = ()) -> Step:
    """A step as a reader sees it; the lines of a joint event are named together."""
    trace = computation.trace
    events = [trace.event(event) for event in computation.events(step)]

    def together(parts: Sequence[str | None]) -> str | None:
        return ", ".join(dict.fromkeys(part for part in parts if part is not None)) or None

    return Step(
        event=together([event.name for event in events]) or "",
        process=together([event.process for event in events]) or "",
        kind=together([event.kind for event in events]) or "",
        place=together([event.at for event in events]),
        label=together([event.label for event in events]),
        function=together([event.fn for event in events]),
        message=together([_message(computation, event.number) for event in events]),
        changes=changes,
    )


def settled_steps(computation: Computation, steps: Sequence[int]) -> int:
    """How many of the first steps of an order come before all its others whatever the order is.

    They are what a barrier, a join or a hand-over has finished, and say nothing of why this order fails.
    Of a very long order none are looked for.
    """
    if len(steps) * len(computation.lengths) > MOST_LOOKED_AT or len(steps) < 2:
        return 0
    cut = list(computation.initial)
    for step in steps:
        for event in computation.events(step):
            cut[computation.trace.process[event]] += 1
    known: Sequence[int] = computation.final
    for count in range(len(steps) - 1, 0, -1):
        known = tuple(map(min, known, computation.clock(steps[count])))
        for event in computation.events(steps[count]):
            cut[computation.trace.process[event]] -= 1
        if all(map(le, cut, known)):
            return count
    return 0


def _message(computation: Computation, event: int) -> str | None:
    """The message sent or received, with its other end."""
    trace = computation.trace
    kind, name = trace.strings[trace.kind[event]], trace.text(trace.message, event)
    if kind == "send":
        to = [
            trace.processes[p].name
            for row in trace.deliveries(event)
            if (p := trace.delivery_to[row]) != NONE
        ]
        return " ".join([name or "a message", *(["to", ", ".join(to)] if to else [])])
    if kind == "receive" and name is not None:
        sender = next(
            (e for e in computation.predecessors(event) if trace.text(trace.message, e) == name), None
        )
        origin = "" if sender is None else f" from {trace.processes[trace.process[sender]].name}"
        return f"{name}{origin}"
    return None


LONG = 2_000
"""Steps beyond which one is told when a reader asks for it: few of a long order are ever shown."""

Assigned = list[tuple[Variable, Value, Value]]


def steps_along(computation: Computation, steps: Sequence[int]) -> tuple[Sequence[Step], Mapping[str, Value]]:
    """Each step with the variables it changes, and the state after the last."""
    state = RunningState(computation)
    assigned = list(map(state.execute, steps))
    found: Sequence[Step] = _Told(computation, steps, assigned)
    final = {variable_text(name): value for name, value in state.values.items()}
    return found if len(steps) > LONG else tuple(found), final


class _Told(Sequence[Step]):
    """The steps of an order, each told when it is asked for."""

    def __init__(self, computation: Computation, steps: Sequence[int], assigned: Sequence[Assigned]) -> None:
        self._computation = computation
        self._steps = steps
        self._assigned = assigned

    def __len__(self) -> int:
        return len(self._steps)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, at: int) -> Step: ...
        @overload
        def __getitem__(self, at: slice) -> tuple[Step, ...]: ...

    def __getitem__(self, at: int | slice) -> Step | tuple[Step, ...]:
        if isinstance(at, slice):
            return tuple(self[number] for number in range(*at.indices(len(self))))
        changes = tuple(
            Change(variable_text(name), None if before is MISSING else before, after, fresh=before is MISSING)
            for name, before, after in self._assigned[at]
            if before is MISSING or not _same(before, after)
        )
        return step_of(self._computation, self._steps[at], changes)


def _same(first: Value, second: Value) -> bool:
    return type(first) is type(second) and bool(first == second)


@lru_cache(maxsize=1 << 14)
def variable_text(variable: Variable) -> str:
    """As one writes it in a formula."""
    process, name = variable
    return unparse(Shared(name) if process is None else Local(process, name))


def atoms_at(formula: Node, readings: Readings, cut: Sequence[int]) -> tuple[Atom, ...]:
    """The state predicates of a formula that no connective joins, with their values at a cut."""
    return tuple(
        atom for node in dict.fromkeys(_atomic(formula)) for atom in _told_atoms(node, readings, cut)
    )


def _told_atoms(node: Node, readings: Readings, cut: Sequence[int]) -> Iterator[Atom]:
    """An atom; of many that are counted those that are true."""
    if not isinstance(node, AtLeast | Apart):
        yield _atom(node, readings, cut)
        return
    found = (_atom(part, readings, cut) for part in dict.fromkeys(node.operands))
    yield from (atom for atom in found if atom.value)


def _atomic(formula: Node) -> Iterator[Node]:
    pending = [formula]
    while pending:
        node = pending.pop()
        match node:
            case Not(operand):
                pending.append(operand)
            case And(operands) | Or(operands) | Temporal(_, operands):
                pending.extend(reversed(operands))
            case Implies(left, right) | Iff(left, right):
                pending.extend((right, left))
            case Literal():
                pass
            case _ if is_state(node):
                yield node


def _atom(node: Node, readings: Readings, cut: Sequence[int]) -> Atom:
    predicate = compile_predicate(node)
    values = [readings(leaf).value(cut) for leaf in predicate.leaves]
    pairs: Iterator[tuple[Leaf, Value]] = zip(predicate.leaves, values, strict=True)
    operands = {unparse(leaf): value for leaf, value in pairs if value is not MISSING}
    return Atom(unparse(node), predicate.evaluate(values), operands)
