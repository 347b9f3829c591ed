"""`--order predictive`: properties in every order of unsynchronised accesses, not only in the recorded one.

Each order of the racing accesses is a run of its own, which is checked in causal order. A violation in
another order is certain if every read on the way sees what it saw in the recording: then no process notices
a difference. If some read sees another value, the violation is a candidate: the program may do something
else from there, and `possibly confirm` tells.

A formula that says of all paths, or of some path, what a linear one says is decided on all orders at once
(`walks`), and so is a path expression (`path_walks`). Others are asked order by order, as far as there are
few, and so are path expressions with conditions, synchronisation rules or turns. If there are too
many for both, what nobody notices is looked for among sliced reorderings; what holds in all that were tried
is unknown. What holds in each run holds in all as long as the formula speaks of all paths; one of some path
holds if it does in one run. Formulas that mix both are left undecided where runs race.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.turns import tells_turns
from possibly.detection.prediction.facts import racing
from possibly.detection.prediction.orders import Deciding, Orders, TooManyError, is_unnoticed
from possibly.detection.prediction.path_walks import Occurring, Unfitting
from possibly.detection.prediction.regular import RegularSearch
from possibly.detection.prediction.sliced import Reached, SlicedSearch
from possibly.detection.prediction.walks import Walks
from possibly.logic.bind import bind_property
from possibly.logic.languages import FORMULAS
from possibly.logic.ltl.from_branching import of_every_path, of_some_path
from possibly.logic.paths.compiled import compiled, occurring
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.predicates.functions import compile_predicate, is_state
from possibly.logic.specification import Property, Specification
from possibly.logic.syntax import Iff, Implies, Keyed, Node, Not, Temporal
from possibly.logic.walk import children, nodes
from possibly.order.computation import Computation
from possibly.order.vocabulary import vocabulary
from possibly.records import replace
from possibly.session.checking.check import Options, Progress, check_trace
from possibly.trace.edit import in_order, with_order
from possibly.trace.model import NONE, Trace
from possibly.trace.recorded import recorded_of
from possibly.verdict.model import Report, Truth, Verdict
from possibly.verdict.paths import PathResult

PREDICTED = (*FORMULAS, "expect", "never")
"""The languages that are asked in other orders; what a watch does is done in the recorded one alone."""
MOST_ORDERS = 300
"""Orders that are tried one by one."""
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
    if not (raced := racing(trace, Computation(trace, "sync"))):
        return report
    noticed = tuple(sorted(raced & _looked_at(trace)))
    verdicts = list(report.verdicts)
    others = _Others(trace, Budget(timeout=None if options.timeout is None else options.timeout / 3))
    for number, known in enumerate(verdicts):
        if known.language not in PREDICTED:
            continue
        left = _left(options.timeout, others.seconds + known.seconds)
        found = _Prediction(trace, specification, causal, number, left).verdict(known, others)
        rests = found.truth is Truth.HOLDS and found.witness is None
        verdicts[number] = replace(found, raced=(), noticed=noticed if rests else ())
    return replace(report, verdicts=tuple(verdicts))


def _looked_at(trace: Trace) -> set[str]:
    """The variables that somebody reads, as far as is known."""
    recorded = recorded_of(trace.header)
    are_told = recorded is None or recorded.accesses
    words = (trace.reads(event) if are_told else _accessed(trace, event) for event in range(len(trace)))
    return {name for each in words for name in each}


def _accessed(trace: Trace, event: int) -> Iterator[str]:
    yield from trace.reads(event)
    yield from (name for name, _ in trace.writes(event))


def _left(timeout: float | None, spent: float) -> Budget:
    """What is left of the time for a property."""
    return Budget(timeout=None if timeout is None else max(timeout - spent, timeout / 10))


class _Others:
    """Orders besides the recorded one, looked for when the first property asks for them."""

    def __init__(self, trace: Trace, budget: Budget) -> None:
        self._trace = trace
        self._budget = budget
        self._known: list[tuple[int, ...]] | None = None
        self.seconds = 0.0
        self.is_complete = False
        """Whether these are all."""

    @property
    def tried(self) -> int:
        """How many there are, with the recorded one."""
        return len(self.orders) + 1

    @property
    def orders(self) -> Sequence[tuple[int, ...]]:
        if self._known is None:
            self._known = self._found()
            self.seconds = self._budget.seconds
        return self._known

    def _found(self) -> list[tuple[int, ...]]:
        if self._trace.meet is not None:
            return []
        self._budget = replace(self._budget, started=Budget().started)
        try:
            found = list(islice(Orders(self._trace, self._budget.look).all(), MOST_ORDERS + 1))
        except (TooManyError, LimitReachedError):
            return []
        self.is_complete = len(found) <= MOST_ORDERS
        return found[1:MOST_ORDERS]


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
        self._best: Verdict | None = None
        """What shows it for certain, else a candidate."""

    def verdict(self, known: Verdict, others: _Others) -> Verdict:
        sides = _sides(self._property.formula) if known.language == "ctl" else {True}
        if len(sides) > 1:
            return _open(known, MIXED)
        sought = Truth.HOLDS if sides == {False} else Truth.VIOLATED
        if known.truth is sought:
            return known
        try:
            return self._decided(known, others, sought)
        except LimitReachedError:
            return self._best or _open(known, LATE.format(limit=self._options.timeout))

    def _decided(self, known: Verdict, others: _Others, sought: Truth) -> Verdict:
        if known.language not in FORMULAS and self._walked_paths():
            return self._best or _settled(known, sought)
        showing = self._showing(known.language, sought)
        if showing is not None:
            is_settled = self._walked(showing, sought)
            if is_settled:
                return self._best or _settled(known, sought)
            self._sliced(showing, sought)
        if self._best is None:
            self._tried(others.orders, sought)
        if self._best is not None or others.is_complete:
            return self._best or known
        return _open(known, REASON.format(count=others.tried))

    def _showing(self, language: str, sought: Truth) -> Node | None:
        """A linear formula that is true on just the orders that show what is sought; None if unknown."""
        if language not in FORMULAS:
            return None
        names = vocabulary(self._trace)
        formula = bind_property(self._property, names, self._specification.lets, counts_pairs=False).formula
        if any(isinstance(part, Keyed) for part in nodes(formula)):
            return None
        if language == "ltl":
            return Not(formula)
        if sought is Truth.HOLDS:
            return of_some_path(formula)
        linear = of_every_path(formula)
        return None if linear is None else Not(linear)

    def _walked(self, showing: Node, sought: Truth) -> bool:
        """Whether all orders were walked; the best that shows what is sought is kept."""
        is_certain_settled = True
        if self._has_accesses:
            unnoticed = Walks(self._trace, showing, self._budget, unnoticed=True)
            self._keep(unnoticed.found(), sought, is_certain=True)
            if self._best is not None:
                return True
            is_certain_settled = unnoticed.is_complete
        every = Walks(self._trace, showing, self._budget, unnoticed=False)
        self._keep(every.found(), sought)
        return is_certain_settled if self._best is not None else every.is_complete

    def _walked_paths(self) -> bool:
        """The same of a path expression, where events alone decide what it speaks of."""
        trace, asked = self._trace, self._property
        if trace.meet is not None or self._specification.syncs or tells_turns(trace):
            return False
        definitions = {each.name: each for each in self._specification.definitions}
        expression = compiled(parse_path(asked.source, definitions))
        meaning = Meaning(expression, Computation(trace, "sync"))
        if not meaning.is_plain:
            return False
        kind = Unfitting if asked.language == "expect" else Occurring
        if asked.language == "never":
            expression = occurring(expression, {each for played in meaning.all_symbols for each in played})
        machine = Machine(expression)
        machine.look = self._budget.look
        are_settled = []
        for unnoticed in (True, False) if self._has_accesses else (False,):
            walk = kind(meaning, machine, self._budget, unnoticed=unnoticed)
            found = walk.found()
            are_settled.append(found is not None or walk.is_complete)
            if found is not None:
                self._best = self._path_shown(found, is_certain=unnoticed)
                break
        return all(are_settled)

    def _path_shown(self, found: Deciding, is_certain: bool) -> Verdict:
        """As it is shown in that order; of occurrences first those that are certain."""
        verdict = self._checked(in_order(self._trace, found.order))
        if verdict.truth is Truth.UNKNOWN:
            raise LimitReachedError(verdict.reason)
        assert verdict.truth is Truth.VIOLATED, "what was found in an order is so in it"
        path = verdict.path
        if is_certain and path is not None and path.matches:
            names = {self._trace.name(event) for event in found.order[: found.decided]}
            matches = sorted(path.matches, key=lambda match: not names.issuperset(match))
            verdict = replace(verdict, path=replace(path, matches=tuple(matches)))
        return replace(verdict, observed=None, candidate=not is_certain)

    def _keep(self, found: Deciding | None, sought: Truth, is_certain: bool = False) -> None:
        if found is not None and (self._best is None or is_certain):
            self._best = self._shown(found, sought, is_certain)

    def _shown(self, found: Deciding, sought: Truth, is_certain: bool) -> Verdict:
        """As the engines show it in that order; if they go a way that is noticed, just as it was found."""
        run = in_order(self._trace, found.order)
        verdict = self._checked(run)
        if verdict.truth is not sought or (is_certain and not self._is_certain(verdict, found.order)):
            verdict = self._checked(_as_one(run))
        if verdict.truth is Truth.UNKNOWN:
            raise LimitReachedError(verdict.reason)
        assert verdict.truth is sought, "what was found on an order is so in it"
        return replace(verdict, observed=None, candidate=not is_certain)

    def _sliced(self, showing: Node, sought: Truth) -> None:
        """Looks for what is certain among sliced reorderings, where there are too many orders."""
        if not self._has_accesses or (self._best is not None and not self._best.candidate):
            return
        match showing:
            case Temporal("F", (state,)) | Not(Temporal("G", (Not(state),))) if is_state(state):
                found = self._reaching(state)
            case Not(Temporal("G", (state,))) if is_state(state):
                found = self._reaching(Not(state))
            case _:
                found = RegularSearch(self._trace, showing, self._budget).found(MOST_SLICES)
        self._keep(found, sought, is_certain=True)

    def _reaching(self, state: Node) -> Deciding | None:
        for cuts in range(1, MOST_SLICES):
            question = Reached(self._trace, compile_predicate(state))
            search = SlicedSearch(self._trace, question, cuts, self._budget)
            found = search.found()
            if found is not None or not search.is_complete:
                return found
        return None

    def _tried(self, orders: Sequence[tuple[int, ...]], sought: Truth) -> None:
        """Asks order by order; the first that shows it for certain is the best."""
        for order in orders:
            self._budget.look()
            verdict = self._checked(in_order(self._trace, order))
            if verdict.truth is sought:
                is_certain = self._has_accesses and self._is_certain(verdict, order)
                if self._best is None or is_certain:
                    self._best = replace(verdict, observed=None, candidate=not is_certain)
                if is_certain:
                    return

    def _checked(self, run: Trace) -> Verdict:
        options = replace(self._options, timeout=self._budget.left)
        return check_trace(run, self._specification, options).verdicts[0]

    @property
    def _has_accesses(self) -> bool:
        """Whether the recording tells all accesses, so that it is known what each read saw."""
        recorded = recorded_of(self._trace.header)
        return recorded is None or recorded.accesses

    def _is_certain(self, verdict: Verdict, order: Sequence[int]) -> bool:
        """Whether nobody notices a difference on the way that the verdict shows."""
        path: Sequence[int] = order
        if verdict.witness is not None:
            path = [event for name in verdict.witness.path if (event := self._trace.find(name)) is not None]
        elif verdict.path is not None:
            path = order[: self._end(verdict.path, order)]
        return is_unnoticed(self._trace, path)

    def _end(self, found: PathResult, order: Sequence[int]) -> int:
        """How much of the order it takes to show what a path expression forbids; all, where an end lacks."""
        names = (found.matches or ((),))[0] or ((found.event,) if found.event else ())
        events = {self._trace.find(name) for name in names}
        return max(
            (place for place, event in enumerate(order, start=1) if event in events), default=len(order)
        )


def _as_one(run: Trace) -> Trace:
    """The run in which every event follows the one before; joint events stay one."""
    meets = [run.meet[event] if run.meet is not None else NONE for event in range(len(run))]
    return with_order(
        run,
        [
            (first, second)
            for first, second in pairwise(range(len(run)))
            if meets[first] == NONE or meets[first] != meets[second]
        ],
    )


def _settled(known: Verdict, sought: Truth) -> Verdict:
    """No order shows what is sought."""
    if known.truth is not Truth.UNKNOWN:
        return known
    truth = Truth.HOLDS if sought is Truth.VIOLATED else Truth.VIOLATED
    return replace(known, truth=truth, reason=None, engine="orders")


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
