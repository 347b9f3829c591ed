"""Whether a property held in the recorded order alone: every path is then that one path.

Truth along the path is one integer with a bit a cut, bit 0 the final one, as in `sweep`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, reduce
from operator import and_, or_

from possibly.detection.branching import ALWAYS, ENDS_FALSE, ENDS_TRUE, NEVER, Finding, Shows
from possibly.detection.laws import LAWS, now_and_while
from possibly.logic.depth import deep
from possibly.logic.predicate import is_state
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or, Temporal
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import CutPredicates


def observed_path(lattice: Lattice) -> tuple[Move, ...]:
    """The recorded order as moves."""
    return tuple(lattice.move_of(step) for step in lattice.computation.steps)


def shown_by(observed: Observed, formula: Node) -> Finding | None:
    """What the recorded order alone decides: one path refutes AG and AF, and shows EF and EG.

    For when an engine gave up; the path is not the shortest one.
    """
    match formula:
        case Temporal("AG" | "EF" as operator, (operand,)) if is_state(operand):
            holds, wanted = observed.predicates(operand), operator == "EF"
            for count, cut in enumerate(observed.cuts()):
                if holds(cut) == wanted:
                    shows = Shows(ENDS_TRUE if wanted else ENDS_FALSE, operand)
                    return Finding(wanted, observed.moves(count), shows)
        case Temporal("AF" | "EG" as operator, (operand,)) if is_state(operand):
            exists = operator == "EG"
            if observed.holds(formula) == exists:
                shows = Shows(ALWAYS if exists else NEVER, operand, to_the_end=True)
                return Finding(exists, observed.moves(), shows)
    return None


_DIGITS = b"01" + bytes(254)
_NEGATED = bytes([1, 0]) + bytes(254)


class Observed:
    """Evaluates ctl formulas on the path of the recorded order."""

    def __init__(self, lattice: Lattice, predicates: CutPredicates) -> None:
        self.lattice = lattice
        self.predicates = predicates
        self.path: Sequence[int] = lattice.computation.steps
        self.full = (1 << len(self.path) + 1) - 1

    def moves(self, count: int | None = None) -> tuple[Move, ...]:
        """The path, or its first steps, as moves."""
        return tuple(map(self.lattice.move_of, self.path[:count]))

    def holds(self, formula: Node) -> bool:
        """Whether the formula holds at the first cut of the path."""
        with deep():
            return bool(self.bits(formula) >> len(self.path) & 1)

    def cuts(self) -> Iterator[int]:
        cut = self.lattice.initial
        yield cut
        for step in self.path:
            for process in self._processes(step):
                cut += 1 << self.lattice.shifts[process]
            yield cut

    def _processes(self, step: int) -> list[int]:
        computation = self.lattice.computation
        return [computation.trace.process[event] for event in computation.events(step)]

    def bits(self, formula: Node) -> int:
        if is_state(formula):
            return int(self._truths(formula).translate(_DIGITS), 2)
        match formula:
            case Not(operand):
                return self.full & ~self.bits(operand)
            case And(operands):
                found = self.full
                for part in operands:
                    found &= self.bits(part)
                return found
            case Or(operands):
                found = 0
                for part in operands:
                    found |= self.bits(part)
                return found
            case Implies(left, right):
                return self.full & ~self.bits(left) | self.bits(right)
            case Iff(left, right):
                return self.full & ~(self.bits(left) ^ self.bits(right))
            case Temporal("EX", (operand,), process):
                return self.bits(operand) << 1 & self.full & self._steps_of(process)
            case Temporal("AX", (operand,)):
                return self.bits(operand) << 1 & self.full | 1
            case Temporal():
                return self._path(formula)
        raise TypeError(f"not a ctl formula: {type(formula).__name__}")

    def _truths(self, node: Node) -> bytes:
        """A byte a cut: the truth of a state predicate along the path."""
        support = self.predicates.support(node)
        if not support:
            return bytes([self.predicates(node)(self.lattice.initial)]) * (len(self.path) + 1)
        if len(support) == 1:
            return self._local(self.predicates.table(node, support[0]), support[0])
        match node:
            case Not(operand):
                return self._truths(operand).translate(_NEGATED)
            case And(operands) | Or(operands):
                parts = (int.from_bytes(self._truths(part), "big") for part in operands)
                merged = reduce(and_ if isinstance(node, And) else or_, parts)
                return merged.to_bytes(len(self.path) + 1, "big")
        holds = self.predicates(node)
        return bytes(map(holds, self.cuts()))

    def _local(self, table: bytearray, process: int) -> bytes:
        """Constant between two steps of the process."""
        places = self._by_process[process]
        found, before = bytearray(), 0
        count = 0
        while (change := table.find(1 - table[count], count)) >= 0:
            place = places[change - 1] + 1
            found += bytes([table[count]]) * (place - before)
            before, count = place, change
        found += bytes([table[count]]) * (len(self.path) + 1 - before)
        return bytes(found)

    @cached_property
    def _by_process(self) -> Sequence[Sequence[int]]:
        if not self.lattice.computation.joint:
            # Without joint events the path is that of the lines, so an event's number is its place.
            return self.lattice.computation.trace.events_of
        found: list[list[int]] = [[] for _ in self.lattice.computation.lengths]
        for place, step in enumerate(self.path):
            for process in self._processes(step):
                found[process].append(place)
        return found

    def _steps_of(self, process: str | None) -> int:
        """The cuts whose next step is one of that process."""
        if process is None:
            return self.full
        number = self.lattice.computation.trace.process_number[process]
        return int("".join("1" if number in self._processes(step) else "0" for step in self.path) + "0", 2)

    def _path(self, formula: Temporal) -> int:
        law = LAWS[formula.operator]
        first, second = now_and_while(formula)
        now, through = self.bits(first), self.bits(second)
        seeds = now | (through & 1 if law.at_end else 0)
        start = seeds << 1 & through
        return (seeds | start | ((through + start) ^ through) & through) & self.full
