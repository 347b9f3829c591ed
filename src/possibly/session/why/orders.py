"""Whether an execution that violates a property by its own order of steps would not in another order of them.

One execution stands for all orders of its independent steps, and where all fail that has to be true of each
of these. Theory of operation: on one path, for all and for some path are the same; so a formula of CTL says
there what the formula of LTL without its path quantifiers says, and some order passes unless the negation of
that formula holds in every order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from possibly.control.execution import Execution
from possibly.errors import PossiblyError
from possibly.logic.languages import FORMULAS
from possibly.logic.printer import unparse
from possibly.logic.specification import Specification, property_from_text, read_specification
from possibly.logic.syntax import Node, Temporal
from possibly.logic.walk import children, with_children
from possibly.records import replace
from possibly.session.checking.check import Options, check_trace
from possibly.session.exploring.traces import ExecutionTrace, detailed_trace_of
from possibly.trace.edit import with_order

EFFORT = 200_000
"""Cuts that may be visited for one execution."""
LINEAR = {"AG": "G", "EG": "G", "AF": "F", "EF": "F", "AX": "N", "EX": "X", "AU": "U", "EU": "U"}


def passes_in_some_order(execution: Execution, initial: dict[str, Any], text: str, begun: int) -> bool | None:
    """`text`: of a specification with one property; the first `begun` steps are done. None: not known."""
    try:
        denied = _denied(read_specification(text))
        if denied is None:
            return None
        found = detailed_trace_of(execution, initial)
        trace = with_order(found.trace, _first(found, begun))
        holds = check_trace(trace, denied, Options(max_cuts=EFFORT, explain=False)).verdicts[0].holds
    except PossiblyError:
        return None
    return None if holds is None else not holds


def _first(found: ExecutionTrace, begun: int) -> Iterator[tuple[int, int]]:
    """The order of the steps that are done, and that all else comes after them."""
    done = [event for event, step in enumerate(found.steps) if step < begun]
    yield from pairwise(done)
    if done:
        yield from ((done[-1], event) for event in range(len(done), len(found.trace)))


def _denied(specification: Specification) -> Specification | None:
    """The specification whose property is that the given one's is violated, on one path."""
    (found,) = specification.properties
    if found.formula is None or found.language not in FORMULAS:
        return None
    formula = found.formula if found.language == "ltl" else _linear(found.formula)
    if formula is None:
        return None
    denied = property_from_text("ltl", f"!({unparse(formula)})", found.name)
    return replace(specification, properties=(denied,))


def _linear(node: Node) -> Node | None:
    """A formula of CTL as it is to be read on one path."""
    parts = [_linear(part) for part in children(node)]
    if any(part is None for part in parts):
        return None
    if not isinstance(node, Temporal):
        return with_children(node, [part for part in parts if part is not None]) if parts else node
    if node.operator not in LINEAR or node.process is not None:
        return None
    return Temporal(LINEAR[node.operator], tuple(part for part in parts if part is not None))
