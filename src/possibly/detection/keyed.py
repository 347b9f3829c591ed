"""A formula for each value of a key, in one pass over the process that has the key.

Theory of operation. All that the formula reads is one process, so its truth at a cut depends on how far that
process has come, and every observation passes all of its states: F, EF and AF are one operator, and so are
G, EG and AG, U, EU and AU. Without a next operator it does not matter how often a state is repeated. Wherever
the variable has not the value k its predicates are constant (`logic.keyed.elsewhere`), so for k the run is
the states in which it has it, with one state for each stretch between. All values together have as many as
the process has states: the work is that of one formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from possibly.logic.keyed import elsewhere
from possibly.logic.predicates.functions import MISSING, compile_predicate, is_state, leaves
from possibly.logic.syntax import And, Iff, Implies, Local, Node, Not, Or, Shared, Temporal
from possibly.logic.walk import children, fold, nodes
from possibly.trace.model import Value

ALWAYS, FINALLY, UNTIL = (
    frozenset(("G", "AG", "EG")),
    frozenset(("F", "AF", "EF")),
    frozenset(("U", "AU", "EU")),
)
OPERATORS = ALWAYS | FINALLY | UNTIL | {"R", "W"}

Row = tuple[bool, ...]
"""The truth of each predicate in one state."""
Read = Callable[[Local], Sequence[Value]]
"""The values of a variable in the states of its process."""


@dataclass(frozen=True, slots=True)
class ChainKeys:
    """A bound formula with a leaf for its key, as far as it is of this kind."""

    formula: Node
    variable: Local
    key: Shared
    predicates: tuple[Node, ...]
    outside: Row
    """The predicates where the variable has another value."""

    @staticmethod
    def of(formula: Node, variable: Local, key: Shared) -> ChainKeys | None:
        """None: the formula is of another kind."""
        temporal = [node for node in nodes(formula) if isinstance(node, Temporal)]
        if any(node.operator not in OPERATORS for node in temporal):
            return None
        predicates = tuple(dict.fromkeys(_states(formula)))
        for leaf in (leaf for predicate in predicates for leaf in leaves(predicate)):
            if leaf != key and not (isinstance(leaf, Local) and leaf.process == variable.process):
                return None
        outside = [elsewhere(predicate, variable, key) for predicate in predicates]
        known = tuple(value for value in outside if value is not None)
        if len(known) < len(predicates):
            return None
        return ChainKeys(formula, variable, key, predicates, known)

    def violated(self, read: Read) -> tuple[list[Value], int, tuple[str, ...]]:
        """The values for which it is violated, how many there are, and what could not be evaluated."""
        rows, faults = self._rows(read)
        length = len(read(self.variable))
        found = [value for value, own in rows.items() if not self._holds(self._run(own, length))]
        return found, len(rows), faults

    def _rows(self, read: Read) -> tuple[dict[Value, list[tuple[int, Row]]], tuple[str, ...]]:
        """By value: the states in which the variable has it."""
        compiled = [compile_predicate(predicate) for predicate in self.predicates]
        columns = [
            [read(leaf) if isinstance(leaf, Local) else None for leaf in predicate.leaves]
            for predicate in compiled
        ]
        found: dict[Value, list[tuple[int, Row]]] = {}
        for position, value in enumerate(read(self.variable)):
            if value is MISSING:
                continue
            row = tuple(
                predicate.evaluate([value if column is None else column[position] for column in own])
                for predicate, own in zip(compiled, columns, strict=True)
            )
            found.setdefault(value, []).append((position, row))
        faults = dict.fromkeys(fault for predicate in compiled for fault in predicate.faults)
        return found, tuple(faults)

    def _run(self, own: Sequence[tuple[int, Row]], length: int) -> list[Row]:
        """The states of one value, with one for each stretch of others."""
        found: list[Row] = []
        expected = 0
        for position, row in own:
            if position > expected:
                found.append(self.outside)
            found.append(row)
            expected = position + 1
        if expected < length:
            found.append(self.outside)
        return found

    def _holds(self, run: Sequence[Row]) -> bool:
        number = {predicate: index for index, predicate in enumerate(self.predicates)}
        states = {predicate: [row[index] for row in run] for predicate, index in number.items()}
        return fold(self.formula, _combined, states.get)[0]


def _states(formula: Node) -> Iterator[Node]:
    """The largest parts without temporal operators."""
    if is_state(formula):
        yield formula
        return
    for child in children(formula):
        yield from _states(child)


def _combined(node: Node, below: list[list[bool]]) -> list[bool]:
    """The truth of a formula in each state of a run, from that of its parts."""
    match node:
        case Not():
            return [not value for value in below[0]]
        case And():
            return [all(values) for values in zip(*below, strict=True)]
        case Or():
            return [any(values) for values in zip(*below, strict=True)]
        case Implies():
            return [right or not left for left, right in zip(*below, strict=True)]
        case Iff():
            return [left == right for left, right in zip(*below, strict=True)]
        case Temporal(operator) if operator in ALWAYS:
            return _backward(below[0], False, True)
        case Temporal(operator) if operator in FINALLY:
            return _backward(below[0], True, False)
        case Temporal(operator) if operator in UNTIL:
            return _until(below[0], below[1], at_end=False)
        case Temporal("W"):
            return _until(below[0], below[1], at_end=True)
        case Temporal("R"):
            both = [first and second for first, second in zip(*below, strict=True)]
            return _until(below[1], both, at_end=True)
    raise AssertionError(node)


def _backward(values: list[bool], decides: bool, at_end: bool) -> list[bool]:
    found, now = [], at_end
    for value in reversed(values):
        now = decides if value == decides else now
        found.append(now)
    return found[::-1]


def _until(first: list[bool], second: list[bool], *, at_end: bool) -> list[bool]:
    found, now = [], at_end
    for before, goal in zip(reversed(first), reversed(second), strict=True):
        now = goal or (before and now)
        found.append(now)
    return found[::-1]
