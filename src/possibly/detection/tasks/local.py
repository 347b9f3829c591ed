"""Step 4 of checking a task formula: the truth of local state formulas in the local states of a task.

Here belongs the meaning of LSL (Frey, "Debugging parallel programs using temporal logic specifications",
sections 4 and 5.4): a predicate is undefined where one of its variables is not visible, satisfied if it is
true for all combinations of the values that they can have, unsatisfied if it is false for one. `and`, `or`
are undefined as soon as one side is.

A formula becomes a table with a byte for each count of the task's events. Predicates are evaluated once for
each combination of value sets that is the very same objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from operator import is_

from possibly.detection.limits import Budget
from possibly.logic.depth import deep
from possibly.logic.predicates.functions import Predicate, compile_predicate
from possibly.logic.syntax import And, Iff, Implies, Leaf, Local, Node, Not, Or, Shared
from possibly.logic.tasks.bind import SHARED
from possibly.logic.tasks.formulas import Point, local_text
from possibly.logic.walk import children
from possibly.order.nets.net import Net, Stack
from possibly.trace.model import Value

UNDEFINED, SATISFIED, UNSATISFIED = 0, 1, 2

_NEGATION = bytes((UNDEFINED, UNSATISFIED, SATISFIED, *range(3, 256)))
IS_SATISFIED = bytes((0, 1, 0, *([0] * 253)))
IS_UNDEFINED = bytes((1, 0, 0, *([0] * 253)))

LOOK_EVERY = 4096
"""Combinations of values, or local states, between two looks at the limits."""


def _merge(both: Callable[[bool, bool], bool]) -> tuple[int, ...]:
    """The result for 4 * left + right."""
    found = [UNDEFINED] * 16
    for left, right in product((SATISFIED, UNSATISFIED), repeat=2):
        truth = both(left == SATISFIED, right == SATISFIED)
        found[4 * left + right] = SATISFIED if truth else UNSATISFIED
    return tuple(found)


_AND = _merge(lambda p, q: p and q)
_OR = _merge(lambda p, q: p or q)
_IMPLIES = _merge(lambda p, q: not p or q)
_IFF = _merge(lambda p, q: p is q)
RULES: dict[type[Node], tuple[int, ...]] = {And: _AND, Or: _OR, Implies: _IMPLIES, Iff: _IFF}
"""For each connective its truth, at 4 times that of the left side and that of the right."""
OBSERVED = {"start": ("START",), "term": ("TERM",), "in": ("START", "IN", "TERM")}
"""Where a task may stand in its call, for each observer."""


def opposite(truth: int) -> int:
    return _NEGATION[truth]


ValueSet = tuple[Value, ...] | None


class LocalFormulas:
    """Tables of local state formulas by task, each made once."""

    def __init__(self, net: Net, budget: Budget) -> None:
        self.net = net
        self.budget = budget
        self._known: dict[tuple[Node, int], bytes] = {}
        self._asked: dict[tuple[Node, int], bytes] = {}
        self._predicates: dict[Node, Predicate] = {}
        self.is_undecided = False
        """Whether some predicate is false for one of several values that its variables can have."""

    @property
    def faults(self) -> tuple[str, ...]:
        found = (fault for predicate in self._predicates.values() for fault in predicate.faults)
        return tuple(dict.fromkeys(found))

    def summary(self) -> Iterator[str]:
        """For each formula that stood in t:(...): in how many local states it is satisfied, and so on."""
        counts: dict[Node, list[int]] = {}
        for (formula, task), table in self._asked.items():
            states = table[self.net.first(task) :]
            found = counts.setdefault(formula, [0, 0, 0])
            for value in (SATISFIED, UNSATISFIED, UNDEFINED):
                found[value] += states.count(value)
        for formula, (undefined, satisfied, unsatisfied) in counts.items():
            yield (
                f"{local_text(formula)}: satisfied in {satisfied}, unsatisfied in {unsatisfied}, "
                f"undefined in {undefined} local states"
            )

    def table(self, formula: Node, task: int) -> bytes:
        """For each count of the task's events: satisfied, unsatisfied or undefined.

        Also undefined before the first event of a task that is not in the header: it has no local state.
        """
        if (formula, task) not in self._asked:
            with deep():
                table = self._table(formula, task)
            first = self.net.first(task)
            self._asked[formula, task] = bytes(first) + table[first:]
        return self._asked[formula, task]

    def _table(self, formula: Node, task: int) -> bytes:
        key = formula, task
        if key not in self._known:
            self._known[key] = self._make(formula, task)
        return self._known[key]

    def _make(self, formula: Node, task: int) -> bytes:
        match formula:
            case Point(observer, function):
                return _points(self.net.stacks(task), observer, function)
            case Not(operand):
                return self._table(operand, task).translate(_NEGATION)
            case And() | Or() | Implies() | Iff():
                return self._merged(RULES[type(formula)], children(formula), task)
        return self._predicate(formula, task)

    def _merged(self, rule: tuple[int, ...], operands: Sequence[Node], task: int) -> bytes:
        found = self._table(operands[0], task)
        for operand in operands[1:]:
            pairs = zip(found, self._table(operand, task), strict=True)
            found = bytes([rule[4 * left + right] for left, right in pairs])
        return found

    def _predicate(self, node: Node, task: int) -> bytes:
        if node not in self._predicates:
            self._predicates[node] = compile_predicate(node)
        predicate = self._predicates[node]
        length = self.net.computation.lengths[task] + 1
        columns = [self._column(leaf, task, length) for leaf in predicate.leaves]
        if not columns:
            truth = SATISFIED if predicate.evaluate(()) else UNSATISFIED
            return bytes((truth,)) * length
        found = bytearray(length)
        known: dict[tuple[int, ...], int] = {}
        for count, sets in enumerate(zip(*columns, strict=True)):
            if not count % LOOK_EVERY:
                self.budget.look()
            key = tuple(map(id, sets))
            if key not in known:
                known[key] = self._truth(predicate, sets)
            found[count] = known[key]
        return bytes(found)

    def _column(self, leaf: Leaf, task: int, length: int) -> list[ValueSet]:
        """The value set of a variable for each count; the very same object as long as nothing changes."""
        match leaf:
            case Shared(variable):
                only_shared = False
            case Local(owner, variable) if owner == SHARED:
                only_shared = True
            case _:
                raise TypeError(f"not a variable of a local state: {leaf!r}")
        plain = None if only_shared else self.net.plain(task, variable)
        if plain is not None:
            return _single(plain)
        found: list[ValueSet] = []
        for count in range(length):
            if not count % LOOK_EVERY:
                self.budget.look()
            values = self.net.values(task, count, variable, only_shared)
            before = found[-1] if found else None
            same = before is not None and values is not None and _same(before, values)
            found.append(before if same else values)
        return found

    def _truth(self, predicate: Predicate, sets: Sequence[ValueSet]) -> int:
        if any(values is None for values in sets):
            return UNDEFINED
        for number, values in enumerate(product(*[values or () for values in sets]), 1):
            if not predicate.evaluate(values):
                self.is_undecided = self.is_undecided or any(len(values or ()) > 1 for values in sets)
                return UNSATISFIED
            if number % LOOK_EVERY == 0:
                self.budget.look()
        return SATISFIED


def _single(values: Sequence[Value]) -> list[ValueSet]:
    """Sets of one value each, the very same object for the same one."""
    held = list(values)  # as long as it is, no other value has the identity of one of these
    made: dict[int, ValueSet] = {id(value): (value,) for value in held}
    return [made[id(value)] for value in held]


def _same(one: tuple[Value, ...], two: tuple[Value, ...]) -> bool:
    return one is two or (len(one) == len(two) and all(map(is_, one, two)))


def _points(stacks: Sequence[Stack], observer: str, function: str) -> bytes:
    wanted = {(phase, function) for phase in OBSERVED[observer]}
    return bytes([UNSATISFIED if wanted.isdisjoint(stack) else SATISFIED for stack in stacks])
