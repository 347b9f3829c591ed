"""What values a sum can take in a box of cuts, ignoring the order between processes.

Here belongs a quick answer that is right as far as it goes: every cut between two cuts lies in the box of
its counts, so a bound that no point of the box meets no cut meets either. The sum at a point is the start
value plus one number a process (`solver_sums`), so its extremes over a box are those of each process over a
range of positions: range minima, by a sparse table a process, built when it is first asked.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate

from possibly.detection.solver.sums import Total


class _Minima:
    """Where a list of numbers is least in a range, in constant time."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers
        self._levels = [array("i", range(len(numbers)))]
        width = 1
        while 2 * width <= len(numbers):
            before = self._levels[-1]
            pairs = zip(before, before[width:], strict=False)
            self._levels.append(array("i", [a if numbers[a] <= numbers[b] else b for a, b in pairs]))
            width *= 2

    def index(self, first: int, last: int) -> int:
        level = (last - first + 1).bit_length() - 1
        a, b = self._levels[level][first], self._levels[level][last - (1 << level) + 1]
        return a if self._numbers[a] <= self._numbers[b] else b


class SumBounds:
    """Extremes of a sum over boxes."""

    def __init__(self, total: Total, lengths: Sequence[int]) -> None:
        changes = [[0] * (length + 1) for length in lengths]
        for (process, position), change in total.changes.items():
            changes[process][position] = change
        self._start = total.start
        self._sums = [list(accumulate(column)) for column in changes]
        self._tables: dict[int, list[_Minima]] = {}

    def at(self, cut: Sequence[int]) -> int:
        return self._start + sum(sums[count] for sums, count in zip(self._sums, cut, strict=True))

    def extreme(self, low: Sequence[int], high: Sequence[int], sign: int) -> tuple[int, tuple[int, ...]]:
        """The least (sign 1) or the greatest (sign -1) value in a box that is not empty, and where."""
        if sign not in self._tables:
            self._tables[sign] = [_Minima([sign * number for number in sums]) for sums in self._sums]
        bounds = zip(self._tables[sign], low, high, strict=True)
        point = tuple([table.index(first, last) for table, first, last in bounds])
        return self.at(point), point
