"""A formula for each value of a key, on-line: what is left of it for each value that is under way.

Theory of operation. The formulas are those of `detection.keyed`: all that they read is one process, and for a
value k its run is the states in which the variable has it, with one state for each stretch between, where all
predicates are constant. What a formula asks of the states that are still to come is a combination of its
temporal parts (progression: Bacchus and Kabanza, Using temporal logics to express search control knowledge,
2000), kept in the one minimal disjunctive form that it has without negations, so that there are finitely
many; each is made once and has a number. A value that is under way costs one number.

A value for which nothing else is asked than for one that was never seen is forgotten, so that only those that
wait for something are kept. One for which nothing at all is asked any more has to be remembered, since it
must not begin anew. False is final as soon as nothing that comes can make it true for some value; true never
is, as another value may come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from possibly.detection.keyed import ALWAYS, FINALLY, UNTIL, ChainKeys, Row
from possibly.detection.online.standing import Moment, Standing
from possibly.logic.predicates.functions import MISSING, compile_predicate
from possibly.logic.syntax import And, Iff, Implies, Local, Node, Not, Or, Temporal
from possibly.order.growing.batches import Batch
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step
from possibly.trace.model import Value

Clause = frozenset["Wanted"]
Rest = frozenset[Clause]
"""What is asked of the states to come: one of the clauses, and of that everything."""
TRUE: Rest = frozenset([frozenset()])
FALSE: Rest = frozenset()


class Wanted(NamedTuple):
    """A temporal part, without negations: `until` and `release`, both of formulas with these."""

    is_until: bool
    hold: Formula
    """Until that: until `goal` comes; if it is a release, `goal` holds up to and with that."""
    goal: Formula


class Predicate(NamedTuple):
    number: int
    value: bool


class Both(NamedTuple):
    parts: tuple[Formula, ...]


class Either(NamedTuple):
    parts: tuple[Formula, ...]


Formula = Wanted | Predicate | Both | Either
_ALWAYS, _NEVER = Both(()), Either(())


def positive(formula: Node, numbers: Mapping[Node, int], value: bool = True) -> Formula:
    """The formula, or its opposite, with negations at predicates alone."""
    if formula in numbers:
        return Predicate(numbers[formula], value)
    match formula:
        case Not(operand):
            return positive(operand, numbers, not value)
        case And(operands) | Or(operands):
            parts = tuple(positive(operand, numbers, value) for operand in operands)
            return Both(parts) if isinstance(formula, And) == value else Either(parts)
        case Implies(left, right):
            return positive(Or((Not(left), right)), numbers, value)
        case Iff(left, right):
            same = Or((And((left, right)), And((Not(left), Not(right)))))
            return positive(same, numbers, value)
        case Temporal(operator, operands):
            first, *rest = (positive(operand, numbers, value) for operand in operands)
            return _temporal(operator, first, rest, value)
    raise AssertionError(formula)


def _temporal(operator: str, first: Formula, rest: list[Formula], value: bool) -> Formula:
    """Of operands that are opposed already if the value is false."""
    if operator in ALWAYS or operator in FINALLY:
        is_until = (operator in FINALLY) == value
        return Wanted(is_until, _ALWAYS if is_until else _NEVER, first)
    second = rest[0]
    if operator in UNTIL:
        return Wanted(value, first, second)
    if operator == "R":
        return Wanted(not value, first, second)
    # p W q is q R (p | q); its opposite !q U (!p & !q).
    return (
        Wanted(False, second, Either((first, second)))
        if value
        else Wanted(True, second, Both((first, second)))
    )


def progressed(formula: Formula, row: Row) -> Rest:
    """What a formula asks of the states after one with these truths."""
    match formula:
        case Predicate(number, value):
            return TRUE if row[number] == value else FALSE
        case Both(parts):
            return _all(progressed(part, row) for part in parts)
        case Either(parts):
            return _any(progressed(part, row) for part in parts)
        case Wanted(is_until, hold, goal):
            again: Rest = frozenset([frozenset([formula])])
            if is_until:
                return _any([progressed(goal, row), _all([progressed(hold, row), again])])
            return _all([progressed(goal, row), _any([progressed(hold, row), again])])


def _any(rests: Iterable[Rest]) -> Rest:
    return _least(frozenset(clause for rest in rests for clause in rest))


def _all(rests: Iterable[Rest]) -> Rest:
    nothing: Clause = frozenset()
    return _least(frozenset(nothing.union(*clauses) for clauses in product(*rests)))


def _least(clauses: Rest) -> Rest:
    """Without the clauses that ask for more than another."""
    return frozenset(one for one in clauses if not any(other < one for other in clauses))


def is_met_at_end(rest: Rest) -> bool:
    """Whether nothing is missing if no state comes any more."""
    return any(not any(wanted.is_until for wanted in clause) for clause in rest)


class _Rests:
    """All that may be asked, by number: 0 is what is asked before the first state."""

    def __init__(self, formula: Formula) -> None:
        self._formula = formula
        self._known: list[Rest] = [frozenset()]
        self._numbers: dict[Rest, int] = {}
        self._after: dict[tuple[int, Row], int] = {}
        self.is_met: list[bool] = [True]

    def after(self, number: int, row: Row) -> int:
        key = number, row
        if key not in self._after:
            self._after[key] = self._number(self._next(number, row))
        return self._after[key]

    def _next(self, number: int, row: Row) -> Rest:
        if number == 0:
            return progressed(self._formula, row)
        return _any(_all(progressed(wanted, row) for wanted in clause) for clause in self._known[number])

    def _number(self, rest: Rest) -> int:
        if rest not in self._numbers:
            self._numbers[rest] = len(self._known)
            self._known.append(rest)
            self.is_met.append(is_met_at_end(rest))
        return self._numbers[rest]

    def is_lost(self, number: int) -> bool:
        return number > 0 and self._known[number] == FALSE


class KeyedMonitor:
    """Follows `forall key`: it is told as a `Monitor` is."""

    wants_steps = False

    def __init__(self, growing: Growing, keys: ChainKeys) -> None:
        self._growing = growing
        self._outside = keys.outside
        self._process = growing.number(keys.variable.process)
        numbers = {predicate: number for number, predicate in enumerate(keys.predicates)}
        self._rests = _Rests(positive(keys.formula, numbers))
        self._predicates = [compile_predicate(predicate) for predicate in keys.predicates]
        initial = growing.initial.get(keys.variable.process, {})
        read = {
            leaf.variable for found in self._predicates for leaf in found.leaves if isinstance(leaf, Local)
        }
        self._values = {name: initial.get(name, MISSING) for name in {*read, keys.variable.variable}}
        self._key = keys.variable.variable
        self._under_way: dict[Value, int] = {}
        """By value: the number of what is asked for it, after the stretch between that it is in now."""
        self._unseen = self._rests.after(0, self._outside)
        """What is asked for a value that was never seen: all states were others'."""
        self._unmet = 0
        """Values for which something is missing if the run ends now."""
        self._current = self._value()
        self._moment: Moment | None = None
        self._is_stopped = False
        self.violated: list[Value] = []
        """The value for which it is violated for good, once there is one."""
        if self._current is not MISSING:
            self._enter(self._current, 0, None, 0)
        growing.watched.add(self._process, self._values)
        growing.follow_batches(self)

    def take(self, step: Step) -> None:
        for line in step:
            if line.process == self._process:
                self._after(line.fields, line.name, self._growing.taken)

    def take_batch(self, batch: Batch) -> None:
        for number, process, fields in batch.relevant:
            if process == self._process:
                self._after(fields, batch.name(number), batch.before + number + 1)

    def _after(self, fields: Mapping[str, Any], event: str, events: int) -> None:
        """A state of the process; one that sets nothing of interest is as the one before."""
        values, is_same = self._values, True
        for name, value in fields.get("set", {}).items():
            if name in values:
                values[name], is_same = value, False
        if not is_same and self._moment is None and not self._is_stopped:
            self._look(event, events)

    def _look(self, event: str | None, events: int) -> None:
        value = self._value()
        if value != self._current:
            self._leave(value)
        if value is not MISSING:
            self._enter(value, self._under_way.get(value, self._unseen), event, events)

    def _value(self) -> Value:
        value = self._values[self._key]
        return MISSING if isinstance(value, list | dict) else value  # such are no keys: an error at the end

    def _enter(self, value: Value, number: int, event: str | None, events: int) -> None:
        after = self._rests.after(number, self._row(value))
        self._put(value, after)
        if self._rests.is_lost(after):
            self.violated.append(value)
            self._moment = Moment(None, event, events)

    def _leave(self, value: Value) -> None:
        """Another value from now on: the last one is in a stretch between."""
        last, self._current = self._current, value
        if last is not MISSING:
            self._put(last, self._rests.after(self._under_way[last], self._outside))

    def _put(self, value: Value, number: int) -> None:
        is_met, known = self._rests.is_met, self._under_way.get(value)
        self._unmet += (not is_met[number]) - (known is not None and not is_met[known])
        if number == self._unseen and is_met[number] and value != self._current:
            self._under_way.pop(value, None)
        else:
            self._under_way[value] = number

    def _row(self, value: Value) -> Row:
        return tuple(
            found.evaluate(
                [self._values[leaf.variable] if isinstance(leaf, Local) else value for leaf in found.leaves]
            )
            for found in self._predicates
        )

    @property
    def standing(self) -> Standing:
        return Standing(self._moment is None and not self._unmet, self._moment is not None, self._moment)

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(fault for found in self._predicates for fault in found.faults))

    @property
    def size(self) -> int:
        return len(self._under_way)

    @property
    def is_restless(self) -> bool:
        """Each value that waits would be told, and each that is answered."""
        return self._moment is None

    def unmet(self) -> Iterator[Value]:
        """Values for which it is violated if the run ends now."""
        is_met = self._rests.is_met
        return (value for value, number in self._under_way.items() if not is_met[number])

    def stop(self) -> None:
        """Follow no more, and keep nothing: the answer stays what it is."""
        self._is_stopped = True
        self._under_way.clear()
