"""`--order predictive`: properties in every order of unsynchronised accesses, not only in the recorded one.

Each order of the racing accesses is a run of its own, which is checked in causal order. A violation in
another order is certain if every read on the way sees what it saw in the recording: then no process notices
a difference. If some read sees another value, the violation is a candidate: the program may do something
else from there, and `possibly confirm` tells. If there are too many orders to try all, a state that nobody
notices on the way is looked for among sliced reorderings; what holds in all that were tried is unknown.

What holds in each run holds in all as long as the formula speaks of all paths; one of some path holds if it
does in one run. Formulas that mix both are left undecided where runs race.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.prediction.orders import Orders, TooManyError, is_unnoticed
from possibly.detection.prediction.sliced import SlicedSearch
from possibly.logic.bind import bind_property
from possibly.logic.languages import FORMULAS
from possibly.logic.predicates.functions import compile_predicate, deciding_state
from possibly.logic.specification import Property, Specification
from possibly.logic.syntax import Iff, Implies, Node, Not, Temporal
from possibly.logic.walk import children
from possibly.order.vocabulary import vocabulary
from possibly.records import replace
from possibly.session.checking.check import Options, Progress, check_trace
from possibly.trace.edit import in_order
from possibly.trace.model import Trace
from possibly.trace.recorded import recorded_of
from possibly.verdict.model import Report, Truth, Verdict

MOST_ORDERS = 300
"""Orders that are tried."""
MOST_SLICES = 3
"""Slices into which a run is divided that has more orders."""
REASON = "more orders of racing accesses than the {count:,} tried, in which it is so; record less, or explore"
LATE = "not all orders of racing accesses were tried within {limit:g} s; raise --timeout"
MIXED = "it speaks of all paths and of some, and accesses race; --order causal keeps their recorded order"


def check_predictive(
    trace: Trace, specification: Specification, options: Options, progress: Progress | None = None
) -> Report:
    """The answers in all orders of unsynchronised accesses."""
    causal = replace(options, order="causal")
    report = check_trace(trace, specification, causal, progress)
    budget = Budget(timeout=None if options.timeout is None else options.timeout / 3)
    others, is_complete, tried = _others(trace, budget)
    if not others and is_complete:
        return report
    verdicts = list(report.verdicts)
    asked = [number for number, each in enumerate(verdicts) if each.language in FORMULAS]
    for number in asked:
        left = _left(options.timeout, budget.seconds + verdicts[number].seconds)
        prediction = _Prediction(trace, specification, causal, number, left)
        found = prediction.verdict(verdicts[number], others, is_complete, tried)
        verdicts[number] = replace(found, raced=())  # no access was kept in its recorded order
    return replace(report, verdicts=tuple(verdicts))


def _left(timeout: float | None, spent: float) -> Budget:
    """What is left of the time for a property."""
    return Budget(timeout=None if timeout is None else max(timeout - spent, timeout / 10))


def _others(trace: Trace, budget: Budget) -> tuple[list[tuple[int, ...]], bool, int]:
    """Orders besides the recorded one, and whether these are all."""
    if trace.meet is not None:
        return [], _is_race_free(trace), 1
    try:
        found = list(islice(Orders(trace, budget.look).all(), MOST_ORDERS + 1))
    except (TooManyError, LimitReachedError):
        return [], False, 1
    return found[1:MOST_ORDERS], len(found) <= MOST_ORDERS, min(len(found), MOST_ORDERS)


def _is_race_free(trace: Trace) -> bool:
    try:
        return Orders(trace).racing == 0
    except TooManyError:
        return False


class _Prediction:
    """One property in other orders."""

    def __init__(
        self, trace: Trace, specification: Specification, options: Options, number: int, budget: Budget
    ) -> None:
        self._trace = trace
        self._property: Property = specification.properties[number]
        self._specification = replace(specification, properties=(self._property,))
        self._options = options
        self._budget = budget

    def verdict(
        self, known: Verdict, others: Sequence[tuple[int, ...]], is_complete: bool, tried: int
    ) -> Verdict:
        sides = _sides(self._property.formula) if known.language == "ctl" else {True}
        if len(sides) > 1:
            return _open(known, MIXED)
        sought = Truth.HOLDS if sides == {False} else Truth.VIOLATED
        if known.truth is sought:
            return known
        best: Verdict | None = None
        reason = REASON.format(count=tried)
        try:
            for found in self._found(others if is_complete else self._sliced(others), sought):
                if not found.candidate:
                    return found
                best = best or found
        except LimitReachedError:
            is_complete, reason = False, LATE.format(limit=self._options.timeout)
        if best is not None or known.truth is Truth.UNKNOWN or is_complete:
            return best or known
        return _open(known, reason)

    def _sliced(self, others: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        """Before those others, one that reaches what is sought unnoticed, if there is one."""
        names = vocabulary(self._trace)
        formula = bind_property(self._property, names, self._specification.lets, counts_pairs=False).formula
        sought = deciding_state(formula)
        for slices in range(1, MOST_SLICES if sought is not None else 0):
            assert sought is not None
            search = SlicedSearch(self._trace, compile_predicate(sought), slices, self._budget)
            found = search.found()
            if found is not None:
                yield found
                break
            if not search.is_complete:
                break
        yield from others

    def _found(self, others: Iterable[tuple[int, ...]], sought: Truth) -> Iterator[Verdict]:
        for order in others:
            self._budget.look()
            run = in_order(self._trace, order)
            options = replace(self._options, timeout=self._budget.left)
            verdict = check_trace(run, self._specification, options).verdicts[0]
            if verdict.truth is sought:
                yield replace(verdict, observed=None, candidate=not self._is_certain(verdict, order))

    def _is_certain(self, verdict: Verdict, order: Sequence[int]) -> bool:
        recorded = recorded_of(self._trace.header)
        if recorded is not None and not recorded.accesses:
            return False
        path: Sequence[int] = order
        if verdict.witness is not None:
            path = [event for name in verdict.witness.path if (event := self._trace.find(name)) is not None]
        return is_unnoticed(self._trace, path)


def _open(known: Verdict, reason: str | None) -> Verdict:
    return replace(known, truth=Truth.UNKNOWN, reason=reason, witness=None, explanation=None, example=None)


def _sides(formula: Node | None) -> set[bool]:
    """True if it speaks of all paths, False if of some; both if it mixes them. No path: all is one."""
    found = set(_quantifiers(formula, True)) if formula is not None else set()
    return found or {True}


def _quantifiers(node: Node, is_positive: bool) -> Iterator[bool]:
    if isinstance(node, Temporal):
        yield (node.operator[0] == "A") is is_positive
    for child in children(node):
        if isinstance(node, Iff):
            yield from _quantifiers(child, True)
            yield from _quantifiers(child, False)
        else:
            is_turned = isinstance(node, Not) or (isinstance(node, Implies) and child is node.left)
            yield from _quantifiers(child, is_positive is not is_turned)
