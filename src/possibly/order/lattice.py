"""The lattice of consistent cuts, walked with packed cuts.

Here belongs how to get from cut to cut and how to visit them all; not what holds there.

Theory of operation. A packed cut is one integer with a bit field a process, so that executing a step is
one addition and sets of cuts are sets of integers. What a step needs (how many events of which other
processes) is looked up once and kept. A joint event is a move of its first process that adds to several
fields. Nothing of the size of the lattice is stored here; a walk by level holds two levels.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import accumulate, chain

from possibly.order.computation import Computation, Cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple, overload
else:
    from possibly.records import NamedTuple


class Move(NamedTuple):
    """The next step of a process, as arithmetic on packed cuts."""

    step: int
    delta: int
    processes: tuple[int, ...]
    needs: tuple[tuple[int, int, int], ...]
    """(shift, mask, least): the field must be at least that."""
    exactly: tuple[tuple[int, int, int], ...]
    """The other lines of a joint event: the field must be just that."""


class Walk(Sequence[Move]):
    """A long path by the numbers of its steps: moves are made as they are asked for, and not kept."""

    __slots__ = ("_lattice", "steps")

    def __init__(self, lattice: Lattice, steps: Sequence[int]) -> None:
        self._lattice = lattice
        self.steps = steps

    def __len__(self) -> int:
        return len(self.steps)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, at: int) -> Move: ...
        @overload
        def __getitem__(self, at: slice) -> Walk: ...

    def __getitem__(self, at: int | slice) -> Move | Walk:
        if isinstance(at, slice):
            return Walk(self._lattice, self.steps[at])
        return self._lattice.executed(self.steps[at])

    def __iter__(self) -> Iterator[Move]:
        return map(self._lattice.executed, self.steps)


_NOT_YET = Move(-1, 0, (), (), ())
"""Stands where a move was not looked up yet."""


LONG = 10_000
"""Steps beyond which a path keeps no moves."""


def _executed(unit: int, processes: tuple[int, ...], step: int) -> Move:
    return Move(step, unit, processes, (), ())


class Lattice:
    """Cuts of a computation as packed integers; 0 is the initial cut."""

    is_free = True
    """Whether all cuts are in it, so that a process may always run on as far as it can."""

    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.initial = 0

    @cached_property
    def shifts(self) -> list[int]:
        """Where the field of each process begins."""
        widths = (length.bit_length() for length in self.computation.lengths[:-1])
        return list(accumulate(widths, initial=0))[: len(self.computation.lengths)]

    @cached_property
    def units(self) -> list[int]:
        """What one event of each process adds; one number for all moves, as it is as long as a cut."""
        return [1 << shift for shift in self.shifts]

    @cached_property
    def masks(self) -> list[int]:
        return [(1 << length.bit_length()) - 1 for length in self.computation.lengths]

    @cached_property
    def final(self) -> int:
        return self.pack(self.computation.final)

    @cached_property
    def _moves(self) -> list[list[Move | None]]:
        """The next move for each process and count; None where another line of its joint event leads."""
        return [[*[_NOT_YET] * length, None] for length in self.computation.lengths]

    @cached_property
    def _fields(self) -> list[tuple[int, int, list[Move | None]]]:
        return list(zip(self.shifts, self.masks, self._moves, strict=True))

    def pack(self, cut: Sequence[int]) -> int:
        return sum(count << shift for count, shift in zip(cut, self.shifts, strict=True))

    def unpack(self, packed: int) -> Cut:
        return tuple(packed >> shift & mask for shift, mask in zip(self.shifts, self.masks, strict=True))

    def moves(self, cut: int) -> Iterator[Move]:
        """The enabled steps at a packed cut."""
        for process, (shift, mask, moves) in enumerate(self._fields):
            move = moves[cut >> shift & mask]
            if move is _NOT_YET:
                move = self._look_up(process, cut >> shift & mask)
            if move is None:
                continue
            for there, its_mask, least in move.needs:
                if cut >> there & its_mask < least:
                    break
            else:
                if not move.exactly or all(cut >> s & m == count for s, m, count in move.exactly):
                    yield move

    def move_at(self, cut: int, process: int) -> Move | None:
        """The next step that this process leads, if it is enabled."""
        move = self._move(process, cut >> self.shifts[process] & self.masks[process])
        if move is None or any(cut >> s & m < least for s, m, least in move.needs):
            return None
        return move if all(cut >> s & m == count for s, m, count in move.exactly) else None

    def successors(self, cut: int) -> Iterator[int]:
        for move in self.moves(cut):
            yield cut + move.delta

    def predecessors(self, cut: int) -> Iterator[tuple[Move, int]]:
        """Each cut from which one step leads here, with that step."""
        for process, (shift, mask, _) in enumerate(self._fields):
            count = cut >> shift & mask
            if not count:
                continue
            move = self._move(process, count - 1)
            if move is not None and self._is_last(move, cut):
                yield move, cut - move.delta

    def _is_last(self, move: Move, cut: int) -> bool:
        """Whether nothing else in the cut happened after this step, which is in it."""
        if any(cut >> s & m != count + 1 for s, m, count in move.exactly):
            return False
        lines = self.computation.events(move.step)
        return not any(self.is_followed(line, cut, lines) for line in lines)

    def is_followed(self, event: int, cut: int, besides: Sequence[int] = ()) -> bool:
        """Whether a cut with this event has one that comes after it on another process.

        If so, then a direct successor too, since a cut has with an event all that lies before it.
        """
        start, later = self._successors_elsewhere
        trace, shifts, masks = self.computation.trace, self.shifts, self.masks
        for other in later[start[event] : start[event + 1]]:
            process = trace.process[other]
            if cut >> shifts[process] & masks[process] >= trace.position[other] and other not in besides:
                return True
        return False

    def is_followed_in(self, counts: Sequence[int], event: int) -> bool:
        """The same of a cut that is not packed."""
        start, later = self._successors_elsewhere
        trace = self.computation.trace
        return any(
            counts[trace.process[other]] >= trace.position[other]
            for other in later[start[event] : start[event + 1]]
        )

    @cached_property
    def _successors_elsewhere(self) -> tuple[Sequence[int], Sequence[int]]:
        """Where the direct successors of each event on other processes begin, and these."""
        first, edges = self.computation.edge_columns
        counts = array("i", bytes(4 * (len(self.computation.trace) + 1)))
        for event in edges:
            counts[event + 1] += 1
        start = array("i", accumulate(counts))
        place, later = start[:], array("i", bytes(4 * len(edges)))
        for event in range(len(self.computation.trace)):
            for earlier in edges[first[event] : first[event + 1]]:
                later[place[earlier]] = event
                place[earlier] += 1
        return start, later

    def move_of(self, step: int) -> Move:
        """The step as a move, wherever it is enabled."""
        process, position = self.computation.place(step)
        move = self._move(process, position - 1)
        assert move is not None, "a step is named by its earliest line"
        return move

    def executed(self, step: int) -> Move:
        """The step as a move of a path that is known to be one: what it needs is not looked up."""
        computation = self.computation
        lines = computation.joint.get(step)
        if lines is None:
            return self._plain[computation.trace.process[step]](step)
        processes = tuple(computation.trace.process[event] for event in lines)
        return Move(step, sum(self.units[process] for process in processes), processes, (), ())

    @cached_property
    def _plain(self) -> list[Callable[[int], Move]]:
        """By process the move of an event; what they have in common is made once."""
        return [partial(_executed, unit, (process,)) for process, unit in enumerate(self.units)]

    def walk(self, steps: Iterable[int]) -> Sequence[Move]:
        """A path by its steps."""
        found = array("i", steps)
        walked = Walk(self, found)
        return walked if len(found) > LONG else tuple(walked)

    def joined(self, *paths: Sequence[Move]) -> Sequence[Move]:
        """Paths one after the other."""
        if any(isinstance(path, Walk) for path in paths):
            return self.walk(chain.from_iterable(map(steps_of, paths)))
        return tuple(chain.from_iterable(paths))

    def _move(self, process: int, count: int) -> Move | None:
        move = self._moves[process][count]
        return self._look_up(process, count) if move is _NOT_YET else move

    def _look_up(self, process: int, count: int) -> Move | None:
        computation = self.computation
        event = computation.at(process, count + 1)
        move = self._make(event) if computation.step(event) == event else None
        self._moves[process][count] = move
        return move

    def _make(self, step: int) -> Move:
        computation = self.computation
        lines = computation.events(step)
        places = [computation.place(event) for event in lines]
        needs: dict[int, int] = {}
        for event in lines:
            for other in computation.predecessors(event):
                if other not in lines:
                    process, position = computation.place(other)
                    needs[process] = max(position, needs.get(process, 0))
        shifts, masks = self.shifts, self.masks
        return Move(
            step=step,
            delta=self.units[places[0][0]] if len(places) == 1 else sum(self.units[p] for p, _ in places),
            processes=tuple(process for process, _ in places),
            needs=tuple((shifts[p], masks[p], least) for p, least in needs.items()),
            exactly=tuple((shifts[p], masks[p], position - 1) for p, position in places[1:]),
        )

    # ---- walks ----------------------------------------------------------------------------------

    def levels(self) -> Iterator[set[int]]:
        """The cuts by the number of steps executed, from the initial to the final one."""
        level = {self.initial}
        while level:
            yield level
            level = {following for cut in level for following in self.successors(cut)}

    def depth_first(self) -> Iterator[int]:
        """Every cut once, depth first."""
        seen = {self.initial}
        todo = [self.initial]
        while todo:
            cut = todo.pop()
            yield cut
            for following in self.successors(cut):
                if following not in seen:
                    seen.add(following)
                    todo.append(following)

    def lexical(self) -> Iterator[Cut]:
        """Every cut once, in lexical order of the counts; holds no set of visited cuts.

        Bounds come from clocks: with the counts of the first processes fixed, those of the next one that
        can be completed to a cut form an interval (bound by what the fixed events need, and by what they
        allow), so the enumeration is nested ranges.
        """
        yield from self._lexical((), self.computation.initial)

    def _lexical(self, fixed: Cut, needed: Cut) -> Iterator[Cut]:
        process = len(fixed)
        if process == len(needed):
            yield fixed
            return
        for count in range(needed[process], self.computation.lengths[process] + 1):
            clock = self._clock(process, count)
            if any(clock[i] > fixed[i] for i in range(process)):
                return
            yield from self._lexical((*fixed, count), tuple(map(max, needed, clock)))

    def _clock(self, process: int, count: int) -> Cut:
        if not count:
            return self.computation.initial
        return self.computation.clock(self.computation.at(process, count))

    # ---- numbers --------------------------------------------------------------------------------

    def count_cuts(self) -> int:
        return sum(len(level) for level in self.levels())

    def count_observations(self) -> int:
        """The number of orders in which the steps could have been executed."""
        ways = {self.initial: 1}
        for _ in range(len(self.computation)):
            following: dict[int, int] = {}
            for cut, count in ways.items():
                for successor in self.successors(cut):
                    following[successor] = following.get(successor, 0) + count
            ways = following
        return ways[self.final]


def steps_of(path: Sequence[Move]) -> Sequence[int]:
    """The steps of a path."""
    return path.steps if isinstance(path, Walk) else [move.step for move in path]
