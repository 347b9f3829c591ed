"""Which engine answers which property: one table.

Here belongs the choice and nothing else. A row says: for this language, this engine, because. `auto` goes
through the rows of the language: an engine that does not know a formula's class, or that stops at its own
bound, hands over to the next row. An engine whose time grows with the cuts is asked about the projection of
the run (`projected`), unless there are so few cuts that nothing is gained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice

from possibly.detection.finding import BREAKS, Finding, Shows
from possibly.detection.limits import Budget, LimitReachedError, MissingExtraError
from possibly.detection.slices.slicing import Slicing
from possibly.errors import UsageError
from possibly.logic.syntax import And, Node, Or
from possibly.logic.walk import nodes
from possibly.order.computation import CLOCK_TABLE_LIMIT
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.records import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from possibly.order.projection import Projection

HAND_OVER = 30_000
"""Cuts after which `auto` goes from visiting cuts one by one to holding the whole lattice."""


FEW = 100_000
"""Cuts times processes up to which visiting all cuts takes no longer than to load a solver."""


MANY, MOST_CUTS_OF_A_PART = 20, 500
"""Parts of a formula from which on one with so few cuts is answered by visiting them."""

LONG = 200
"""Nodes from which on a formula is worth a pass that shortens it; a shorter one is told as it was written."""


@dataclass(frozen=True, slots=True)
class Question:
    """A formula at the initial cut of a computation. What is sliced for one engine serves the next."""

    formula: Node
    slicing: Slicing
    budget: Budget

    @property
    def lattice(self) -> Lattice:
        return self.slicing.lattice

    @property
    def predicates(self) -> CutPredicates:
        return self.slicing.predicates


Run = Callable[[Question], Finding | None]
"""None: the formula is outside the classes of the engine."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A row of the table."""

    name: str
    language: str
    run: Run
    why: str
    at_first: int | None = None
    """How many cuts it may visit before `auto` hands over to the next row; None: no bound of its own."""
    for_many_cuts: bool = False
    """`auto` passes it by where there are so few cuts that visiting them all is faster."""
    on_projection: bool = False
    """`auto` asks it about the events that matter to the formula, where there are many cuts."""


# Each engine is imported when it is first asked: a small check needs few of them.


def _slice(question: Question) -> Finding | None:
    from possibly.detection.slices.sliced import Sliced

    return Sliced(question.slicing, leaves_pairs=True).decide(question.formula)


def _oracle(question: Question) -> Finding | None:
    from possibly.detection.slices.oracle import Oracle

    predicates = question.predicates
    oracle = Oracle(question.lattice, predicates, question.budget, predicates.declared)
    return oracle.decide(question.formula)


def _steps(question: Question) -> Finding | None:
    from possibly.detection.slices.steps import Steps

    return Steps(question.lattice, question.predicates, question.budget.look).decide(question.formula)


def _definitely(question: Question) -> Finding | None:
    from possibly.detection.slices.definitely import Definitely

    return Definitely(question.slicing, question.budget).decide(question.formula)


def _relational(question: Question) -> Finding | None:
    from possibly.detection.sums.relational import Relational

    return Relational(question.slicing, question.budget).decide(question.formula)


def _solver(question: Question) -> Finding | None:
    from possibly.detection.solver.engine import Solver

    return Solver(question.slicing, question.budget).decide(question.formula)


def _values(question: Question) -> Finding | None:
    from possibly.detection.slices.by_values import ByValues
    from possibly.detection.slices.sliced import Sliced

    return Sliced(ByValues(question.lattice, question.predicates)).decide(question.formula)


def _inside(question: Question) -> Finding | None:
    from possibly.detection.slices.inside import Inside
    from possibly.detection.slices.sliced import Sliced

    return Inside(Sliced(question.slicing), question.budget).decide(question.formula)


def _exhaustive(question: Question) -> Finding:
    from possibly.detection.branching import decide
    from possibly.detection.explicit.exhaustive import Exhaustive

    return decide(Exhaustive(question.lattice, question.predicates, question.budget), question.formula)


