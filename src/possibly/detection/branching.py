"""The answer to a ctl property with its witness, from an engine that knows what holds at a cut.

Here belongs which path shows which answer (contract of results): the way to where p fails (AG) or holds
(EF), a whole observation (EG, AF), the way up to q (EU), one event (EX, AX), for AU an observation without
q or a prefix that ends where p and q both fail; and for boolean combinations the witness of the part that
decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from possibly.detection.explicit.laws import TRUE
from possibly.detection.finding import ALWAYS, ENDS_FALSE, ENDS_TRUE, NEVER, Finding, Path, Shows
from possibly.detection.limits import Budget
from possibly.detection.witness import any_path, constrained_path, free_path
from possibly.logic.depth import deep
from possibly.logic.syntax import And, Implies, Node, Not, Or, Temporal
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import Holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object


class Engine(Protocol):
    """What holds at a cut, and the nearest cuts where something does."""

    lattice: Lattice
    budget: Budget

    def function(self, formula: Node) -> Holds: ...

    def nearest(self, meanwhile: Node, goal: Node) -> set[int]: ...


Successors = Callable[[int], Iterable[tuple[Move, int]]]


def decide(engine: Engine, formula: Node) -> Finding:
    """Whether the initial cut satisfies the formula."""
    with deep():
        return _decide(engine, formula)


def _decide(engine: Engine, formula: Node) -> Finding:
    match formula:
        case Not(operand):
            found = _decide(engine, operand)
            return Finding(not found.value, found.path, found.shows)
        case And(operands):
            return _first(engine, operands, decides=False)
        case Or(operands):
            return _first(engine, operands, decides=True)
        case Implies(left, right):
            return _first(engine, (Not(left), right), decides=True)
        case Temporal():
            return _SEARCHES[formula.operator](engine, formula)
    return Finding(engine.function(formula)(engine.lattice.initial))


def _first(engine: Engine, parts: Sequence[Node], decides: bool) -> Finding:
    """The first part with the deciding value; cheap parts come first in the formula's own order."""
    for part in parts:
        found = _decide(engine, part)
        if found.value == decides:
            return found
    return Finding(not decides)


# ---- one search an operator ---------------------------------------------------------------------------


def _until(engine: Engine, meanwhile: Node, goal: Node) -> Path | None:
    """The shortest way through `meanwhile` to `goal`."""
    hits = engine.nearest(meanwhile, goal)
    if not hits:
        return None
    if meanwhile == TRUE:
        return free_path(engine.lattice, hits)
    return _through(engine, engine.function(meanwhile), hits)


def _through(engine: Engine, allowed: Holds, hits: set[int]) -> Path:
    """A path to one of the hits, all on one level, on which `allowed` holds before the end."""

    def successors(cut: int) -> Iterable[tuple[Move, int]]:
        return ((move, cut + move.delta) for move in engine.lattice.moves(cut)) if allowed(cut) else ()

    size = max(_size(engine, cut) for cut in hits)

    def within(cut: int) -> Iterable[tuple[Move, int]]:
        return successors(cut) if _size(engine, cut) < size else ()

    found = constrained_path(engine.lattice.initial, within, hits.__contains__)
    if found is None:
        found = any_path(engine.lattice.initial, within, hits.__contains__, engine.budget)
    assert found is not None, "a goal was reachable before"
    return found


def _size(engine: Engine, cut: int) -> int:
    """How many events the cut contains."""
    return sum(engine.lattice.unpack(cut))


def _observation(engine: Engine, node: Temporal) -> Path | None:
    """A whole observation on which EG of the operand stays true."""
    stays = engine.function(node)
    lattice = engine.lattice
    if not stays(lattice.initial):
        return None

    def successors(cut: int) -> Iterable[tuple[Move, int]]:
        return ((move, cut + move.delta) for move in lattice.moves(cut) if stays(cut + move.delta))

    found = constrained_path(lattice.initial, successors, lattice.final.__eq__)
    return found if found is not None else _straight(engine, successors)


def _straight(engine: Engine, successors: Successors) -> Path:
    """Every successor offered can be completed, so take the first each time."""
    cut = engine.lattice.initial
    path: list[Move] = []
    while cut != engine.lattice.final:
        move, cut = next(iter(successors(cut)))
        path.append(move)
    return tuple(path)


def _possibly(engine: Engine, node: Temporal) -> Finding:
    path = _until(engine, TRUE, node.operands[0])
    return Finding(path is not None, path, Shows(ENDS_TRUE, node.operands[0]))


def _invariant(engine: Engine, node: Temporal) -> Finding:
    path = _until(engine, TRUE, Not(node.operands[0]))
    return Finding(path is None, path, Shows(ENDS_FALSE, node.operands[0]))


def _exists_until(engine: Engine, node: Temporal) -> Finding:
    path = _until(engine, *node.operands)
    return Finding(path is not None, path, Shows(ENDS_TRUE, node.operands[1]))


def _controllable(engine: Engine, node: Temporal) -> Finding:
    path = _observation(engine, node)
    return Finding(path is not None, path, Shows(ALWAYS, node.operands[0], True))


def _definitely(engine: Engine, node: Temporal) -> Finding:
    path = _observation(engine, Temporal("EG", (Not(node.operands[0]),)))
    return Finding(path is None, path, Shows(NEVER, node.operands[0], True))


def _always_until(engine: Engine, node: Temporal) -> Finding:
    first, second = node.operands
    if engine.function(node)(engine.lattice.initial):
        return Finding(True)
    path = _until(engine, Not(second), And((Not(first), Not(second))))
    if path is not None:
        return Finding(False, path, Shows(ENDS_FALSE, Or((first, second))))
    path = _observation(engine, Temporal("EG", (Not(second),)))
    return Finding(False, path, Shows(NEVER, second, True))


def _next(engine: Engine, node: Temporal) -> Finding:
    """EX looks for a successor with the operand, AX for one without it."""
    lattice, operand = engine.lattice, node.operands[0]
    number = None if node.process is None else lattice.computation.trace.process_number[node.process]
    exists, holds = node.operator == "EX", engine.function(operand)
    for move in lattice.moves(lattice.initial):
        engine.budget.visit()
        concerns = number is None or number in move.processes
        if concerns and holds(lattice.initial + move.delta) == exists:
            return Finding(exists, (move,), Shows(ENDS_TRUE if exists else ENDS_FALSE, operand))
    return Finding(not exists)


_SEARCHES = {
    "EF": _possibly,
    "AG": _invariant,
    "EU": _exists_until,
    "EG": _controllable,
    "AF": _definitely,
    "AU": _always_until,
    "EX": _next,
    "AX": _next,
}
