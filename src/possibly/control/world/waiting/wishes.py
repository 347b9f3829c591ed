"""What event loops wait for: that an open file under control can be read from, or written to.

An end of a pipe that is waited for in the other direction than its own is ready when nobody has the other end
any more, which is how transports learn of that.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from possibly.control.execution import Access
from possibly.control.world.waiting import selecting


class Wish(NamedTuple):
    """That a place is ready."""

    place: Any
    reads: bool
    is_of_end: bool = False
    """Of a pipe: what is waited for is that the other end goes."""

    def is_granted(self) -> bool:
        if self.is_of_end:
            return not self.place.held[not self.reads]
        return bool(self.place.is_readable() if self.reads else self.place.is_writable())

    def touched(self) -> tuple[Access, ...]:
        """What tells whether it is granted."""
        if self.is_of_end:
            return (Access(self.place.ends[not self.reads], False),)
        looked = selecting.touched_by_looking(self.place, self.reads, not self.reads)
        return tuple(dict.fromkeys(looked))


def wish_for(number: int, reads: bool) -> Wish | None:
    """The wish that a file is ready; None for one that leads outside."""
    place = selecting.places().get(number)
    if place is None:
        return None
    pipes = sys.modules.get("possibly.control.world.processes.pipes")
    known = pipes.numbers.get(number) if pipes is not None else None
    return Wish(place, reads, known is not None and known[1] == reads)
