"""The explicit engine: ctl, any nesting, on the whole lattice held in rows of bits.

Here belongs each operator as one pass over the rows, and each predicate as the bits of a row.

Theory of operation. A row of cuts is one integer, bit 0 the latest cut (see `order.rows`). An operator over
paths has the law value = now | while & (some or every successor's value). The successors along the other
processes are whole rows, shifted into place; the successor along the last process is the next lower bit,
and the law along a row is: from the seeds spread to higher bits as long as `while` holds. An addition does
that for all bits at once, its carry running through the ones of `while`. So the cost is a few operations
on integers for a row and a process, whatever the length of the row. The formula is evaluated from the
inside out, without recursion along paths, and every cut is visited: there is no early exit, which is why
`choose` tries the plain engine first.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.detection.exhaustive import LAWS, TRUE, Law, now_and_while
from possibly.detection.limits import Budget
from possibly.detection.witness import nearest
from possibly.logic.depth import deep
from possibly.logic.predicate import is_state
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or, Temporal
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates, Holds
from possibly.order.rows import NO_ROW, Rows

Bits = list[int]
"""For each row the set of its cuts that satisfy a formula."""


class Sweep:
    """Evaluates formulas at all cuts of one lattice at once."""

    def __init__(self, lattice: Lattice, predicates: CutPredicates, budget: Budget) -> None:
        self.lattice = lattice
        self.predicates = predicates
        self.budget = budget
        self.rows = Rows(lattice.computation, budget.visit)
        sizes = zip(self.rows.low, self.rows.high, strict=True)
        self.full: Bits = [(1 << high - low + 1) - 1 for low, high in sizes]
        self._known: dict[Node, Bits] = {}

    def at(self, formula: Node, cut: int) -> bool:
        return self.function(formula)(cut)

    def function(self, formula: Node) -> Holds:
        """The formula as a look-up by packed cut."""
        return self._look_up(self.bits(formula))

    def _look_up(self, bits: Bits) -> Holds:
        rows, unpack = self.rows, self.lattice.unpack

        def holds(packed: int) -> bool:
            cut = unpack(packed)
            row = rows.row_of(cut)
            return bool(bits[row] >> rows.high[row] - cut[rows.last] & 1)

        return holds

    def nearest(self, meanwhile: Node, goal: Node) -> set[int]:
        """The nearest cuts with `goal`, through cuts with `meanwhile`; empty if there is none."""
        if not self.at(Temporal("EU", (meanwhile, goal)), self.lattice.initial):
            return set()
        if meanwhile == TRUE and not self.lattice.computation.joint:
            return self._least_level(self.bits(goal))
        return nearest(self.lattice, self.function(meanwhile), self.function(goal), self.budget)

    def _least_level(self, bits: Bits) -> set[int]:
        """Of the cuts with their bit set, those with the fewest events."""
        rows = self.rows
        least, found = len(self.lattice.computation.trace) + 1, set[int]()
        for row, here in enumerate(bits):
            if here:
                count = rows.high[row] - here.bit_length() + 1
                level = sum(rows.prefixes[row]) + count
                if level < least:
                    least, found = level, set()
                if level == least:
                    found.add(self._packed(row, count))
        return found

    def _packed(self, row: int, count: int) -> int:
        prefix = zip(self.rows.prefix, self.rows.prefixes[row], strict=True)
        shifts = self.lattice.shifts
        return sum(n << shifts[process] for process, n in prefix) + (count << shifts[self.rows.last])

    # ---- formulas -------------------------------------------------------------------------------

    def bits(self, formula: Node) -> Bits:
        """The cuts that satisfy the formula."""
        if formula not in self._known:
            with deep():
                self._known[formula] = self._make(formula)
        return self._known[formula]

    def _make(self, formula: Node) -> Bits:
        if is_state(formula):
            simple = self._simple(formula)
            if simple is not None:
                return simple
        match formula:
            case Not(operand):
                return [full & ~here for full, here in zip(self.full, self.bits(operand), strict=True)]
            case And(operands):
                return self._merge([self.bits(part) for part in operands], conjunction=True)
            case Or(operands):
                return self._merge([self.bits(part) for part in operands], conjunction=False)
            case Implies(left, right):
                return self.bits(Or((Not(left), right)))
            case Iff(left, right):
                pairs = zip(self.full, self.bits(left), self.bits(right), strict=True)
                return [full & ~(first ^ second) for full, first, second in pairs]
            case Temporal("EX" | "AX"):
                return self._next(formula)
            case Temporal():
                now, meanwhile = map(self.bits, now_and_while(formula))
                return self._path(LAWS[formula.operator], now, meanwhile)
        return self._each(formula)

    def _merge(self, parts: list[Bits], conjunction: bool) -> Bits:
        merged = parts[0]
        for part in parts[1:]:
            pairs = zip(merged, part, strict=True)
            merged = [a & b for a, b in pairs] if conjunction else [a | b for a, b in pairs]
        return merged

    # ---- predicates -----------------------------------------------------------------------------

    def _simple(self, formula: Node) -> Bits | None:
        """The bits of a predicate on one process, or on none; else None."""
        support = self.predicates.support(formula)
        if len(support) > 1:
            return None
        if not support:
            return list(self.full) if self.predicates(formula)(0) else [0] * len(self.full)
        table = self.predicates.table(formula, support[0])
        if support[0] != self.rows.last:
            place = self.rows.prefix.index(support[0])
            pairs = zip(self.full, self.rows.prefixes, strict=True)
            return [full if table[counts[place]] else 0 for full, counts in pairs]
        whole = sum(1 << len(table) - 1 - count for count, truth in enumerate(table) if truth)
        length = len(table) - 1
        ends = zip(self.full, self.rows.high, strict=True)
        return [whole >> length - high & full for full, high in ends]

    def _each(self, formula: Node) -> Bits:
        """A predicate on several processes: at each cut, or once a row if the last one does not matter."""
        holds, support = self.predicates(formula), self.predicates.support(formula)
        rows, unit = self.rows, 1 << self.lattice.shifts[self.rows.last]
        if rows.last not in support:
            starts = (self._packed(row, rows.low[row]) for row in range(len(rows)))
            return [full if holds(cut) else 0 for full, cut in zip(self.full, starts, strict=True)]
        places = [index for index, process in enumerate(rows.prefix) if process in support]
        known: dict[tuple[int, ...], int] = {}
        found: Bits = []
        for row, (low, high) in enumerate(zip(rows.low, rows.high, strict=True)):
            key = (low, high, *[rows.prefixes[row][place] for place in places])
            if key not in known:
                first = self._packed(row, low)
                cuts = range(first, first + (high - low) * unit + 1, unit)
                known[key] = int("".join("1" if holds(cut) else "0" for cut in cuts), 2)
            found.append(known[key])
        return found

    # ---- operators ------------------------------------------------------------------------------

    def _next(self, formula: Temporal) -> Bits:
        """EX, EX[P] and AX, which is the dual of EX."""
        operand = self.bits(formula.operands[0])
        number = None
        if formula.process is not None:
            number = self.lattice.computation.trace.process_number[formula.process]
        if formula.operator == "EX":
            return self._some_successor(operand, number)
        without = [full & ~here for full, here in zip(self.full, operand, strict=True)]
        pairs = zip(self.full, self._some_successor(without, None), strict=True)
        return [full & ~here for full, here in pairs]

    def _some_successor(self, bits: Bits, number: int | None) -> Bits:
        found: Bits = []
        for row, full in enumerate(self.full):
            here = 0
            if number is None or number == self.rows.last:
                here = bits[row] << 1
            for place, target in self._targets(row):
                if number is None or number in self.rows.step_processes(row, place):
                    here |= self._shifted(bits[target], row, target)
            for crossing in self.rows.crossings.get(row, ()):
                if number is None or number in crossing.processes:
                    here |= self._crossed(bits, row, crossing.target, crossing.count)
            found.append(here & full)
        return found

    def _targets(self, row: int) -> Iterator[tuple[int, int]]:
        for place, following in enumerate(self.rows.following):
            if following[row] != NO_ROW:
                yield place, following[row]

    def _shifted(self, bits: int, row: int, target: int) -> int:
        """The bits of the target row, moved to where the same counts stand in this row."""
        shift = self.rows.high[target] - self.rows.high[row]
        return bits >> shift if shift >= 0 else bits << -shift

    def _crossed(self, bits: Bits, row: int, target: int, count: int) -> int:
        """The bit of a joint event's target, at the one cut of this row from which it leads there."""
        high = self.rows.high
        inside = self.rows.low[row] <= count - 1 <= high[row]
        return (bits[target] >> high[target] - count & 1) << high[row] - count + 1 if inside else 0

    def _path(self, law: Law, now: Bits, meanwhile: Bits) -> Bits:
        """value = now | while & (some or every successor's value), from the last row to the first."""
        value: Bits = [0] * len(self.full)
        for row in range(len(self.full) - 1, -1, -1):
            full = self.full[row]
            if law.every:
                seeds, through = self._every(row, value, meanwhile[row], law)
            else:
                seeds, through = self._some(row, value, meanwhile[row], law)
            seeds |= now[row]
            # The carry of the addition runs from each seed through the ones of `through` above it.
            start = seeds << 1 & through
            value[row] = (seeds | start | ((through + start) ^ through) & through) & full
        return value

    def _some(self, row: int, value: Bits, meanwhile: int, law: Law) -> tuple[int, int]:
        """Seeds: a successor in another row has it. It spreads through `while`."""
        others = 1 if law.at_end and row == len(value) - 1 else 0
        for _, target in self._targets(row):
            others |= self._shifted(value[target], row, target)
        for crossing in self.rows.crossings.get(row, ()):
            others |= self._crossed(value, row, crossing.target, crossing.count)
        return others & meanwhile, meanwhile

    def _every(self, row: int, value: Bits, meanwhile: int, law: Law) -> tuple[int, int]:
        """It spreads through cuts all of whose successors in other rows have it.

        Seeds are those among them that have no successor in this row: the lowest bit, if it has one in
        another row or is the final cut and that counts.
        """
        full = self.full[row]
        failing = some = 0
        for _, target in self._targets(row):
            there = self._shifted(self.full[target], row, target) & full
            failing |= there & ~self._shifted(value[target], row, target)
            some |= there
        for crossing in self.rows.crossings.get(row, ()):
            there = self._crossed(self.full, row, crossing.target, crossing.count)
            failing |= there & ~self._crossed(value, row, crossing.target, crossing.count)
            some |= there
        through = meanwhile & ~failing
        final = 1 if law.at_end and row == len(value) - 1 else 0
        return through & 1 & (some | final), through
