"""Range checks over whole columns at the speed of long arithmetic.

A column of n integers of w bits is one integer of n*w bits, whose lanes can be compared all at once with
a few additions and masks; Python's long integers do that some ten times faster than a loop over the
items, and need no compiled code. Lanes are signed; `high` is the sign bit of each lane, and additions
touch only the bits below it, so no carry ever leaves a lane.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple, TypeAlias
else:
    from possibly.records import NamedTuple

_CHUNK = 1 << 14
"""Items at a time: what fits into the fast caches."""

Items: TypeAlias = "memoryview | array[int]"


class _Lanes(NamedTuple):
    value: int
    """The items side by side, the first in the lowest bits."""
    ones: int
    """A 1 in each lane."""
    number: int


def _lanes(column: Items) -> Iterator[_Lanes]:
    view = memoryview(column)
    width = 8 * view.itemsize
    whole = _ones(min(len(view), _CHUNK), width)
    for start in range(0, len(view), _CHUNK):
        items = view[start : start + _CHUNK]
        is_whole = len(items) == min(len(view), _CHUNK)
        if sys.byteorder == "big":  # the first item must stand in the lowest bits
            items = memoryview(array(view.format, reversed(items.tolist())))
        value = int.from_bytes(items.cast("B"), sys.byteorder)
        yield _Lanes(value, whole if is_whole else _ones(len(items), width), len(items))


def _ones(count: int, width: int) -> int:
    return int.from_bytes((b"\1" + bytes(width // 8 - 1)) * count, "little")


def is_within(column: Items, bound: int, *, or_none: bool = False) -> bool:
    """Whether 0 <= x < bound for every item x, or x == -1 where that is allowed."""
    shift = 8 * column.itemsize - 1
    missing = (1 << shift) - max(0, min(bound, 1 << shift))
    for lanes in _lanes(column):
        high = lanes.ones << shift
        negative = lanes.value & high
        low = lanes.value ^ negative
        # With a bound of 0 every lane is too large, and the sum would leave the lane.
        too_large = (low + missing * lanes.ones) & high if bound > 0 else high
        if or_none:
            is_none = (low + lanes.ones) & negative
            too_large &= ~negative
            negative ^= is_none
        if too_large or negative:
            return False
    return True


def is_ascending(column: Items) -> bool:
    """Whether no item is smaller than the one before; every item must be known to be at least 0."""
    width = 8 * column.itemsize
    last = 0
    for lanes in _lanes(column):
        high = lanes.ones << (width - 1)
        before = (lanes.value << width | last) & ((1 << lanes.number * width) - 1)
        if ((lanes.value | high) - before) & high != high:
            return False
        last = lanes.value >> (lanes.number - 1) * width
    return True
