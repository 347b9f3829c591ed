"""Checking a specification on a trace: from the trace and the properties to a report.

Here belongs the one sequence that every view uses: bind the names, classify, choose an engine, find, compare
with the observed order, explain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import islice
from time import perf_counter

from possibly.detection.choose import Answer, answer, engines_for
from possibly.detection.finding import BREAKS, Finding, Shows
from possibly.detection.limits import Budget, LimitReachedError, half_of_memory
from possibly.detection.observed import Observed, implied, observed_path, shown_by
from possibly.errors import FormulaError
from possibly.logic.bind import Bound, Vocabulary, bind_property
from possibly.logic.languages import FORMULAS, LANGUAGES, PATHS
from possibly.logic.predicates.classes import SMALLEST_FIRST, classify, smallest_class
from possibly.logic.predicates.functions import maximal_predicates
from possibly.logic.printer import unparse
from possibly.logic.specification import Property, Specification
from possibly.logic.syntax import Implies, Keyed, Literal, Node, Shared, Temporal
from possibly.logic.walk import nodes
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice, Move, steps_of
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.records import dataclass, replace
from possibly.trace.model import Trace
from possibly.verdict.model import (
    Example,
    Explanation,
    Loop,
    MissingOrder,
    Report,
    Truth,
    Verdict,
    Witness,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from possibly.detection.missing import Pair
    from possibly.order.facts import RunFacts
    from possibly.session.checking.modular import ModularChecker
    from possibly.session.checking.paths import PathChecker
    from possibly.session.checking.tasks import TaskChecker
    from possibly.session.checking.unrecorded import Unrecorded

Progress = Callable[[str, int, int | None], None]
"""Told what is done, how much of it is done, and of how much if that is known."""

"""Those that can be checked so far."""

LONG = 20_000
"""Events of a trace on which no missing order is tried out, and of a path on which none is looked for."""

EFFORT_FOR_WHY = 20_000
"""Cuts that may be visited to find out whether one missing order is the whole reason."""


HALF = 0
"""Stands for half of the machine's memory."""

MOST_NOTES = 100
"""Predicates of a formula whose class is told."""

MOST_NODES = 5_000
"""Parts of a predicate whose class is told with the reason, which names them."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to check. `None` is no limit."""

    order: str = "causal"
    max_cuts: int | None = 10_000_000
    timeout: float | None = None
    engine: str = "auto"
    explain: bool = True
    """Make explanations; witnesses come in any case."""
    tells_races: bool = True
    """Name what tasks race for if a property holds in the recorded order of their accesses."""
    notes: bool = False
    """Say in full how it was decided: the model of a path expression with all its states, for one."""
    examples: bool = False
    """Look for an order in which a property that holds takes effect."""
    vacuity: bool = False
    """Ask all engines whether what a property that holds speaks of ever happens, not slices alone."""
    loops: str | None = None
    """Also judge orders that go on for ever, where a state comes again: `any`, `weak`, `strong`."""
    times: bool = False
    """Formulas may read `time`, a variable of each process: when its last event happened."""
    modular: bool = False
    """Judge the modules of a net apart where the compositional property of task formulas allows it."""
    max_memory: int | None = HALF
    """Bytes of this process; HALF: half of the machine's."""


def check_trace(
    trace: Trace, specification: Specification, options: Options, progress: Progress | None = None
) -> Report:
    """The answers to all properties on one trace."""
    checker = Checker(trace, options, progress)
    bound = [(found, checker.bound(found, specification)) for found in specification.properties]
    verdicts = tuple(checker.verdict(found, formula) for found, formula in bound)
    warnings = dict.fromkeys(warning for _, formula in bound for warning in formula.warnings)
    for (_, formula), verdict in zip(bound, verdicts, strict=True):
        warnings.update(dict.fromkeys(checker.vacuous(formula, verdict)))
    return Report(trace.file or "", len(trace.processes), len(trace), verdicts, tuple(warnings))


