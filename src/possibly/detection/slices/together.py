"""Which pairs of processes can be in given states at the same cut: mutual exclusion of all pairs at once.

Here belongs one algorithm. A stretch of allowed local states of a process is an interval. Two intervals can
be met by one cut iff neither ends before the other begins, which the vector clocks of their beginnings tell
(Garg and Waldecker, "Detection of weak unstable predicates in distributed programs"). Clocks are computed in
one pass along the recorded order; when an interval begins, the last one of each other process that has begun
before is over, or the two meet. For n processes with k intervals in all that is n x k steps for all
n x n / 2 pairs together, where a slice for each pair would read the trace as many times. No clock is kept:
of what a process knows of another one it matters only how many intervals there are over. The pass is in
`_kernels.c`; without it, and where other lines stand between those of a joint event, the clocks are those of
`Knowledge`, and two pointers walk along the intervals of each pair.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Iterator, Mapping
from itertools import combinations
from operator import itemgetter
from typing import NamedTuple

from possibly.errors import TraceError
from possibly.logic.syntax import And, Apart, AtLeast, Node, Not, Or
from possibly.order.bitmaps import Bits
from possibly.order.compiled import kernels
from possibly.order.computation import Computation, Cut, Place
from possibly.order.kernels import from_the_first
from possibly.order.knowledge import Knowledge
from possibly.order.predicate import CutPredicates


class Meeting(NamedTuple):
    """Two processes in allowed states: the least cut with both contains these events."""

    one: Place
    other: Place

    def cut(self, computation: Computation) -> Cut:
        return computation.closure(dict((self.one, self.other)))


def together(
    computation: Computation,
    states: Mapping[int, Bits],
    look: Callable[[], None] = lambda: None,
    sides: bytes | None = None,
) -> list[Meeting]:
    """The pairs that can be in allowed states at one cut, each with where that is possible first.

    With `sides`, a byte for each process, only pairs of processes on different ones.
    """
    kernel = kernels()
    if kernel is None or not is_in_one_pass(computation) or not len(computation.trace):
        return [
            meeting
            for meeting in _by_clocks(computation, states, look)
            if sides is None or sides[meeting.one[0]] != sides[meeting.other[0]]
        ]
    every: list[bytes | None] = [None] * len(computation.lengths)
    for process, bits in states.items():
        every[process] = bits.data
    column = computation.trace.process
    sources = from_the_first(computation.needed), from_the_first(computation.enabling)
    lengths = array("i", computation.lengths)
    try:
        width = getattr(column, "itemsize", 4)
        found = kernel.overlaps(column, width, lengths, every, *sources, _groups(computation), sides)
    except IndexError:
        message = "an event depends on one that is not there"
        raise TraceError(message, file=computation.trace.file) from None
    return [Meeting((one, first), (other, second)) for one, other, first, second in found]


def is_in_one_pass(computation: Computation) -> bool:
    """Whether the compiled pass knows the order of the lines for one of the steps."""
    return kernels() is not None and computation.has_lines_together


def _groups(computation: Computation) -> array[int]:
    """Of each joint event the first line and how many it has, ascending."""
    firsts = sorted({lines[0] for lines in computation.joint.values()})
    return array("i", (number for first in firsts for number in (first, len(computation.joint[first]))))


def _by_clocks(
    computation: Computation, states: Mapping[int, Bits], look: Callable[[], None]
) -> Iterator[Meeting]:
    """The plain twin, which knows of joint events."""
    intervals = {process: list(_intervals(bits)) for process, bits in states.items()}
    busy = [process for process in sorted(intervals) if intervals[process]]
    clocks = Knowledge(computation, look)
    for one, other in combinations(busy, 2):
        look()
        found = _first_meeting(clocks, one, intervals[one], other, intervals[other])
        if found is not None:
            yield Meeting((one, found[0]), (other, found[1]))


def _intervals(bits: Bits) -> Iterator[tuple[int, int]]:
    """First and last state of each stretch of allowed ones."""
    first = bits.find(1)
    while first >= 0:
        end = bits.find(0, first)
        yield first, len(bits) - 1 if end < 0 else end - 1
        first = -1 if end < 0 else bits.find(1, end)


def _first_meeting(
    clocks: Knowledge, one: int, ones: list[tuple[int, int]], other: int, others: list[tuple[int, int]]
) -> tuple[int, int] | None:
    """The beginnings of the first two intervals of which neither is over before the other begins."""
    mine = theirs = 0
    while mine < len(ones) and theirs < len(others):
        (first, last), (beginning, end) = ones[mine], others[theirs]
        if clocks.of(other, beginning, one) > last:
            mine += 1
        elif clocks.of(one, first, other) > end:
            theirs += 1
        else:
            return first, beginning
    return None


def beside(
    computation: Computation,
    ones: Mapping[int, Bits],
    others: Mapping[int, Bits],
    look: Callable[[], None] = lambda: None,
) -> list[Meeting]:
    """Where a process can be in one of the first states while another one is in one of the second.

    The numbers of two different processes differ in a binary digit. So for each digit those with a 0 are
    asked about the first states and those with a 1 about the second, and the other way round.
    """
    found: list[Meeting] = []
    every = range(len(computation.lengths))
    for digit in range(max([*ones, *others], default=0).bit_length()):
        for value in (0, 1):
            look()
            sides = bytes(process >> digit & 1 == value for process in every)
            states = {process: bits for process, bits in others.items() if not sides[process]}
            states |= {process: bits for process, bits in ones.items() if sides[process]}
            found += together(computation, states, look, sides)
    return found


# ---- which formulas are about pairs -----------------------------------------------------------------


Wanted = Container[tuple[int, int]]
"""Pairs of processes, the lower number first."""


def pairs_of(
    predicates: CutPredicates, formula: Node, positive: bool
) -> tuple[dict[int, Bits], Wanted] | None:
    """A disjunction of conjunctions of two plain comparisons, on different processes, if it is one.

    Yields the states of each process, which must be the same in all pairs, and the pairs.
    """
    while isinstance(formula, Not):
        formula, positive = formula.operand, not positive
    if isinstance(formula, AtLeast):
        return _counted(predicates, formula) if positive else None
    states: dict[int, Bits] = {}
    wanted: set[tuple[int, int]] = set()
    for part, is_positive in _flat(formula, positive, Or if positive else And):
        atoms = _flat(part, is_positive, And if is_positive else Or)
        places = [_plain(predicates, *atom) for atom in atoms]
        if len(places) != 2 or None in places:
            return None
        (one, first), (other, second) = sorted((place for place in places if place), key=itemgetter(0))
        if one == other or states.setdefault(one, first) != first:
            return None
        if states.setdefault(other, second) != second:
            return None
        wanted.add((one, other))
    return states, wanted


class _All:
    """Every pair is wanted."""

    def __contains__(self, pair: object) -> bool:
        return True


def _counted(predicates: CutPredicates, formula: AtLeast) -> tuple[dict[int, Bits], Wanted] | None:
    """Any two of predicates on one process each."""
    states: dict[int, Bits] = {}
    for part in formula.operands:
        support = predicates.support(part)
        if formula.least != 2 or len(support) != 1 or support[0] in states:
            return None
        states[support[0]] = predicates.states(part, support[0])
    return states, _All()


def apart_in(
    predicates: CutPredicates, formula: Node, positive: bool
) -> tuple[dict[int, Bits], dict[int, Bits]] | None:
    """The states of each process that an `Apart` asks for, if it is one and asks about one process a part."""
    while isinstance(formula, Not):
        formula, positive = formula.operand, not positive
    if not isinstance(formula, Apart) or not positive:
        return None
    half = len(formula.operands) // 2
    halves: list[dict[int, Bits]] = []
    for parts in (formula.operands[:half], formula.operands[half:]):
        supports = [predicates.support(part) for part in parts]
        if any(len(support) != 1 for support in supports) or len(set(supports)) < half:
            return None
        halves.append(
            {
                support[0]: predicates.states(part, support[0])
                for part, support in zip(parts, supports, strict=True)
            }
        )
    return None if list(halves[0]) != list(halves[1]) else (halves[0], halves[1])


def _plain(predicates: CutPredicates, node: Node, positive: bool) -> tuple[int, Bits] | None:
    plain = predicates.plain(node)
    return plain if plain is None or positive else (plain[0], plain[1].negated())


def _flat(node: Node, positive: bool, kind: type[Node]) -> Iterator[tuple[Node, bool]]:
    """The parts of a nested disjunction (or conjunction), each with whether it stands there as it is."""
    pending = [(node, positive)]
    while pending:
        part, is_positive = pending.pop()
        if isinstance(part, Not):
            pending.append((part.operand, not is_positive))
        elif isinstance(part, And | Or) and (type(part) is kind) == (is_positive == positive):
            pending += [(inner, is_positive) for inner in reversed(part.operands)]
        else:
            yield part, is_positive
