"""For which task formulas the parts of a net can be judged apart.

Here belongs the compositional property of Frey, "Debugging parallel programs using temporal logic
specifications", section 4, as far as it is true: a formula about variables of one module that has neither
time nor functions in it keeps its answer when modules are added that nothing orders with this one. A module
is a set of tasks with their own local variables. And a formula about one task at a time, without time, is
satisfied in a net iff it is satisfied in each of its modules, whatever they share.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from possibly.logic.syntax import Local, Node, Shared, Temporal
from possibly.logic.tasks.formulas import ForTask, Point, Provided, Says, free_variables, subformulas
from possibly.logic.walk import nodes


class Fragment(Enum):
    """What follows for a net from the answer in the one module that a formula speaks of."""

    NOTHING = 0
    SATISFIED = 1
    """It is satisfied if it is so in the module."""
    BOTH = 2
    """It has the answer that it has in the module."""


def fragment_of(formula: Node) -> Fragment:
    if any(_needs_all(part) for part in subformulas(formula)):
        return Fragment.NOTHING
    if not any(_is_exists(part) for part in subformulas(formula)):
        return Fragment.BOTH
    is_outermost = not free_variables(formula) and not _has_exists_below_forall(formula)
    return Fragment.SATISFIED if is_outermost else Fragment.NOTHING


def _needs_all(part: Node) -> bool:
    match part:
        case Temporal():
            return True
        case Provided(_, condition):
            return condition.caller or condition.operator != "=="
        case Says(_, formula):
            return any(isinstance(node, Point) for node in nodes(formula))
    return False


def _is_exists(part: Node) -> bool:
    return isinstance(part, ForTask) and part.quantifier == "exists"


def _has_exists_below_forall(formula: Node) -> bool:
    return any(
        any(map(_is_exists, subformulas(part.body)))
        for part in subformulas(formula)
        if isinstance(part, ForTask) and part.quantifier == "forall"
    )


def is_about_one_task(formula: Node) -> bool:
    """Whether each task is judged by its own local states, without time."""
    while isinstance(formula, ForTask) and formula.quantifier == "forall":
        formula = formula.body
    found = list(subformulas(formula))
    if any(isinstance(part, Temporal | ForTask | Provided) for part in found):
        return False
    return len({part.tvar for part in found if isinstance(part, Says)}) == 1


def variables_read(formula: Node) -> Iterator[str]:
    """The names of variables in a bound formula; of `shared("x")` too."""
    for part in subformulas(formula):
        if isinstance(part, Says):
            for node in nodes(part.formula):
                match node:
                    case Shared(name) | Local(_, name):
                        yield name
