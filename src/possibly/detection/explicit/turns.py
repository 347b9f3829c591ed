"""Answers on runs that tell of turns: a failing order in which an event loop interrupts a task is none.

The engines look at every order of the events. Where the path that one of them found goes on with another task
of the loop in the middle of a turn (see `trace.turns`), and a state is sought (`AG`, `EF`, `G`), the cuts are
visited that whole turns lead to, one by one; for other formulas the answer is open. A property of all orders
that holds needs no second look: it holds in fewer of them too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from possibly.detection.choose import Answer
from possibly.detection.finding import ENDS_FALSE, ENDS_TRUE, Finding, Shows
from possibly.detection.limits import Budget, LimitReachedError
from possibly.logic.predicates.functions import deciding_state
from possibly.logic.syntax import Node, Not
from possibly.order.lattice import Lattice, Move, steps_of
from possibly.order.predicate import CutPredicates
from possibly.records import replace
from possibly.trace.model import NONE
from possibly.trace.turns import Turns

MOST_CUTS = 100_000
INTERRUPTED = (
    "it is so only where a task is interrupted in the middle of a turn, which an event loop does not do, "
    "as far as was looked; possibly explore tells"
)
NOTE = "only whole turns of tasks of an event loop were looked at"


def within_turns(formula: Node, predicates: CutPredicates, budget: Budget, result: Answer) -> Answer:
    """The answer in the orders that event loops allow."""
    lattice = predicates.lattice
    finding, turns = result.finding, Turns(lattice.computation.trace)
    if not turns or finding is None or finding.path is None:
        return result
    walk = _Walk(lattice, turns)
    if walk.is_whole(finding.path):
        return result
    sought = deciding_state(formula)
    if sought is None:
        return replace(result, finding=None, reason=INTERRUPTED)
    try:
        path = walk.to(predicates, sought, budget.part(MOST_CUTS))
    except LimitReachedError:
        return replace(result, finding=None, reason=INTERRUPTED)
    notes = (*result.notes, NOTE)
    if path is None:
        return replace(result, finding=Finding(not finding.value), notes=notes)
    shown = Shows(ENDS_FALSE, sought.operand) if isinstance(sought, Not) else Shows(ENDS_TRUE, sought)
    return replace(result, finding=replace(finding, path=path, shows=shown, moment=None), notes=notes)


class _Walk:
    """The cuts that whole turns lead to, but for one of each loop that is not over yet."""

    def __init__(self, lattice: Lattice, turns: Turns) -> None:
        self._lattice = lattice
        trace = lattice.computation.trace
        self._inside = [
            [NONE, *(_loop_after(turns, trace.position[event], event) for event in events)]
            for events in trace.events_of
        ]
        """For each process and count, the loop in the turn of which it is."""
        self._loop = [
            [turn.loop if (turn := turns.of(event)) is not None else NONE for event in events]
            for events in trace.events_of
        ]

    def is_whole(self, path: Sequence[Move]) -> bool:
        """Whether it interrupts no turn."""
        counts = [0] * len(self._inside)
        busy: dict[int, int] = {}
        for step in steps_of(path):
            for process in self._lattice.executed(step).processes:
                loop = self._loop[process][counts[process]]
                counts[process] += 1
                if loop != NONE and busy.get(loop, process) != process:
                    return False
                self._pass(busy, loop, process, counts[process])
        return True

    def _pass(self, busy: dict[int, int], loop: int, process: int, count: int) -> None:
        if loop != NONE:
            busy.pop(loop, None)
            if self._inside[process][count] != NONE:
                busy[loop] = process

    def to(self, predicates: CutPredicates, sought: Node, budget: Budget) -> Sequence[Move] | None:
        """A shortest path to a cut in which the state is so; None if there is none."""
        is_there = predicates(sought)
        came: dict[int, tuple[int, Move] | None] = {0: None}
        queue = deque([0])
        while queue:
            cut = queue.popleft()
            budget.visit()
            if is_there(cut):
                return self._path(came, cut)
            for move in self._moves(cut):
                after = cut + move.delta
                if after not in came:
                    came[after] = cut, move
                    queue.append(after)
        return None

    def _moves(self, cut: int) -> list[Move]:
        counts = self._lattice.unpack(cut)
        busy = {
            loop: process
            for process, count in enumerate(counts)
            if (loop := self._inside[process][count]) != NONE
        }
        return [
            move
            for move in self._lattice.moves(cut)
            if all(busy.get(self._loop[each][counts[each]], each) == each for each in move.processes)
        ]

    def _path(self, came: dict[int, tuple[int, Move] | None], cut: int) -> Sequence[Move]:
        found: list[Move] = []
        while (step := came[cut]) is not None:
            cut, move = step
            found.append(move)
        return found[::-1]


def _loop_after(turns: Turns, position: int, event: int) -> int:
    turn = turns.of(event)
    return turn.loop if turn is not None and turn.last > position else NONE