class Checker:
    """Answers properties on one trace; what they share is prepared once."""

    def __init__(self, trace: Trace, options: Options, progress: Progress | None = None) -> None:
        self.options = options
        self.progress = progress
        self.computation = Computation(trace, options.order)
        self.lattice = Lattice(self.computation)
        self.readings = Readings(self.computation)
        self.names: Vocabulary = vocabulary(trace)
        self._paths: PathChecker | None = None
        """Made for the first path expression, with the rules of its specification."""

    def bound(self, found: Property, specification: Specification) -> Bound:
        """The property with its names resolved; errors point into its text."""
        if found.language not in LANGUAGES:
            raise FormulaError(
                f"{found.language} properties cannot be checked yet",
                file=found.file,
                line=found.line if found.file else None,
                hint=f"languages: {', '.join(LANGUAGES)}",
            )
        if found.language == "tl":
            return self._bound_tasks(found, specification)
        if found.language in PATHS:
            return self._bound_path(found, specification)
        engines_for(found.language, self.options.engine)
        if isinstance(found.formula, Keyed):
            from possibly.session.checking.keyed import bound_keys

            return bound_keys(found, found.formula, self, specification)
        return bind_property(found, self.names, specification.lets, counts_pairs=True, facts=self._facts)

    @cached_property
    def _facts(self) -> RunFacts | None:
        """What leaves out instances of quantifiers, unless an engine is asked for or values are cut off."""
        if self.options.engine != "auto" or (self._unrecorded is not None and self._unrecorded.has_cut):
            return None
        from possibly.order.facts import RunFacts

        return RunFacts(self.lattice, self.readings)

    def _bound_tasks(self, found: Property, specification: Specification) -> Bound:
        from possibly.detection.tasks.check import check_engine
        from possibly.logic.tasks.bind import bind_tasks

        check_engine(self.options.engine)
        assert found.formula is not None, "tl properties are parsed when they are read"
        bound = bind_tasks(found.formula, self.names, specification.lets, found.source)
        return Bound(bound.formula, bound.warnings)

    def _bound_path(self, found: Property, specification: Specification) -> Bound:
        from possibly.session.checking.paths import PathChecker

        if self._paths is None:
            trace = self.computation.trace
            self._paths = PathChecker(
                trace, self.options.order, self.names, specification, has_notes=self.options.notes
            )
        return Bound(Literal(True), self._paths.warnings(found, self.options.engine))

    @cached_property
    def _tasks(self) -> TaskChecker | ModularChecker:
        from possibly.session.checking.tasks import TaskChecker

        whole = TaskChecker(self.computation.trace, self.options.engine, self.options.explain)
        if not self.options.modular:
            return whole
        from possibly.session.checking.modular import ModularChecker

        return ModularChecker(whole, self.names)

    @cached_property
    def _unrecorded(self) -> Unrecorded | None:
        """What knows which questions the trace cannot answer, if it says what was recorded."""
        if not {"recorded", "cut_off"} & self.computation.trace.header.keys():
            return None
        from possibly.session.checking.unrecorded import Unrecorded

        return Unrecorded(self.computation.trace)

    @property
    def needs_each(self) -> bool:
        """Whether the trace does not tell all, or an engine is asked for: no instance is passed over then."""
        return self._unrecorded is not None or self.options.engine != "auto"

    def verdict(self, found: Property, bound: Bound) -> Verdict:
        if isinstance(found.formula, Keyed):
            from possibly.session.checking.keyed import keyed_verdict

            return keyed_verdict(found, found.formula, bound, self)
        if self._unrecorded is not None:
            strangers = self._paths.strangers(found) if self._paths and found.language in PATHS else ()
            unknown = self._unrecorded.verdict(found, bound.formula, strangers)
            if unknown is not None:
                return unknown
        return self._answered(found, bound)

    def _answered(self, found: Property, bound: Bound) -> Verdict:
        if self._paths is not None and found.language in PATHS:
            return self._paths.verdict(found, self._budget(f"checking {found.name}"))
        if found.language == "tl":
            return self._tasks.verdict(found, bound.formula, self._budget(f"checking {found.name}"))
        started = perf_counter()
        predicates = CutPredicates(self.lattice, self.readings, bound.declared)
        if bound.declared:
            from possibly.detection.slices.declared import check_declared

            check_declared(bound.declared, self.lattice, predicates)
        budget = self._budget(f"checking {found.name}")
        formula = bound.formula
        result = answer(found.language, formula, self.lattice, predicates, budget, self.options.engine)
        if self.options.loops is not None:
            from possibly.session.checking.loops import with_loops

            result = with_loops(found.language, formula, predicates, budget, self.options.loops, result)
        if result.finding is not None and self._tells_turns:
            from possibly.detection.explicit.turns import within_turns

            result = within_turns(found.language, formula, predicates, budget, result)
        observed = self._observed(found.language, formula, predicates, result.finding, budget)
        if result.finding is None:
            result = self._from_observed(found.language, formula, predicates, observed, result)
        finding = result.finding
        name, notes = _classes(bound)
        return Verdict(
            name=found.name,
            language=found.language,
            formula=found.text,
            truth=_truth(finding),
            predicate_class=name,
            engine=result.engine,
            cuts=result.cuts,
            observed=observed,
            assumed=() if finding is None else finding.assumed,
            faults=predicates.faults,
            raced=self._raced(found.language, formula, finding),
            witness=self._witness(finding),
            explanation=self._explanation(found.language, formula, finding, observed),
            example=self._example(bound, finding),
            reason=result.reason,
            notes=(*notes, *result.notes),
            seconds=perf_counter() - started,
        )

    @property
    def _tells_turns(self) -> bool:
        """Whether tasks of an event loop are told apart from threads, which may stop anywhere."""
        from possibly.trace.model import NONE
        from possibly.trace.turns import turn_kind

        return turn_kind(self.computation.trace) != NONE

    def vacuous(self, bound: Bound, verdict: Verdict, where: str = "this run") -> tuple[str, ...]:
        """A warning if a property of states holds because a left side is never true."""
        if verdict.truth is not Truth.HOLDS:
            return ()
        from possibly.session.checking.effect.vacuity import told, told_immaterial

        lefts = self.never_true(bound, verdict)
        parts = self.immaterial(bound, verdict, lefts)
        return (
            *([told(verdict.name, lefts, f"order of {where}")] if lefts else ()),
            *([told_immaterial(verdict.name, parts, where)] if parts else ()),
        )

    def never_true(self, bound: Bound, verdict: Verdict) -> tuple[Node, ...]:
        """The left sides of a property that holds which are true in no order, as far as that is known."""
        if verdict.truth is not Truth.HOLDS or verdict.language not in FORMULAS:
            return ()
        if not any(isinstance(node, Implies) for node in nodes(bound.formula)):
            return ()
        from possibly.session.checking.effect.vacuity import never_true

        return never_true(bound.formula, partial(self._ever, bound), self.options.vacuity)

    def immaterial(self, bound: Bound, verdict: Verdict, never: tuple[Node, ...]) -> tuple[Node, ...]:
        """The parts of a property that holds which may be anything, if that is asked for."""
        if not self.options.vacuity or verdict.truth is not Truth.HOLDS:
            return ()
        if verdict.language not in FORMULAS:
            return ()
        from possibly.session.checking.effect.vacuity import immaterial

        return immaterial(bound.formula, partial(self._holds, verdict.language, bound), never)

    def _holds(self, language: str, bound: Bound, formula: Node) -> bool | None:
        predicates = CutPredicates(self.lattice, self.readings, bound.declared)
        found = answer(language, formula, self.lattice, predicates, self._budget("vacuity"), "auto").finding
        return None if found is None or found.assumed else found.value

    def _ever(self, bound: Bound, formula: Node) -> bool | None:
        predicates = CutPredicates(self.lattice, self.readings, bound.declared)
        engine = "auto" if self.options.vacuity else "slice"
        found = answer("ctl", formula, self.lattice, predicates, self._budget("vacuity"), engine).finding
        return None if found is None or found.assumed else found.value

    def _budget(self, what: str) -> Budget:
        told = None if self.progress is None else partial(self.progress, what)
        memory = half_of_memory() if self.options.max_memory == HALF else self.options.max_memory
        return Budget(self.options.max_cuts, self.options.timeout, told, max_memory=memory)

    def _observed(
        self,
        language: str,
        formula: Node,
        predicates: CutPredicates,
        finding: Finding | None,
        budget: Budget,
    ) -> bool | None:
        """Whether the recorded order satisfies it; None if a little more than the limits does not tell."""
        if finding is not None and not finding.assumed and finding.loop is None:
            known = implied(formula, finding.value) if language == "ctl" else finding.value or None
            if known is not None:
                return known
        left = budget.after_all()
        try:
            if language == "ltl":
                return self._linear_on_observed(formula, predicates, left)
            return Observed(self.lattice, predicates, left.look).holds(formula)
        except LimitReachedError:
            return None

    def _linear_on_observed(self, formula: Node, predicates: CutPredicates, budget: Budget) -> bool | None:
        from possibly.detection.explicit.linear import Linear
        from possibly.logic.ltl.progression import TooLargeError

        try:
            linear = Linear(self.lattice, predicates, formula, budget)
            return linear.holds_on(observed_path(self.lattice))
        except TooLargeError:
            return None

    def _from_observed(
        self, language: str, formula: Node, predicates: CutPredicates, observed: bool | None, result: Answer
    ) -> Answer:
        """Where the engines gave up, the recorded order may still decide: it is one of all orders."""
        path = observed_path(self.lattice)
        if language == "ctl":
            finding = None if observed is None else shown_by(Observed(self.lattice, predicates), formula)
        else:
            finding = (
                Finding(False, path, Shows(BREAKS, formula, to_the_end=True)) if observed is False else None
            )
        if finding is None:
            return result
        note = f"{result.reason}; the recorded order decides"
        return replace(result, finding=finding, engine="observed", reason=None, notes=(*result.notes, note))

    def _raced(self, language: str, formula: Node, finding: Finding | None) -> tuple[str, ...]:
        """What tasks race for, of a property that holds, as such accesses were kept: first what it reads.

        Other variables count too, for what the program does with them may become a value that it reads.
        """
        is_asked = self.options.tells_races and self.options.order == "causal"
        if not is_asked or finding is None or not finding.value:
            return ()
        read = {node.variable for node in nodes(formula) if isinstance(node, Shared)}
        return tuple(sorted(self._races, key=lambda name: read.isdisjoint((name, name.partition("[")[0]))))

    @cached_property
    def _races(self) -> tuple[str, ...]:
        """The variables that tasks race for; in a large run they are not looked for."""
        trace = self.computation.trace
        if len(trace) > LONG or len(trace.processes) < 2 or not trace.write_variable:
            return ()
        from possibly.recorder.sharing.races import races

        return tuple(dict.fromkeys(race.variable for race in races(trace) if not race.is_atomic))

    # ---- witnesses and reasons: what finds them is imported where there is something to explain -------

    def _witness(self, finding: Finding | None) -> Witness | None:
        if finding is None or finding.path is None:
            return None
        trace, computation = self.computation.trace, self.computation
        cut = self._cut(finding.path)
        return Witness(
            cut=dict(zip(computation.processes, cut, strict=True)),
            path=tuple(trace.name(e) for step in steps_of(finding.path) for e in computation.events(step)),
            loop=None if finding.loop is None else self._loop(finding),
        )

    def _cut(self, path: Sequence[Move]) -> tuple[int, ...]:
        counts = list(self.computation.initial)
        for step in steps_of(path):
            for event in self.computation.events(step):
                counts[self.computation.trace.process[event]] += 1
        return tuple(counts)

    def _explanation(
        self, language: str, formula: Node, finding: Finding | None, observed: bool | None
    ) -> Explanation | None:
        if finding is None or finding.path is None or finding.shows is None or not self.options.explain:
            return None
        from possibly.verdict.explain import atoms_at, settled_steps, steps_along

        steps, state = steps_along(self.computation, steps_of(finding.path))
        shows = finding.shows
        what = formula if shows.to_the_end and language == "ltl" else shows.what
        return Explanation(
            summary=shows.how.format(unparse(shows.what)),
            steps=steps,
            state=state,
            atoms=atoms_at(what, self.readings, self._cut(finding.path[: finding.moment])),
            missing=None if observed == finding.value else self._missing(language, formula, finding),
            moment=finding.moment,
            settled=settled_steps(self.computation, steps_of(finding.path)),
            loop=self._loop(finding) if _is_unending(formula, finding) else None,
            unending=_is_unending(formula, finding),
        )

    def _example(self, bound: Bound, finding: Finding | None) -> Example | None:
        """An order in which a property that holds takes effect; in a large run it is not looked for."""
        if finding is None or not finding.value or finding.path is not None or not self.options.examples:
            return None
        if len(self.computation.trace) > LONG:
            return None
        if not any(isinstance(node, Implies) for node in nodes(bound.formula)):
            return None
        from possibly.session.checking.effect.examples import order_of, wanted
        from possibly.verdict.explain import atoms_at, settled_steps, steps_along

        asked = wanted(bound.formula)
        if asked is None:
            return None
        predicates = CutPredicates(self.lattice, self.readings, bound.declared)
        budget = Budget(max_cuts=EFFORT_FOR_WHY)
        there = answer("ctl", asked.formula, self.lattice, predicates, budget, "auto").finding
        if there is None or there.path is None or not there.value or there.assumed:
            return None
        shown = order_of(asked, there.path, self.lattice, predicates)
        witness = self._witness(replace(there, path=shown.path, moment=None))
        assert witness is not None
        steps, state = steps_along(self.computation, steps_of(shown.path))
        atoms = atoms_at(shown.state, self.readings, self._cut(shown.path))
        settled = settled_steps(self.computation, steps_of(shown.path))
        return Example(witness, Explanation(shown.summary, steps, state, atoms, settled=settled))

    def _loop(self, finding: Finding) -> Loop | None:
        """Where a state comes again on a path; that of a long one is not looked for."""
        from possibly.detection.lassos.search import passed_over
        from possibly.detection.lassos.states import repeated_state

        path = finding.path or ()
        found = finding.loop
        if found is None and len(path) <= LONG:
            found = repeated_state(self.lattice, path, finding.since)
        if found is None:
            return None
        first, second = (self.lattice.pack(self._cut(path[:count])) for count in found)
        names = self.computation.trace.processes
        return Loop(*found, tuple(names[each].name for each in passed_over(self.lattice, first, second)))

    def _missing(self, language: str, formula: Node, finding: Finding) -> MissingOrder | None:
        assert finding.path is not None and finding.shows is not None
        if len(finding.path) > LONG:
            return None
        from possibly.detection.missing import missing_order
        from possibly.verdict.explain import step_of

        pair = missing_order(
            self.computation,
            finding.path,
            finding.shows.what,
            finding.shows.to_the_end,
            lambda pair: self._closes(language, formula, finding.value, pair),
        )
        if pair is None:
            return None
        first, second = step_of(self.computation, pair.first), step_of(self.computation, pair.second)
        return MissingOrder(first, second, pair.suffices)

    def _closes(self, language: str, formula: Node, value: bool, pair: Pair) -> bool | None:
        """Whether the answer turns once the pair is ordered; not tried on long traces."""
        if len(self.computation.trace) > LONG:
            return None
        computation = Computation(self.computation.trace, self.options.order, [(pair.first, pair.second)])
        lattice = Lattice(computation)
        predicates = CutPredicates(lattice, Readings(computation))
        budget = Budget(max_cuts=EFFORT_FOR_WHY)
        result = answer(language, formula, lattice, predicates, budget, "auto")
        return None if result.finding is None else result.finding.value != value


