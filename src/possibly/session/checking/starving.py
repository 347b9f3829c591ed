"""Rules of path expressions that look for a lack of progress, asked of the other orders of a run.

Here belongs what `check_progress()` and `progress()` mean for orders that were not seen. The rule itself
compares the states of the order that was; in another one others come again. What it looks for is there if
the whole state of the run (`detection.lassos`) comes again after an event that checks and with none
between that progresses, on a loop that passes over nobody who can go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from possibly.detection.lassos.search import Lassos
from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.paths.meaning import Meaning
from possibly.logic.paths.syntax import Action, Atom, Choice, Expression, Perform, all_statements
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice, steps_of
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings

CHECKS, PROGRESSES = "check_progress", "progress"
MOST_VISITED = 20_000
"""Cuts that are visited for what is told beside a rule."""


def starving(name: str, rules: Sequence[Meaning]) -> Iterator[str]:
    """What some order repeats without progress, for a rule that looks for it; `rules` are all that act."""
    if not rules or not all(map(_is_flat, rules)):
        return
    computation = rules[0].computation
    checks = {step for rule in rules for step in _steps(rule, CHECKS)}
    progresses = {step for rule in rules for step in _steps(rule, PROGRESSES)}
    lattice = Lattice(computation)
    predicates = CutPredicates(lattice, Readings(computation))
    try:
        lasso = Lassos(lattice, predicates, Budget(MOST_VISITED)).repeating(progresses, checks)
    except LimitReachedError:
        return
    if lasso is not None:
        steps = steps_of(lasso.path)
        first = _named(computation, steps[lasso.start - 1]) if lasso.start else "the start"
        yield (
            f"{name}: in some order of this run the state after {first} comes again after "
            f"{_named(computation, steps[-1])}, with no progress between: as far as the trace shows, for ever"
        )


def _named(computation: Computation, step: int) -> str:
    return computation.trace.name(step)


def performs(expression: Expression, function: str) -> bool:
    """Whether an action of the expression has this word of the debugger."""
    found = (each for each in expression.statements() if isinstance(each, Perform))
    return any(each.function == function for each in found)


def _is_flat(rule: Meaning) -> bool:
    """Whether each alternative is one event, of any state: then what it does is the same in every order."""
    expression = rule.expression.expression
    if not performs(expression, CHECKS) and not performs(expression, PROGRESSES):
        return True
    pending = [expression.root] if rule.is_plain else []
    while pending:
        match pending.pop():
            case Choice(left, right):
                pending += [left, right]
            case Atom():
                continue
            case _:
                return False
    return rule.is_plain


def _steps(rule: Meaning, function: str) -> Iterator[int]:
    """The steps of the run at which an action of the rule performs the function."""
    expression = rule.expression.expression
    acting = {atom.symbol for atom in expression.atoms if _is_in(atom.action, function)}
    if _is_in(expression.action, function):
        acting.update(atom.symbol for atom in expression.atoms if atom.number >= expression.action_from)
    symbols = [atom.symbol for atom in rule.expression.symbols]
    for step, played in rule.played():
        if any(symbols[each] in acting for each in played):
            yield step


def _is_in(action: Action, function: str) -> bool:
    found = (each for each in all_statements(action) if isinstance(each, Perform))
    return any(each.function == function for each in found)
