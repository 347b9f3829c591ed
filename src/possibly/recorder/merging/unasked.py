"""What a trace has of variables that nobody named: those that tasks share, and that are not touched all the
time.

A log says which words were turned off (`recorder.switching`): of their variables nothing counts but the
accesses that order the run. Of the others all accesses are told, so those that were told for their order as
well are left out; and a variable that one task alone touches is no shared one.
"""

from __future__ import annotations

from collections.abc import Iterable

from possibly.recorder import entries as e
from possibly.recorder.merging.sources import Entry, Source

_GLOBALS = (e.READ, e.WRITE)
_MEMBERS = (e.MEMBER_READ, e.MEMBER_WRITE)
_VARIABLES = frozenset(_GLOBALS + _MEMBERS)

Key = tuple[str, int, str]
"""A log, an object of it (0: none), and a variable."""


def leave_out(sources: list[Source]) -> None:
    """Takes away what does not count; only where a log says what was told unasked."""
    words = frozenset(word for source in sources for word in source.header.get("unasked", ()))
    if not words:
        return
    often = {_word(source, site) for source in sources for site in source.left_out}
    told = words - often
    alone = _touched_by_one(sources, told)
    for source in sources:
        source.events = list(_kept(source, source.events, told, alone, words))
        source.unseen = list(_kept(source, source.unseen, told, alone, words))


def _touched_by_one(sources: list[Source], words: frozenset[str]) -> set[Key]:
    """Variables that one task alone touches."""
    first: dict[Key, tuple[str, int]] = {}
    shared: set[Key] = set()
    for source in sources:
        for entry in source.events:
            if entry[0] in _VARIABLES and _word(source, entry[2]) in words:
                key = _key(source, entry)
                if first.setdefault(key, (source.key, entry[1])) != (source.key, entry[1]):
                    shared.add(key)
    return first.keys() - shared


def _kept(
    source: Source, entries: Iterable[Entry], told: frozenset[str], alone: set[Key], words: frozenset[str]
) -> Iterable[Entry]:
    for entry in entries:
        kind = entry[0] % e.FOR_ORDER
        if kind not in _VARIABLES or (word := _word(source, entry[2])) not in words:
            yield entry
        elif entry[0] >= e.FOR_ORDER:
            if word not in told:
                yield entry
        elif word in told and _key(source, entry) not in alone:
            yield entry
        elif source.sites[entry[2]][3] is not None:
            yield (e.MARK, *entry[1:3])


def _key(source: Source, entry: Entry) -> Key:
    site = source.sites.get(entry[2])
    return source.key, entry[3] if entry[0] in _MEMBERS else 0, (site[4] if site else None) or ""


def _word(source: Source, number: int) -> str:
    site = source.sites.get(number)
    return ((site[4] if site else None) or "").rpartition(".")[2]