def _is_unending(formula: Node, finding: Finding) -> bool:
    """Whether the path shows that something never happens on it, and not that something happened."""
    if finding.loop is not None:
        return True
    if finding.shows is None or not finding.shows.to_the_end or finding.moment is not None:
        return False
    return any(isinstance(node, Temporal) and node.operator in UNENDING for node in nodes(formula))


UNENDING = ("AF", "AU", "EG", "F", "U")
"""Operators that demand something to happen."""


def _truth(finding: Finding | None) -> Truth:
    if finding is None:
        return Truth.UNKNOWN
    return Truth.HOLDS if finding.value else Truth.VIOLATED


def _classes(bound: Bound) -> tuple[str, tuple[str, ...]]:
    """The least specific class among the predicates of the formula, and a note for each, of many for some."""
    predicates = maximal_predicates(bound.formula)
    names = [smallest_class(node, bound.declared) for node in predicates]
    notes = [_why(node, name, bound) for node, name in zip(predicates[:MOST_NOTES], names, strict=False)]
    if len(predicates) > MOST_NOTES:
        notes.append(f"and {len(predicates) - MOST_NOTES:,} more predicates")
    return max(names, key=SMALLEST_FIRST.index, default="local"), tuple(notes)


def _why(node: Node, name: str, bound: Bound) -> str:
    """Of what class a predicate is and why; of one that quantifiers have made long the class alone."""
    if next(islice(nodes(node), MOST_NODES, None), None) is None:
        return classify(node, bound.declared).why
    return f"a predicate of more than {MOST_NODES:,} parts is {name}"
