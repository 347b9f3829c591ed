"""One place of the program's that tells of something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from possibly.probes import port
from possibly.probes.watching.telling import Told
from possibly.recorder.access import Access
from possibly.recorder.log import Log

Entry = tuple[Any, ...]


class Voice:
    """What the sites of one log share."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.access = Access(log)
        self.is_quiet = False
        """The recording is over; code that has sites goes on."""
        self.me: Callable[[], int] = getattr(log, "looked_me", port.me)
        self.look: Callable[[], None] = getattr(log, "look", _nothing)
        """What is done after an entry with no store right behind it."""
        self._numbers = {word: number for number, word in enumerate(log.unasked)}

    def switch_of(self, variable: str | None) -> int:
        """The place of the word in `Log.live`; -1: it was asked for."""
        return self._numbers.get((variable or "").rpartition(".")[2], -1)


class Site:
    """One place of the program's."""

    __slots__ = ("number", "sites", "switch", "told")

    def __init__(self, sites: Voice, number: int, told: Told) -> None:
        self.sites, self.number, self.told = sites, number, told
        self.switch = sites.switch_of(told.variable)
        """Of the variable, where that is told as long as it is not too much."""

    @property
    def is_bare(self) -> bool:
        """Whether nothing but the place is told."""
        return True

    @property
    def is_off(self) -> bool:
        """Whether nothing is told any more."""
        return self.sites.is_quiet or (self.switch >= 0 and not self.sites.log.live[self.switch])

    def _append(self, entry: Entry) -> None:
        entries = self.sites.log.entries
        entries += (entry,)


def plain_of(site: Any) -> Any:
    """The plain twin of a site that may be compiled."""
    return getattr(site, "plain", site)


def _nothing() -> None:
    """Nobody looks."""
