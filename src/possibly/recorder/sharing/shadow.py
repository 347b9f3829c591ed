"""Shadow memory: of everything that a program touches, who did so last; judged while the program runs.

Theory of operation. An access is compared with the last write, and a write with the last reads, by the time
of the one and the clock of the other (epochs: Flanagan and Freund, FastTrack, 2009, section 3). What one
process alone has touched, or what synchronisation orders, costs that comparison and leaves nothing. Two
accesses that conflict and are not ordered are handed to `conflict`, the earlier one with the place in the log
at which it happened: the trace has both, and so the order that they give and the race that they may be.

A container's items are variables of their own. An access to all of them at once (`WHOLE`) meets each.

Departures: after a conflict the later access stands for all before it, since their order is in the trace, and
who changes all items of a container for what was done to each; a process that has read since the last write
is not told again. Reads are kept one a process.

`_shadow.c` is the compiled twin of this file and of `sites`; a test compares what both hand over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from possibly.recorder.sharing.clocks import Clocks

MOST_ITEMS = 1024
"""Items of a container that are told apart."""
EXTENT: tuple[Any, ...] = ()
"""The key of how many items a container has; that of an item is a tuple of one, of a variable its name."""
WHOLE = (..., 0)
"""The key of all items at once."""
ANY_ITEM = (...,)
"""The key of all further items of a container that has too many to tell them apart."""
READS, WRITES, CHANGES, COPIES = range(4)
"""How a variable is touched; a change is one operation of the interpreter that reads and writes, a copy one
that reads all items of a container."""
ONLY_READS = (READS, COPIES)


class Touch(NamedTuple):
    """One access."""

    process: int
    time: int
    site: int
    sequence: int
    """How many entries the log had."""
    how: int
    is_told: bool = False
    """It was handed over."""


Conflict = Callable[[list[Touch], Touch, Any, Any], None]
"""(earlier accesses that were not handed over yet, the present one, the object, the key)"""


class Cell:
    """One variable."""

    __slots__ = ("reads", "write")

    def __init__(self) -> None:
        self.write: Touch | None = None
        self.reads: dict[int, Touch] = {}
        """Since the last write: the last one of each process."""


class Shadow:
    """The cells of all objects that live."""

    def __init__(self, clocks: Clocks, conflict: Conflict) -> None:
        self._clocks = clocks
        self._conflict = conflict
        self._cells: dict[int, dict[Any, Cell]] = {}
        """By the identity of the object, then by the key."""

    def access(self, thing: Any, key: Any, touch: Touch) -> None:
        cells = self._cells.setdefault(id(thing), {})
        touch = touch._replace(time=self._clocks.now(touch.process)[touch.process])
        is_item = type(key) is tuple and key != EXTENT
        if key not in cells and is_item and key != WHOLE and len(cells) >= MOST_ITEMS:
            key = ANY_ITEM
        is_told = False
        if is_item:
            others = [each for each in cells if _meet(key, each)] if key == WHOLE else [WHOLE]
            for other in others:
                name = other if key == WHOLE else key
                is_told |= other in cells and self._meets(cells[other], touch, thing, name)
                if key == WHOLE and touch.how not in ONLY_READS:
                    cells[other] = Cell()
        cell = cells.setdefault(key, Cell())
        is_told |= self._meets(cell, touch, thing, key)
        touch = touch._replace(is_told=is_told)
        if touch.how in ONLY_READS:
            cell.reads[touch.process] = _newest(cell.reads.get(touch.process), touch)
        else:
            cell.write = touch
            cell.reads.clear()

    def _meets(self, cell: Cell, touch: Touch, thing: Any, key: Any) -> bool:
        """Hands over what of the cell conflicts with the access and is not ordered; whether there is any."""
        write = cell.write
        against = [write] if write is not None and not self._is_ordered(write, touch) else []
        if touch.how in ONLY_READS:
            earlier = cell.reads.get(touch.process)
            if earlier is not None and (earlier.how == READS or touch.how == COPIES):
                return False
        else:
            against += [each for each in cell.reads.values() if not self._is_ordered(each, touch)]
        if not against:
            return False
        self._conflict([each for each in against if not each.is_told], touch, thing, key)
        if write is not None and write in against:
            cell.write = write._replace(is_told=True)
        return True

    def _is_ordered(self, touch: Touch, later: Touch) -> bool:
        if touch.process == later.process:
            return True
        return self._clocks.now(later.process).get(touch.process, 0) >= touch.time

    def forget_all(self) -> None:
        """Nothing was touched yet."""
        self._cells.clear()


def _newest(earlier: Touch | None, touch: Touch) -> Touch:
    """The newest read of a process stands for all of its reads: it is a copy only if each of them was."""
    is_plain = earlier is not None and earlier.how == READS
    return touch._replace(how=READS) if is_plain else touch


def _meet(whole: Any, key: Any) -> bool:
    return type(key) is tuple and key != EXTENT and key != whole
