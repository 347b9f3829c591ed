"""Turning off what is told unasked and becomes too much: a line that touches a variable all the time.

Law: of a variable whose word is turned off nothing counts, neither before nor after, so it does not matter
when exactly that happens; whether it does depends on how often the program does what, not on how fast it is.

Entries are counted when they are written, by the sites that they come from; those that the compiled tape
packs it counts itself. A container weighs as much as copies of it cost, with those in it.
"""

from __future__ import annotations

from typing import Any

from possibly.recorder.entries import (
    ITEM_READ,
    ITEM_WRITE,
    LEFT_OUT,
    MEMBER_READ,
    MEMBER_WRITE,
    RAW,
    READ,
    WRITE,
)
from possibly.recorder.log import Log

_ACCESSES = frozenset({READ, WRITE, MEMBER_READ, MEMBER_WRITE, ITEM_READ, ITEM_WRITE})
PER_UNIT = 25
"""Items of a container that weigh as much as an entry."""
_SIZED = (list, dict, set, bytearray)


class Switches:
    """Those of one log, in the order of the words."""

    def __init__(self, log: Log, most: int) -> None:
        self._log = log
        self._numbers = {word: number for number, word in enumerate(log.unasked)}
        self._most = most
        self._counts: dict[int, int] = {}
        self._words: dict[int, int | None] = {}
        """Sites -> the numbers of their words."""

    def sifted(self, entries: list[Any]) -> list[Any]:
        """The entries, with something short instead of those that do not count."""
        for entry in entries:
            site = _site_of(entry)
            if site is not None and self._number(site) is not None:
                self._counts[site] = self._counts.get(site, 0) + _weight(entry[-1])
        hot = [site for site, count in self._counts.items() if count > self._most]
        hot += self._log.tape.left_out() if self._log.tape else ()
        told: list[Any] = [(LEFT_OUT, site) for site in hot if self._turned_off(site)]
        return [*map(self._short, entries), *told]

    def _turned_off(self, site: int) -> bool:
        """Whether the word of the site was told until now."""
        number = self._number(site)
        if number is None or not self._log.live[number]:
            return False
        self._log.turn_off(number)
        return True

    def _short(self, entry: Any) -> Any:
        site = _site_of(entry)
        number = None if site is None else self._number(site)
        return entry if number is None or self._log.live[number] else (LEFT_OUT, site)

    def _number(self, site: int) -> int | None:
        if site not in self._words:
            variable = self._log.described.get(site, ("", 0, None))[2]
            self._words[site] = self._numbers.get((variable or "").rpartition(".")[2])
        return self._words[site]


def _site_of(entry: Any) -> int | None:
    """The site of an access; an entry may have its beginning apart from its value."""
    head = entry[0] if type(entry[0]) is tuple else entry
    found: int | None = head[2] if head[0] % RAW in _ACCESSES else None
    return found


def _weight(value: Any) -> int:
    return 1 + _size(value) // PER_UNIT


def _size(value: Any) -> int:
    """Of a container with those in it, as far as values are told."""
    if type(value) not in _SIZED:
        return 0
    inner = value.values() if type(value) is dict else value if type(value) is list else ()
    return len(value) + sum(_size(each) for each in inner if type(each) in _SIZED)
