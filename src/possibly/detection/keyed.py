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
        runs, faults = self._runs(read)
        length = len(read(self.variable))
        found = [value for value, run in runs.ends.items() if not self._holds(runs.whole(value, run, length))]
        return found, len(runs.ends), faults

    def _runs(self, read: Read) -> tuple[Runs, tuple[str, ...]]:
        compiled = [compile_predicate(predicate) for predicate in self.predicates]
        columns = [
            [read(leaf) if isinstance(leaf, Local) else None for leaf in predicate.leaves]
            for predicate in compiled
        ]
        runs = Runs(self.outside)
        for position, value in enumerate(read(self.variable)):
            if value is MISSING:
                continue
            row = tuple(
                predicate.evaluate([value if column is None else column[position] for column in own])
                for predicate, own in zip(compiled, columns, strict=True)
            )
            runs.add(value, position, row)
        faults = dict.fromkeys(fault for predicate in compiled for fault in predicate.faults)
        return runs, tuple(faults)

    def _holds(self, run: Run) -> bool:
        if run.holds is None:
            rows = run.rows()
            number = {predicate: index for index, predicate in enumerate(self.predicates)}
            states = {predicate: [row[index] for row in rows] for predicate, index in number.items()}
            run.holds = fold(self.formula, _combined, states.get)[0]
        return run.holds


class Run:
    """The states of a value so far; one that goes on is another one, which values share."""

    __slots__ = ("before", "holds", "next", "row")

    def __init__(self, before: Run | None, row: Row) -> None:
        self.before = before
        self.row = row
        self.next: dict[Row, Run] = {}
        self.holds: bool | None = None
        """Whether the formula does, as soon as that is asked."""

    def then(self, row: Row) -> Run:
        found = self.next.get(row)
        if found is None:
            found = self.next[row] = Run(self, row)
        return found

    def rows(self) -> list[Row]:
        found: list[Row] = []
        run = self
        while run.before is not None:
            found.append(run.row)
            run = run.before
        return found[::-1]


class Runs:
    """By value: the states in which the variable has it, with one for each stretch of others.

    Most values have few states, and the same as others: what is kept of each is where it stands.
    """

    def __init__(self, outside: Row) -> None:
        self.outside = outside
        self.ends: dict[Value, Run] = {}
        self._following: dict[Value, int] = {}
        """The position after the last state."""
        self._none = Run(None, ())

    def add(self, value: Value, position: int, row: Row) -> None:
        run = self.ends.get(value, self._none)
        if position > self._following.get(value, 0):
            run = run.then(self.outside)
        self.ends[value] = run.then(row)
        self._following[value] = position + 1

    def whole(self, value: Value, run: Run, length: int) -> Run:
        """With what follows its last state."""
        return run.then(self.outside) if self._following[value] < length else run


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
