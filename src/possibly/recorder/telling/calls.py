"""Sites of functions that begin and end."""

from __future__ import annotations

import sys
from typing import Any

from possibly.probes.watching.telling import Told
from possibly.recorder.entries import (
    ENTER,
    EXIT,
)
from possibly.recorder.snapshot import snapshot
from possibly.recorder.telling.site import Entry, Site, Voice, plain_of


class Enter(Site):
    __slots__ = ("given",)

    def __init__(self, sites: Voice, number: int, told: Told) -> None:
        super().__init__(sites, number, told)
        self.given: dict[int, Any] = {}
        """Frames -> the arguments of their calls."""

    @property
    def is_bare(self) -> bool:
        """Whether neither arguments nor locals are told."""
        is_bare: bool = self.told.more == (None, ())
        return is_bare

    def __delitem__(self, values: Any) -> None:
        if self.sites.is_quiet:
            return
        entry: Entry = (ENTER, self.sites.me(), self.number)
        told, scoped = self.told.more
        if told is not None:
            given = self.sites.access.arguments(*_spread(values, told))
            self.given[id(sys._getframe(1))] = given
            entry = (*entry, given)
        if scoped:
            pairs = tuple([(name, snapshot(values[place])) for name, place in scoped])
            entry = (*entry, *([None] if told is None else []), pairs)
        self.sites.log.note(entry)
        self.sites.look()


class Exit(Site):
    __slots__ = ()

    @property
    def is_bare(self) -> bool:
        """Whether no arguments are told."""
        told: Told = plain_of(self.told.more).told
        return told.more[0] is None

    def __delitem__(self, _: object) -> None:
        if self.sites.is_quiet:
            return
        entry: Entry = (EXIT, self.sites.me(), self.number)
        if not self.is_bare:
            given = plain_of(self.told.more).given
            entry = (*entry, given.pop(id(sys._getframe(1)), ()))
        self.sites.log.note(entry)
        self.sites.look()


class CountedEnter(Site):
    __slots__ = ()

    def __delitem__(self, _: object) -> None:
        if not self.sites.is_quiet:
            self.sites.log.enter(self.number)


class CountedExit(Site):
    __slots__ = ()

    def __delitem__(self, _: object) -> None:
        if not self.sites.is_quiet:
            self.sites.log.leave(self.number)


def _spread(values: tuple[Any, ...], told: tuple[int, ...]) -> list[Any]:
    """The arguments at these places; one that spreads out has a negative place."""
    found: list[Any] = []
    for place in told:
        found += values[-place] if place < 0 else (values[place],)
    return found
