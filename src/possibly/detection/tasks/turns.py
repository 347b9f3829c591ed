"""Sets of slices of a run with event loops: those that whole turns lead to, each by its number.

Here belongs the algebra for runs in which a turn of a task is not interrupted (see `trace.turns`). A slice is
later than another where whole turns lead from one to the other, which is less than to contain it; so nothing
is read off a lattice, and all slices are made. Their numbers ascend along every way.

A shared variable has the values that the last write can have given on a way of whole turns: what a turn
writes and replaces before it is over, no other task of its loop ever sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from possibly.detection.explicit.whole import WholeTurns
from possibly.detection.finding import Path
from possibly.detection.limits import Budget, LimitReachedError
from possibly.logic.predicates.functions import MISSING
from possibly.order.lattice import Move
from possibly.order.nets.net import Net
from possibly.order.nets.values import ValueSets
from possibly.trace.model import Trace, Value

MOST_COMPARED = 20_000
"""Slices up to which `until` and `before` are decided: a bit for each two of them."""

Set = int
"""A bit for each slice."""


class TurnSets:
    """The algebra of the slices that whole turns lead to."""

    def __init__(self, lattice: WholeTurns, budget: Budget) -> None:
        self.lattice = lattice
        self.budget = budget
        self.came: dict[int, tuple[int, Move] | None] = {lattice.initial: None}
        """Each slice, packed, the nearest first, with a way to it."""
        self._moves: list[list[tuple[Move, int]]] = []
        self._walk()
        self.slices = list(self.came)
        self.number = {packed: number for number, packed in enumerate(self.slices)}
        self.after = [[self.number[after] for _, after in moves] for moves in self._moves]

    def _walk(self) -> None:
        level = [self.lattice.initial]
        while level:
            following: list[int] = []
            for packed in level:
                self.budget.visit()
                moves = [(move, packed + move.delta) for move in self.lattice.moves(packed)]
                self._moves.append(moves)
                for move, after in moves:
                    if after not in self.came:
                        self.came[after] = packed, move
                        following.append(after)
            level = following

    def path(self, packed: int) -> Path:
        """A shortest way to the slice."""
        found: list[Move] = []
        while (step := self.came[packed]) is not None:
            packed, move = step
            found.append(move)
        return tuple(reversed(found))

    # ---- the algebra --------------------------------------------------------------------------------

    def everything(self) -> Set:
        return (1 << len(self.slices)) - 1

    def nothing(self) -> Set:
        return 0

    def local(self, task: int, table: bytes) -> Set:
        shift, mask = self.lattice.shifts[task], self.lattice.masks[task]
        return _bits([table[packed >> shift & mask] == 1 for packed in self.slices])

    def both(self, first: Set, second: Set) -> Set:
        return first & second

    def either(self, first: Set, second: Set) -> Set:
        return first | second

    def outside(self, cuts: Set) -> Set:
        return self.everything() & ~cuts

    def is_empty(self, cuts: Set) -> bool:
        return not cuts

    def contains(self, cuts: Set, cut: Sequence[int]) -> bool:
        number = self.number.get(self.lattice.pack(cut))
        return number is not None and bool(cuts >> number & 1)

    def some_next(self, cuts: Set) -> Set:
        is_in = self._flags(cuts)
        return _bits([any(is_in[other] for other in after) for after in self.after])

    def before(self, cuts: Set) -> Set:
        is_in = self._flags(cuts)
        found = [False] * len(self.slices)
        for number in reversed(range(len(self.slices))):
            found[number] = any(is_in[other] or found[other] for other in self.after[number])
        return _bits(found)

    def never_before(self, cuts: Set) -> Set:
        return self.outside(self.before(cuts))

    def undisturbed(self, goal: Set, bad: Set, within: Set | None) -> Set:
        """Where a nearest one of the goals and the bad slices that come later is a goal."""
        return _bits(
            [
                (within is None or bool(within >> number & 1)) and self._is_undisturbed(number, goal, bad)
                for number in range(len(self.slices))
            ]
        )

    def _is_undisturbed(self, number: int, goal: Set, bad: Set) -> bool:
        self.budget.look()
        marked = self._later[number] & (goal | bad)
        while marked:
            # The one with the least number has none of the others before it.
            least = (marked & -marked).bit_length() - 1
            if goal >> least & 1:
                return True
            marked &= ~(self._later[least] | 1 << least)
        return False

    @cached_property
    def _later(self) -> list[Set]:
        """For each slice those strictly later."""
        if len(self.slices) > MOST_COMPARED:
            raise LimitReachedError(f"more than {MOST_COMPARED:,} slices to compare with each other")
        found = [0] * len(self.slices)
        for number in reversed(range(len(self.slices))):
            self.budget.look()
            for other in self.after[number]:
                found[number] |= found[other] | 1 << other
        return found

    def _flags(self, cuts: Set) -> list[bool]:
        self.budget.look()
        return [bit == "1" for bit in reversed(f"{cuts:0{len(self.slices)}b}")]

    # ---- shared variables ---------------------------------------------------------------------------

    def values(self, variable: str) -> ValueSets:
        """What it can have in each local state."""
        lengths = self.lattice.computation.lengths
        found: list[list[dict[int, None]]] = [[{} for _ in range(length + 1)] for length in lengths]
        distinct = _Distinct()
        for packed, numbers in zip(self.slices, self._possible(variable, distinct), strict=True):
            for states, count in zip(found, self.lattice.unpack(packed), strict=True):
                states[count].update(numbers)
        counts = tuple([range(length + 1) for length in lengths])
        return ValueSets(counts, tuple([[distinct.of(numbers) for numbers in states] for states in found]))

    def _possible(self, variable: str, distinct: _Distinct) -> Iterator[dict[int, None]]:
        """For each slice the values that ways to it give, as numbers."""
        trace = self.lattice.computation.trace
        found: list[dict[int, None]] = [{} for _ in self.slices]
        found[0][distinct.number(trace.shared.get(variable, MISSING))] = None
        for number, moves in enumerate(self._moves):
            self.budget.look()
            for move, after in moves:
                written = list(_written(trace, self.lattice.computation.events(move.step), variable))
                numbers = {distinct.number(written[-1]): None} if written else found[number]
                found[self.number[after]].update(numbers)
            yield found[number]


class _Distinct:
    """Values by numbers, in the order in which they come; 1, 1.0 and true are different."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._numbers: dict[tuple[type, str], int] = {}

    def number(self, value: Value) -> int:
        found = self._numbers.setdefault((type(value), repr(value)), len(self.values))
        if found == len(self.values):
            self.values.append(value)
        return found

    def of(self, numbers: dict[int, None]) -> tuple[Value, ...]:
        return tuple([self.values[number] for number in numbers])


class TurnNet(Net):
    """The net of a run in which only whole turns are taken."""

    def __init__(self, net: Net, sets: TurnSets) -> None:
        super().__init__(net.trace, net.computation)
        self._sets = sets

    def shared(self, variable: str) -> ValueSets:
        if variable not in self._shared:
            self._shared[variable] = self._sets.values(variable)
        return self._shared[variable]


def _written(trace: Trace, events: Sequence[int], variable: str) -> Iterator[Value]:
    return (value for event in events for name, value in trace.writes(event) if name == variable)


def _bits(flags: Sequence[bool]) -> Set:
    """The first flag is the lowest bit."""
    return int("".join(["1" if flag else "0" for flag in reversed(flags)]) or "0", 2)
