"""Whether a property held in the recorded order alone: every path is then that one path.

Truth along the path is one integer with a bit a cut, bit 0 the final one, as in `sweep`. A conjunction of
predicates on one process each, the usual case, is followed in one pass that counts how many are false,
however many there are. Often no pass is needed (`implied`): the recorded order is one of all orders, so
what holds in every order holds in it, and what holds in no order does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from possibly.detection.explicit.laws import LAWS, now_and_while
from possibly.detection.finding import ALWAYS, ENDS_FALSE, ENDS_TRUE, NEVER, Finding, Shows
from possibly.logic.depth import deep
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Apart, AtLeast, Iff, Implies, Node, Not, Or, Temporal
from possibly.order.bitmaps import Bits
from possibly.order.compiled import kernels
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import CutPredicates


def observed_path(lattice: Lattice) -> Sequence[Move]:
    """The recorded order as moves."""
    return lattice.walk(lattice.computation.steps)


def implied(formula: Node, value: bool) -> bool | None:
    """What the answer over all orders says about the recorded one; None: nothing.

    If a formula only ever asks for some path and does not hold, it holds on no single path; if it only ever
    speaks of all paths and holds, it holds on each.
    """
    with deep():
        return value if _quantifiers(formula, True) <= ({"A"} if value else {"E"}) else None


def _quantifiers(node: Node, positive: bool) -> frozenset[str]:
    """ "E" if it asks for some path, "A" if it speaks of all paths; under a negation the other way round."""
    if is_state(node):
        return frozenset()
    match node:
        case Not(operand):
            return _quantifiers(operand, not positive)
        case Implies(left, right):
            return _quantifiers(left, not positive) | _quantifiers(right, positive)
        case And(operands) | Or(operands):
            timed = [part for part in operands if not is_state(part)]
            return frozenset().union(*(_quantifiers(part, positive) for part in timed))
        case Temporal(operator, operands):
            own = frozenset(["E" if (operator[0] == "E") == positive else "A"])
            return own.union(*(_quantifiers(part, positive) for part in operands))
    return frozenset(["E", "A"])


def shown_by(observed: Observed, formula: Node) -> Finding | None:
    """What the recorded order alone decides: one path refutes AG and AF, and shows EF and EG.

    For when an engine gave up; the path is not the shortest one.
    """
    match formula:
        case Temporal("AG" | "EF" as operator, (operand,)) if is_state(operand):
            wanted = operator == "EF"
            count = observed.first(operand if wanted else Not(operand))
            if count is not None:
                shows = Shows(ENDS_TRUE if wanted else ENDS_FALSE, operand)
                return Finding(wanted, observed.moves(count), shows)
        case Temporal("AF" | "EG" as operator, (operand,)) if is_state(operand):
            exists = operator == "EG"
            if observed.holds(formula) == exists:
                shows = Shows(ALWAYS if exists else NEVER, operand, to_the_end=True)
                return Finding(exists, observed.moves(), shows)
    return None


Look = Callable[[], None]
"""Called now and then; it may raise what ends the work."""
LOOK_EVERY = 8192
"""Steps between two looks."""

_DIGITS = b"01" + bytes(254)

_States = dict[int, Bits]
"""By process the states that a conjunction allows."""


class Observed:
    """Evaluates ctl formulas on the path of the recorded order."""

    def __init__(self, lattice: Lattice, predicates: CutPredicates, look: Look | None = None) -> None:
        self.lattice = lattice
        self.predicates = predicates
        self._look = look
        self.path: Sequence[int] = lattice.computation.steps
        self.full = (1 << len(self.path) + 1) - 1

    def moves(self, count: int | None = None) -> Sequence[Move]:
        """The path, or its first steps, as moves."""
        return self.lattice.walk(self.path[:count])

    def holds(self, formula: Node) -> bool:
        """Whether the formula holds at the first cut of the path."""
        with deep():
            return bool(self.bits(formula) >> len(self.path) & 1)

    def first(self, formula: Node) -> int | None:
        """How many steps lead to the first cut of the path that satisfies it; None if none does."""
        with deep():
            bits = self.bits(formula)
        return len(self.path) + 1 - bits.bit_length() if bits else None

    def _processes(self, step: int) -> list[int]:
        computation = self.lattice.computation
        return [computation.trace.process[event] for event in computation.events(step)]

    def bits(self, formula: Node) -> int:
        if self._look is not None:
            self._look()
        if is_state(formula):
            return self._state_bits(formula)
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

    def _state_bits(self, node: Node) -> int:
        """The truth of a state predicate along the path."""
        support = self.predicates.support(node)
        if not support:
            return self.full if self.predicates(node)(self.lattice.initial) else 0
        if len(support) == 1:
            return self._along({support[0]: self.predicates.states(node, support[0])})
        match node:
            case Not(operand):
                return self.full & ~self._state_bits(operand)
            case And(operands):
                return self._conjunction(operands, positive=True)
            case Or(operands):
                return self.full & ~self._conjunction(operands, positive=False)
            case AtLeast(least, operands) if all(len(self.predicates.support(p)) == 1 for p in operands):
                return self._at_least(least, operands)
            case Apart(operands) if (sides := self._sides(operands)) is not None:
                return self._apart(sides)
        return self._followed(node)

    def _followed(self, node: Node) -> int:
        """By what each step changes, for a predicate of several processes."""
        followed = self.predicates.followed(node)
        found = bytearray([followed.truth])
        for number, step in enumerate(self.path):
            if not number % LOOK_EVERY and self._look is not None:
                self._look()
            found.append(followed.move(self._processes(step)))
        return int(bytes(found).translate(_DIGITS), 2)

    def _at_least(self, least: int, parts: Sequence[Node]) -> int:
        """Where so many of the parts, each on one process, are true: followed by what each step changes."""
        by_process: dict[int, list[Bits]] = {}
        for part in parts:
            process = self.predicates.support(part)[0]
            by_process.setdefault(process, []).append(self.predicates.states(part, process))
        true = sum(states[0] for each in by_process.values() for states in each)
        found, counts = bytearray([true >= least]), dict.fromkeys(by_process, 0)
        for step in self.path:
            for process in self._processes(step):
                if process in by_process:
                    counts[process] += 1
                    now = counts[process]
                    true += sum(states[now] - states[now - 1] for states in by_process[process])
            found.append(true >= least)
        return int(bytes(found).translate(_DIGITS), 2)

    def _sides(self, operands: Sequence[Node]) -> dict[int, tuple[Bits, Bits]] | None:
        """What both halves ask of each process; None if some part reads more than one."""
        half, found = len(operands) // 2, dict[int, tuple[Bits, Bits]]()
        for one, other in zip(operands[:half], operands[half:], strict=True):
            support = self.predicates.support(one)
            if len(support) != 1 or support[0] in found or self.predicates.support(other) != support:
                return None
            states = self.predicates.states
            found[support[0]] = states(one, support[0]), states(other, support[0])
        return found

    def _apart(self, sides: dict[int, tuple[Bits, Bits]]) -> int:
        """Where one half is true at a process and the other at another one: pairs, without those of one."""
        ones = sum(one[0] for one, _ in sides.values())
        others = sum(other[0] for _, other in sides.values())
        same = sum(one[0] & other[0] for one, other in sides.values())
        found, counts = bytearray([ones * others > same]), dict.fromkeys(sides, 0)
        for step in self.path:
            for process in self._processes(step):
                if process in sides:
                    one, other = sides[process]
                    now = counts[process] = counts[process] + 1
                    ones += one[now] - one[now - 1]
                    others += other[now] - other[now - 1]
                    same += (one[now] & other[now]) - (one[now - 1] & other[now - 1])
            found.append(ones * others > same)
        return int(bytes(found).translate(_DIGITS), 2)

    def _conjunction(self, parts: Sequence[Node], positive: bool) -> int:
        """Where all parts are true; or, if not positive, where all are false."""
        states: _States = {}
        found = self.full
        for part in parts:
            support = self.predicates.support(part)
            if len(support) == 1:
                here = self.predicates.states(part, support[0])
                here = here if positive else here.negated()
                states[support[0]] = here.both(states[support[0]]) if support[0] in states else here
            else:
                others = self._state_bits(part)
                found &= others if positive else ~others
        return found & self._along(states) if states else found

    def _along(self, states: _States) -> int:
        """Where every one of these processes is in an allowed state."""
        kernel, computation = kernels(), self.lattice.computation
        if kernel is None or computation.joint or not len(computation.trace):
            return self._counted(states)
        every: list[bytes | None] = [None] * len(computation.lengths)
        for process, bits in states.items():
            every[process] = bits.data
        column = computation.trace.process
        width = getattr(column, "itemsize", 4)
        return int.from_bytes(kernel.along(column, width, len(every), every), "little")

    def _counted(self, states: Mapping[int, Bits]) -> int:
        """The plain twin: the cuts at which the number of forbidden states changes, and what lies between."""
        forbidden, changes = 0, []
        for process, bits in states.items():
            places, truth, count = self._by_process[process], bits[0], 0
            forbidden += not truth
            while (count := bits.find(1 - truth, count)) >= 0:
                changes.append((places[count - 1] + 1, truth or -1))
                truth = 1 - truth
        parts, at = [], 0
        for place, change in sorted(changes):
            if place > at:
                parts.append((b"0" if forbidden else b"1") * (place - at))
                at = place
            forbidden += change
        parts.append((b"0" if forbidden else b"1") * (len(self.path) + 1 - at))
        return int(b"".join(parts), 2)

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
