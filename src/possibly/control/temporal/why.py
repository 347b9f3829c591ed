"""Why no step satisfies a formula: the part of it that cannot be satisfied.

The formula is weakened, part by part from the outside in: a part is replaced by true where it stands
positively (by false under a negation). If there is still no step, the part did not matter and stays replaced;
else it is needed, and its own parts are tried. What is left is a formula that fails still, and from which no
part can be left out: the reason. Each trial is a search of its own, with the same bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from possibly.control.temporal.options import Options
from possibly.control.temporal.steps import StepSearch
from possibly.control.temporal.system import State, System
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Iff, Implies, Literal, Node, Not, Or, Temporal
from possibly.logic.walk import children, with_children

Check = Callable[[int], None]
"""Told how many searches were made; may raise to stop."""


class Reason(NamedTuple):
    core: Node
    """What is left, with everything that does not matter left out."""
    needed: tuple[Node, ...]
    """The state predicates in it."""
    searches: int


class _Why:
    def __init__(self, system: System, start: State, options: Options, check: Check) -> None:
        self.system = system
        self.start = start
        self.options = Options(bound=options.bound)
        self.check = check
        self.searches = 0

    def fails(self, formula: Node) -> bool:
        self.searches += 1
        search = StepSearch(self.system, formula, self.start, self.options)
        for path in search:
            if path is not None:
                return False
            self.check(self.searches)
        return True

    def weakened(self, whole: Callable[[Node], Node], part: Node, positive: bool) -> Node:
        """The part with what does not matter replaced; `whole` puts it back into the formula."""
        neutral = Literal(positive)
        if part != neutral and self.fails(whole(neutral)):
            return neutral
        below = list(children(part)) if isinstance(part, And | Or | Not | Implies | Temporal) else []
        for number, child in enumerate(below):
            under = positive != (isinstance(part, Not) or (isinstance(part, Implies) and number == 0))
            below[number] = self.weakened(_hole(whole, part, below, number), child, under)
        return _tidied(with_children(part, below)) if below else part


def _hole(
    whole: Callable[[Node], Node], part: Node, below: list[Node], number: int
) -> Callable[[Node], Node]:
    return lambda node: whole(with_children(part, [*below[:number], node, *below[number + 1 :]]))


def _tidied(node: Node) -> Node:
    """Without the constants that weakening put in, where that changes nothing."""
    match node:
        case And(operands):
            kept = [part for part in operands if part != Literal(True)]
            return kept[0] if len(kept) == 1 else And(tuple(kept)) if kept else Literal(True)
        case Or(operands):
            kept = [part for part in operands if part != Literal(False)]
            return kept[0] if len(kept) == 1 else Or(tuple(kept)) if kept else Literal(False)
    return node


def why(
    system: System, start: State, formula: Node, options: Options, check: Check = lambda searches: None
) -> Reason:
    """The reason why there is no step from this state; the formula must have none."""
    work = _Why(system, start, options, check)
    core = work.weakened(lambda node: node, formula, True)
    found: dict[Node, None] = {}
    pending = [core]
    while pending:
        node = pending.pop()
        if isinstance(node, Literal):
            continue
        if is_state(node) and not isinstance(node, And | Or | Not | Implies | Iff):
            found[node] = None
        else:
            pending.extend(reversed(children(node)))
    return Reason(core, tuple(found), work.searches)
