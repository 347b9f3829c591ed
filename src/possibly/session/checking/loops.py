"""Answers that also count the orders which go on for ever, where a state of the run comes again.

Here belongs what `--loops` makes of an answer. A finite run shows that something happened, not that
something never does. With a lasso (`detection.lassos`) a liveness property is violated for ever, as far as
the trace shows the state; so a lasso is shown rather than an order that merely ends, and what holds of all
finite orders must hold of all lassos.
"""

from __future__ import annotations

from collections.abc import Iterable

from possibly.detection.choose import Answer
from possibly.detection.finding import BREAKS, KEEPS, Finding, Shows
from possibly.detection.lassos.infinite import is_future
from possibly.detection.lassos.search import Lasso, Lassos
from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.observed import observed_path
from possibly.logic.ltl.from_branching import of_every_path, of_some_path
from possibly.logic.syntax import Node, Not, Temporal
from possibly.logic.walk import nodes
from possibly.order.lattice import Move
from possibly.order.predicate import CutPredicates
from possibly.records import replace

MOST_CUTS = 300_000
"""Cuts to visit after which loops are looked for in the recorded order alone."""

LASTING = frozenset(("AF", "AU", "EG"))
"""Operators of branching time that depend on whether a path goes on for ever."""

NO_FORM = (
    "--loops looks at ltl without past, and at ctl that ltl can say: AG, and AF or A[U] of states below it"
)

WHOLE_STATE = "that the recorded variables, messages and places are the whole state of the program"


def with_loops(
    language: str, formula: Node, predicates: CutPredicates, budget: Budget, fairness: str, result: Answer
) -> Answer:
    """The answer on all orders, those that go on for ever included."""
    linear, value = _of_paths(language, formula)
    if linear is None:
        return _without_form(formula, result)
    if not _can_matter(linear, value, result.finding):
        return result
    lattice = predicates.lattice
    part = budget.part(MOST_CUTS)
    try:
        lasso = Lassos(lattice, predicates, part, fairness).breaking(linear)
        note = "loops were looked for in all orders"
    except LimitReachedError as limit:
        lasso = None if not part.stopped_at_bound else _on_observed(predicates, budget, fairness, linear)
        why = str(limit) if not part.stopped_at_bound else f"there are more than {MOST_CUTS:,} cuts to visit"
        note = f"loops were looked for in the recorded order alone: {why}"
        if lasso is None and result.finding is not None and result.finding.value != value:
            return replace(result, finding=None, reason=note)
    if lasso is None:
        return replace(result, notes=(*result.notes, note))
    shown = Shows(KEEPS if value else BREAKS, formula, to_the_end=True)
    loop = lasso.start, len(lasso.path)
    finding = Finding(value, lasso.path, shows=shown, assumed=(WHOLE_STATE,), loop=loop)
    return replace(result, finding=finding, engine="lassos", reason=None, notes=(*result.notes, note))


def _of_paths(language: str, formula: Node) -> tuple[Node | None, bool]:
    """A linear formula, and the answer if some lasso breaks it."""
    if language == "ltl":
        return (formula if is_future(formula) else None), False
    found = of_every_path(formula)
    if found is not None:
        return found, False
    some = of_some_path(formula)
    return (None if some is None else Not(some)), True


def _can_matter(linear: Node, value: bool, finding: Finding | None) -> bool:
    """Whether a lasso would change the answer, or show it better."""
    if not any(isinstance(node, Temporal) for node in nodes(linear)):
        return False
    if finding is None or finding.value != value:
        return True
    return finding.moment is None and finding.shows is not None and finding.shows.to_the_end


def _without_form(formula: Node, result: Answer) -> Answer:
    """Of formulas that no linear one says, those whose answer no loop changes keep it."""
    operators = {node.operator for node in nodes(formula) if isinstance(node, Temporal)}
    if not operators & LASTING and is_branching(operators):
        return result
    return replace(result, finding=None, reason=NO_FORM)


def is_branching(operators: Iterable[str]) -> bool:
    return all(operator[0] in "AE" for operator in operators)


def _on_observed(predicates: CutPredicates, budget: Budget, fairness: str, linear: Node) -> Lasso | None:
    """A lasso along the recorded order; None also if the limits do not allow to look for it."""
    lattice, cut = predicates.lattice, predicates.lattice.initial
    moves: dict[int, tuple[Move, ...]] = {}
    for move in observed_path(lattice):
        moves[cut] = (move,)
        cut += move.delta
    try:
        part = budget.part(MOST_CUTS)
        return Lassos(lattice, predicates, part, fairness, lambda at: moves.get(at, ())).breaking(linear)
    except LimitReachedError:
        return None