def _sweep(question: Question) -> Finding:
    from possibly.detection.branching import decide
    from possibly.detection.explicit.sweep import Sweep

    return decide(Sweep(question.lattice, question.predicates, question.budget), question.formula)


def _slice_linear(question: Question) -> Finding | None:
    from possibly.detection.linear_time.sliced import SlicedLinear
    from possibly.detection.slices.sliced import Sliced

    sliced = Sliced(question.slicing)
    found = SlicedLinear(sliced).decide(question.formula)
    return _via(question, sliced.decide) if found is None else found


def _via(question: Question, ask: Callable[[Node], Finding | None]) -> Finding | None:
    from possibly.detection.linear_time.via_branching import ViaBranching

    return ViaBranching(question.lattice, question.predicates, ask).decide(question.formula)


def _relational_linear(question: Question) -> Finding | None:
    from possibly.detection.sums.relational import Relational

    return _via(question, Relational(question.slicing, question.budget).decide)


def _solver_linear(question: Question) -> Finding | None:
    from possibly.detection.solver.engine import Solver

    return _via(question, Solver(question.slicing, question.budget).decide)


def _values_linear(question: Question) -> Finding | None:
    from possibly.detection.slices.by_values import ByValues
    from possibly.detection.slices.sliced import Sliced

    return _via(question, Sliced(ByValues(question.lattice, question.predicates)).decide)


def _linear(question: Question) -> Finding:
    from possibly.detection.explicit.linear import Linear

    engine = Linear(question.lattice, question.predicates, question.formula, question.budget)
    found = engine.decide()
    if found.path is None:
        return found
    shows = Shows(BREAKS, question.formula, to_the_end=True)
    return Finding(found.value, found.path, shows, engine.moment(found.path))


