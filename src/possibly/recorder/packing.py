"""Which actions a log tells, and how the compiled log packs them.

Law: `unpacked` gives back exactly the entries that the plain log would have written, in their order. A record
is `Record` of `_tell.c`; whoever changes one changes the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Any

from possibly.recorder.entries import SYNC

TOLD_BEFORE = frozenset(
    {"stream", "release", "put", "notify", "give", "spawn", "end", "arrive", "leave", "resolve", "cancel"}
)
"""Actions that count from before they are done: whoever relies on them may be told of first otherwise."""
TOLD_AFTER = frozenset(
    {"streamed", "read", "acquire", "get", "wake", "take", "set", "await", "start", "join", "passed",
     "depart", "learn", "units", "new", "resume", "meet", "peek"}
)  # fmt: skip

HEAD = Struct("<III")
"""In front of a piece of a log: how many of its entries are definitions, bytes of all, bytes of records."""

_ACTIONS = tuple(sorted(TOLD_BEFORE | TOLD_AFTER))
_RECORD = Struct("=IBBHIIqqq")

Entry = tuple[Any, ...]


def number_of(action: str) -> int:
    return _ACTIONS.index(action)


def unpacked(entries: list[Entry], packed: bytes) -> Iterator[Entry]:
    """The entries of a piece and its records, each record before the entry whose position it names.

    An entry whose head was put together beforehand, `((kind, process, site), value)`, is flat again.
    """
    entries = [(*entry[0], entry[1]) if type(entry[0]) is tuple else entry for entry in entries]
    passed = 0
    for position, action, details, _, process, site, thing, first, second in _RECORD.iter_unpack(packed):
        while passed < position:
            yield entries[passed]
            passed += 1
        detail = (first, second) if details == 2 else first if details else None
        yield (SYNC, process, site, _ACTIONS[action], thing, detail, 0.0)
    yield from entries[passed:]
