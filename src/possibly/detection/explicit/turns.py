"""Answers on runs that tell of turns: a failing order in which an event loop interrupts a task is none.

The engines look at every order of the events. What is so in all of them is so in those that an event loop
allows, and a path that interrupts no turn (see `trace.turns`) shows by itself what it shows of states.
Whatever else they find is asked again on the lattice of whole turns, cut by cut, and is open where that is
too large.
"""

from __future__ import annotations

from possibly.detection.branching import decide
from possibly.detection.choose import Answer
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.explicit.linear import Linear
from possibly.detection.explicit.whole import INTERRUPTED, MOST_CUTS, NOTE, WholeTurns
from possibly.detection.finding import ENDS_FALSE, ENDS_TRUE, Finding, Shows
from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.observed import implied
from possibly.logic.predicates.functions import deciding_state, is_state
from possibly.logic.syntax import Node, Not, Temporal
from possibly.order.predicate import CutPredicates
from possibly.records import replace
from possibly.trace.turns import Turns


def within_turns(
    language: str, formula: Node, predicates: CutPredicates, budget: Budget, result: Answer
) -> Answer:
    """The answer in the orders that event loops allow."""
    computation = predicates.lattice.computation
    finding, turns = result.finding, Turns(computation.trace)
    if not turns or finding is None or finding.loop is not None:
        return result
    whole = WholeTurns(computation, turns)
    if _carries_over(language, formula, finding, whole) or not whole.leaves_out:
        return result
    part = budget.part(MOST_CUTS)
    try:
        found = _asked_again(language, formula, predicates, part, whole)
    except LimitReachedError:
        return replace(result, finding=None, reason=INTERRUPTED)
    assumed = replace(found, assumed=finding.assumed)
    return replace(result, finding=assumed, notes=(*result.notes, NOTE))


def _carries_over(language: str, formula: Node, finding: Finding, whole: WholeTurns) -> bool:
    """Whether what is found in all orders is so in fewer of them too."""
    if language == "ltl":
        return finding.value or (finding.path is not None and whole.is_whole(finding.path))
    if implied(formula, finding.value) is not None:
        return True
    return finding.path is not None and _is_shown_by_path(formula) and whole.is_whole(finding.path)


def _is_shown_by_path(formula: Node) -> bool:
    return isinstance(formula, Temporal) and all(map(is_state, formula.operands))


def _asked_again(
    language: str, formula: Node, predicates: CutPredicates, budget: Budget, whole: WholeTurns
) -> Finding:
    sought = deciding_state(formula)
    if sought is not None:
        path = whole.to(predicates(sought), budget)
        shown = Shows(ENDS_FALSE, sought.operand) if isinstance(sought, Not) else Shows(ENDS_TRUE, sought)
        is_there = isinstance(formula, Temporal) and formula.operator == "EF"
        return Finding(not is_there) if path is None else Finding(is_there, tuple(path), shown)
    if language == "ltl":
        return Linear(whole, predicates, formula, budget).decide()
    return decide(Exhaustive(whole, predicates, budget), formula)
