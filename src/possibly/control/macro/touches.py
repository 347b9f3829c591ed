"""Files that processes open: named if two of them use one, one to write, in an order that nothing decides."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations
from typing import NamedTuple

from possibly.control.macro.before import Before
from possibly.control.macro.model import Process

Opened = tuple[tuple[str, bool], ...]
"""Files, and whether they were opened to write."""


class _Touch(NamedTuple):
    """A process opened a file, between two of its events."""

    process: Process
    since: int | None
    until: int
    writes: bool


class Touches:
    """Who opened which file, and when."""

    def __init__(self, before: Before) -> None:
        self.before = before
        self._of: dict[str, list[_Touch]] = {}
        self._settled: set[int] = set()
        """Events that come before whatever happens from now on."""

    def add(self, process: Process, since: int | None, until: int, files: Opened) -> None:
        for path, writes in files:
            self._of.setdefault(path, []).append(_Touch(process, since, until, writes))

    def all(self) -> Iterator[tuple[tuple[str, ...], int | None, int | None]]:
        """Each by what it was, with the event before it, and the one after it if its order is open."""
        for path, touches in sorted(self._of.items()):
            counts: dict[Process, int] = {}
            for each in touches:
                counts[each.process] = counts.get(each.process, 0) + 1
                open_ = None if each.until in self._settled else each.until
                role = (path, each.process, str(counts[each.process]), f"{each.writes} {open_ is None}")
                yield role, each.since, open_

    def settle(self, live: Collection[int]) -> None:
        """Finds events that come before all those from which something can go on."""
        for touches in self._of.values():
            for each in touches:
                if each.until not in self._settled and self.before.comes_first(each.until, live):
                    self._settled.add(each.until)

    def unordered(self) -> Iterator[str]:
        """What is to be told of them."""
        for path, touches in self._of.items():
            for one, two in combinations(touches, 2):
                if one.process != two.process and _conflict(path, one, two) and not self._ordered(one, two):
                    yield f"the file {path}, which {one.process} and {two.process} use"
                    break

    def _ordered(self, one: _Touch, two: _Touch) -> bool:
        return self._comes_first(one, two) or self._comes_first(two, one)

    def _comes_first(self, one: _Touch, two: _Touch) -> bool:
        return two.since is not None and self.before.holds(one.until, two.since)


def _conflict(path: str, one: _Touch, two: _Touch) -> bool:
    """Two that add names to one folder do not disturb each other."""
    if path.endswith("*"):
        return one.writes != two.writes
    return one.writes or two.writes
