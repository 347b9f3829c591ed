"""Why a search is not complete, as data: where that is in the user's source, and what helps."""

from __future__ import annotations

from possibly.records import dataclass

OUTSIDE = "explore without it, for example with a stand-in that does the same each time"
"""What helps against most that is not under control."""
SAME_AGAIN = (
    "what the program gets from outside (files, the network, the order of addresses) must be the same again"
)


@dataclass(frozen=True, slots=True)
class Reason:
    """Of an open verdict, whose words are the key under which it is kept."""

    where: str = ""
    """A place in the user's source, `file.py:12`, if one is known."""
    remedy: str = ""
    """What can be done about it."""
