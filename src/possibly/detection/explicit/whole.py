"""The lattice of the orders that event loops allow: a turn of a task is not interrupted by another task.

Here belongs which cuts whole turns lead to (see `trace.turns`), but for one of each loop that is not over
yet, and the ways between them. A turn begins when what its task waited for has come. Any engine that goes
from cut to cut answers on it as on the lattice of all orders. A turn that cannot go on before another one of
its loop has come is an order that the run does not tell the end of: whoever comes there gives up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from possibly.detection.limits import Budget, LimitReachedError
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice, Move, steps_of
from possibly.trace.model import NONE
from possibly.trace.turns import Turn, Turns

MOST_CUTS = 100_000
MOST_TURNS = 1_000
"""Turns up to which it is found out whether any two can come between each other."""
INTERRUPTED = (
    "it is so only where a task is interrupted in the middle of a turn, which an event loop does not do, "
    "as far as was looked; possibly explore tells"
)
NOTE = "only whole turns of tasks of an event loop were looked at"


class WholeTurns(Lattice):
    """The cuts that whole turns lead to."""

    is_free = False

    def __init__(self, computation: Computation, turns: Turns) -> None:
        super().__init__(computation)
        trace = computation.trace
        self._turns = turns
        self._inside = [
            [NONE, *(_loop_after(turns, trace.position[event], event) for event in events)]
            for events in trace.events_of
        ]
        """For each process and count, the loop in the turn of which it is."""
        self._awaited: dict[int, list[tuple[int, int]]] = {}
        """For each event that begins a turn, what its task waited for."""
        for each in turns.all():
            before = [other for event in turns.learnt(each) for other in computation.predecessors(event)]
            self._awaited[computation.at(each.process, each.first)] = list(map(computation.place, before))
        self._loop = [
            [turn.loop if (turn := turns.of(event)) is not None else NONE for event in events]
            for events in trace.events_of
        ]

    # ---- as a lattice -----------------------------------------------------------------------------

    def moves(self, cut: int) -> Iterator[Move]:
        counts = self.unpack(cut)
        busy = self._busy(counts)
        is_stuck = cut != self.final
        for move in super().moves(cut):
            if self._is_allowed(move, counts, busy):
                is_stuck = False
                yield move
        if is_stuck:
            raise LimitReachedError("in some order a turn of an event loop never ends")

    def move_at(self, cut: int, process: int) -> Move | None:
        move = super().move_at(cut, process)
        counts = self.unpack(cut)
        return move if move is not None and self._is_allowed(move, counts, self._busy(counts)) else None

    def _busy(self, counts: Sequence[int]) -> dict[int, int]:
        """For each loop the task in the middle of its turn."""
        return {
            loop: process
            for process, count in enumerate(counts)
            if (loop := self._inside[process][count]) != NONE
        }

    def _is_allowed(self, move: Move, counts: Sequence[int], busy: dict[int, int]) -> bool:
        return all(
            busy.get(self._loop[each][counts[each]], each) == each and self._is_woken(each, counts)
            for each in move.processes
        )

    def _is_woken(self, process: int, counts: Sequence[int]) -> bool:
        """Whether what its next turn waits for has come; True inside a turn."""
        event = self.computation.at(process, counts[process] + 1)
        return all(counts[other] >= count for other, count in self._awaited.get(event, ()))

    # ---- what differs -----------------------------------------------------------------------------

    def is_whole(self, path: Sequence[Move]) -> bool:
        """Whether it interrupts no turn."""
        counts = [0] * len(self._inside)
        busy: dict[int, int] = {}
        for step in steps_of(path):
            for process in self.executed(step).processes:
                loop = self._loop[process][counts[process]]
                if (loop != NONE and busy.get(loop, process) != process) or not self._is_woken(
                    process, counts
                ):
                    return False
                counts[process] += 1
                self._pass(busy, loop, process, counts[process])
        return True

    def _pass(self, busy: dict[int, int], loop: int, process: int, count: int) -> None:
        if loop != NONE:
            busy.pop(loop, None)
            if self._inside[process][count] != NONE:
                busy[loop] = process

    @property
    def leaves_out(self) -> bool:
        """Whether some cut of the run lies in the middle of two turns of a loop, or in one before what its
        task waited for, as far as is looked."""
        turns = [turn for turn in self._turns.all() if turn.first < turn.last]
        if len(turns) > MOST_TURNS:
            return True
        return any(self._meet(one, other) for one, other in combinations(turns, 2)) or any(
            self.computation.clock(begin)[process] < count
            for begin, awaited in self._awaited.items()
            for process, count in awaited
        )

    def _meet(self, one: Turn, other: Turn) -> bool:
        """Whether a cut can have the beginnings of both turns and the end of neither."""
        if one.loop != other.loop or one.process == other.process:
            return False
        clock = self.computation.clock
        return (
            clock(self.computation.at(one.process, one.first))[other.process] < other.last
            and clock(self.computation.at(other.process, other.first))[one.process] < one.last
        )

    def to(self, is_there: Callable[[int], bool], budget: Budget) -> Sequence[Move] | None:
        """A shortest path to such a cut; None if there is none."""
        came: dict[int, tuple[int, Move] | None] = {self.initial: None}
        queue = deque([self.initial])
        while queue:
            cut = queue.popleft()
            budget.visit()
            if is_there(cut):
                return _path(came, cut)
            for move in self.moves(cut):
                after = cut + move.delta
                if after not in came:
                    came[after] = cut, move
                    queue.append(after)
        return None


def _path(came: dict[int, tuple[int, Move] | None], cut: int) -> Sequence[Move]:
    found: list[Move] = []
    while (step := came[cut]) is not None:
        cut, move = step
        found.append(move)
    return found[::-1]


def _loop_after(turns: Turns, position: int, event: int) -> int:
    turn = turns.of(event)
    return turn.loop if turn is not None and turn.last > position else NONE