ENGINES = (
    Engine("slice", "ctl", _slice, "answers from slices, in polynomial time, without visiting cuts"),
    Engine("oracle", "ctl", _oracle, "the class of the predicate leaves few cuts at which it matters"),
    Engine("steps", "ctl", _steps, "the formula speaks of one process and its next step: two truths a state"),
    Engine(
        "definitely",
        "ctl",
        _definitely,
        "AF of a regular predicate: searches the interval that matters",
        on_projection=True,
    ),
    Engine(
        "values",
        "ctl",
        _values,
        "answers from one slice for each combination of values, where there are too many cuts to visit",
        for_many_cuts=True,
        on_projection=True,
    ),
    Engine(
        "relational",
        "ctl",
        _relational,
        "finds the extremes of a sum by maximum flow, where there are too many cuts to visit them all",
        for_many_cuts=True,
        on_projection=True,
    ),
    Engine(
        "solver",
        "ctl",
        _solver,
        "asks a constraint solver for a cut, where there are too many cuts to visit them all",
        for_many_cuts=True,
        on_projection=True,
    ),
    Engine(
        "inside",
        "ctl",
        _inside,
        "slices what can be sliced, and searches the cuts of the slice, smallest first",
        at_first=HAND_OVER // 10,  # a cut of a slice costs as much as several of the lattice
        on_projection=True,
    ),
    Engine(
        "exhaustive",
        "ctl",
        _exhaustive,
        "visits cuts one by one and stops as soon as the answer is known",
        at_first=HAND_OVER,
        on_projection=True,
    ),
    Engine(
        "sweep",
        "ctl",
        _sweep,
        "holds the whole lattice as rows of bits, one pass an operator",
        on_projection=True,
    ),
    Engine("slice", "ltl", _slice_linear, "the formula says the same in branching time, which slices answer"),
    Engine(
        "values",
        "ltl",
        _values_linear,
        "the formula says the same in branching time, which slices by combinations of values answer",
        for_many_cuts=True,
        on_projection=True,
    ),
    Engine(
        "relational",
        "ltl",
        _relational_linear,
        "the formula says the same in branching time, which extremes of a sum answer",
        for_many_cuts=True,
        on_projection=True,
    ),
    Engine(
        "solver",
        "ltl",
        _solver_linear,
        "the formula says the same in branching time, which a constraint solver answers",
        for_many_cuts=True,
        on_projection=True,
    ),
    Engine(
        "linear",
        "ltl",
        _linear,
        "walks the lattice together with the automaton of the negated formula",
        on_projection=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A finding, or the limit that was hit (`finding` None)."""

    finding: Finding | None
    engine: str
    cuts: int
    notes: tuple[str, ...]
    reason: str | None = None


def engines_for(language: str, name: str = "auto") -> tuple[Engine, ...]:
    """The rows to try, in order."""
    rows = tuple(engine for engine in ENGINES if engine.language == language)
    if name == "auto":
        return rows
    chosen = tuple(engine for engine in rows if engine.name == name)
    if not chosen:
        names = ", ".join(["auto", *dict.fromkeys(engine.name for engine in ENGINES)])
        known = any(engine.name == name for engine in ENGINES)
        reason = f"does not answer {language} properties" if known else "does not exist"
        raise UsageError(f"engine {name!r} {reason}", hint=f"engines: {names}")
    return chosen


def answer(
    language: str, formula: Node, lattice: Lattice, predicates: CutPredicates, budget: Budget, name: str
) -> Answer:
    """The first engine of the table that comes to an end."""
    rows = engines_for(language, name)
    is_long = name == "auto" and next(islice(nodes(formula), LONG, None), None) is not None
    if is_long:
        from possibly.detection.folded import folded

        try:
            formula = folded(formula, predicates, budget.look)
        except LimitReachedError as limit:
            return Answer(None, rows[0].name, 0, (), str(limit))
    asked = Asked(Question(formula, Slicing(lattice, predicates, budget.look), budget), name == "auto")
    skipped: list[str] = []
    notes: list[str] = []
    reason = f"the formula is outside the classes of engine {rows[-1].name}; use --engine auto"
    for number, engine in enumerate(rows):
        if engine.for_many_cuts and asked.has_few_cuts:
            continue
        part = budget.part(None)
        try:
            question = asked.to(engine.on_projection, part)
            part.bound_to(engine.at_first if number + 1 < len(rows) and _fits(question.lattice) else None)
            found = asked.finding(engine.on_projection, engine.run(question))
        except LimitReachedError as limit:
            budget.visited = part.visited
            notes.append(f"engine {engine.name}: {engine.why}")
            if part.bound is None or not part.stopped_at_bound:
                notes = [*_outside(skipped), *asked.told(engine.on_projection), *notes]
                return Answer(None, engine.name, part.visited, tuple(notes), str(limit))
            notes.append(f"handed over after {part.visited} cuts")
            continue
        except MissingExtraError as missing:
            reason = f"engine {engine.name} {missing}"
            notes.append(reason)
            continue
        if found is not None:
            notes.append(f"engine {engine.name}: {engine.why}")
            notes = [*_outside(skipped), *asked.told(engine.on_projection), *notes]
            return Answer(found, engine.name, part.visited, tuple(notes))
        skipped.append(engine.name)
        if is_long and number == 0 and (parts := parts_of(language, formula)):
            return _by_parts(language, parts, isinstance(formula, Or), lattice, predicates, budget)
    return Answer(None, rows[-1].name, budget.visited, _outside(skipped), reason)


def parts_of(language: str, formula: Node) -> Sequence[Node]:
    """Formulas of which each can be asked by itself; none if it takes the whole."""
    match formula:
        case And(operands):
            return operands
        case Or(operands) if language == "ctl":
            return operands
    return ()


def _by_parts(
    language: str,
    parts: Sequence[Node],
    decides: bool,
    lattice: Lattice,
    predicates: CutPredicates,
    budget: Budget,
) -> Answer:
    """Each part by itself, on a projection of its own; one with the deciding value decides."""
    unknown: Answer | None = None
    assumed: dict[str, None] = {}
    for part in parts:
        small = _on_few_cuts(language, part, lattice, predicates, budget) if len(parts) > MANY else None
        found = small or answer(language, part, lattice, predicates, budget, "auto")
        if found.finding is None:
            unknown = unknown or found
        elif found.finding.value == decides:
            return found
        else:
            assumed.update(dict.fromkeys(found.finding.assumed))
    if unknown is not None:
        return unknown
    note = f"each of {len(parts):,} parts was asked by itself; the last: {'; '.join(found.notes)}"
    finding = Finding(not decides, assumed=tuple(assumed))
    return Answer(finding, found.engine, budget.visited, (note,))


def _on_few_cuts(
    language: str, formula: Node, lattice: Lattice, predicates: CutPredicates, budget: Budget
) -> Answer | None:
    """Of many formulas one that is quickly answered, where the projection leaves next to nothing."""
    asked = Asked(Question(formula, Slicing(lattice, predicates, budget.look), budget), may_project=True)
    part = budget.part(None)
    try:
        if language != "ctl" or not asked.leaves_few_cuts:
            return None
        found = _exhaustive(asked.to(True, part))
    except LimitReachedError as limit:
        return Answer(None, "exhaustive", part.visited, (), str(limit))
    budget.visited = part.visited
    return Answer(asked.finding(True, found), "exhaustive", part.visited, asked.told(True))


class Asked:
    """A question about a run, and the same about its projection. `may_project`: unless it is told not to."""

    def __init__(self, question: Question, may_project: bool) -> None:
        self.question = question
        self.may_project = may_project
        self._projected: Slicing | None = None
        self._projection: Projection | None = None
        self._is_tried = False

    @cached_property
    def has_few_cuts(self) -> bool:
        return self.may_project and few_cuts(self.question.lattice)

    @property
    def leaves_few_cuts(self) -> bool:
        """Whether the projection has so few cuts that no other way is faster."""
        if not self._project(self.question.budget) or self._projection is None:
            return False
        return self._projection.most_cuts <= MOST_CUTS_OF_A_PART

    def to(self, on_projection: bool, budget: Budget) -> Question:
        """The question for an engine, about the projection if it is one for that."""
        if not on_projection or not self._project(budget) or self._projected is None:
            return replace(self.question, budget=budget)
        return Question(self.question.formula, self._projected, budget)

    def _project(self, budget: Budget) -> bool:
        if not self._is_tried and self.may_project and not self.has_few_cuts:
            from possibly.detection.projected import projection_for

            self._projection = projection_for(self.question.predicates, self.question.formula, budget.look)
            if self._projection is not None:
                look = self.question.budget.look
                self._projected = Slicing(self._projection.lattice, self._projection.predicates, look)
        self._is_tried = True
        return self._projection is not None

    def finding(self, on_projection: bool, found: Finding | None) -> Finding | None:
        """What an engine found, as a finding of the run."""
        if found is None or not on_projection or self._projection is None:
            return found
        from possibly.detection.projected import lifted

        return lifted(self._projection, found, self.question.budget.look)

    def told(self, on_projection: bool) -> tuple[str, ...]:
        """What was left out, for the notes."""
        if not on_projection or self._projection is None:
            return ()
        from possibly.detection.projected import told

        return (told(self._projection),)


def few_cuts(lattice: Lattice) -> bool:
    """Whether visiting every cut is quick; the cuts are counted, up to there."""
    most = FEW // max(1, len(lattice.computation.lengths))
    if len(lattice.computation) > most:  # an observation alone has more
        return False
    return sum(1 for _ in islice(lattice.depth_first(), most + 1)) <= most


def _outside(names: Sequence[str]) -> tuple[str, ...]:
    return (f"outside the classes of: {', '.join(names)}",) if names else ()


def _fits(lattice: Lattice) -> bool:
    """Whether the explicit lattice can be tried: its bounds are tables of events x processes."""
    computation = lattice.computation
    return len(computation.trace) * len(computation.lengths) <= CLOCK_TABLE_LIMIT
