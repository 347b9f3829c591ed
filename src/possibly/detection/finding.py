"""What an engine finds: whether the formula holds at the initial cut, and the path that shows it.

Here belong the words that all engines share and no search; which path shows which answer is decided where
it is searched for (`branching`, `sliced`, ...).
"""

from __future__ import annotations

from collections.abc import Sequence

from possibly.logic.syntax import Node
from possibly.order.lattice import Move
from possibly.records import dataclass

Path = Sequence[Move]

ENDS_FALSE = "it ends where {} is false"
ENDS_TRUE = "it ends where {} is true"
NEVER = "{} is never true on it"
ALWAYS = "{} is true all the way"
BREAKS = "this observation breaks {}"
KEEPS = "this observation keeps to {}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What holds at the initial cut, and the path that shows it, if a single one does."""

    value: bool
    path: Path | None = None
    shows: Shows | None = None
    moment: int | None = None
    """After how many steps of the path the answer is certain, when the path goes on after that."""
    assumed: tuple[str, ...] = ()
    """Declared classes that were relied on."""
    since: int = 0
    """For a whole observation: after how many steps begins what never comes to its end."""
    loop: tuple[int, int] | None = None
    """For a path that can go on for ever: the steps after which a state is reached, and reached again."""


@dataclass(frozen=True, slots=True)
class Shows:
    """What a path shows: `how` is a sentence with a place for the formula `what`."""

    how: str
    what: Node
    to_the_end: bool = False
    """It speaks of the whole path, not of its last cut."""
