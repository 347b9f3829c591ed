"""Which actions a log tells, and how the compiled log packs what it is told.

Law: `unpacked` gives back exactly the entries that the plain log would have written, in their order.

A record is a byte and numbers, seven bits a byte, the last one below 128; those with a sign are doubled,
negative ones less one and turned over, so that small ones stay short. The byte says what follows:

| byte | what follows | what it is |
| --- | --- | --- |
| 0 | n | n entries of the list stand before the next record |
| 8 * kind + value | process, site, and the value | an entry that is no action |
| 104 + 3 * action + d | process, site, thing, and d more | an action with d details |

A value is none (0), an integer (1), None (2), False (3), True (4), a float of eight bytes (5); whatever else
there is stands in the list. `_tell.c` writes records, and reads them as well; whoever changes one changes
the other. What it reads again and again in one piece it makes one and the same entry, as far as that is easy.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Any

from possibly.compiled import built
from possibly.recorder.entries import SYNC

TOLD_BEFORE = frozenset(
    {"stream", "release", "put", "notify", "give", "spawn", "end", "arrive", "leave", "resolve", "cancel"}
)
"""Actions that count from before they are done: whoever relies on them may be told of first otherwise."""
TOLD_AFTER = frozenset(
    {"streamed", "read", "acquire", "get", "wake", "take", "set", "await", "start", "join", "passed",
     "depart", "learn", "units", "new", "resume", "meet", "peek", "look", "asked", "free", "turn"}
)  # fmt: skip

HEAD = Struct("<III")
"""In front of a piece of a log: how many of its entries are definitions, bytes of all, bytes of records."""

_ACTIONS = tuple(sorted(TOLD_BEFORE | TOLD_AFTER))
_ENTRIES, _FIRST_ACTION = 8, 104
_INTEGER, _FLOAT = 1, 5
_SINGLE = {2: None, 3: False, 4: True}
_REAL = Struct("=d")

Entry = tuple[Any, ...]


def number_of(action: str) -> int:
    return _ACTIONS.index(action)


def unpacked(entries: list[Entry], packed: bytes) -> list[Entry]:
    """The entries of a piece and its records in their order.

    An entry whose head was put together beforehand, `((kind, process, site), value)`, is flat again.
    """
    entries = [(*entry[0], entry[1]) if type(entry[0]) is tuple else entry for entry in entries]
    if not packed:
        return entries
    kernel = built("possibly.recorder._tell")
    if kernel is None:
        return list(plainly_unpacked(entries, packed))
    found: list[Entry] = kernel.unpacked(entries, packed, _ACTIONS, SYNC)
    return found


def plainly_unpacked(entries: list[Entry], packed: bytes) -> Iterator[Entry]:
    """The twin of the compiled function."""
    passed = 0
    read = _Numbers(packed)
    while read.at < len(packed):
        code = read.byte()
        if code == 0:
            until = read.number()
            yield from entries[passed:until]
            passed = until
        elif code < _FIRST_ACTION:
            kind, value = divmod(code, _ENTRIES)
            head = (kind, read.number(), read.number())
            yield (*head, read.value(value)) if value else head
        else:
            action, details = divmod(code - _FIRST_ACTION, 3)
            head = (SYNC, read.number(), read.number())
            thing, *rest = [read.signed() for _ in range(1 + details)]
            detail = tuple(rest) if details == 2 else rest[0] if rest else None
            yield (*head, _ACTIONS[action], thing, detail, 0.0)
    yield from entries[passed:]


class _Numbers:
    """Reads a text of records from its beginning."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self.at = 0

    def byte(self) -> int:
        self.at += 1
        return self._packed[self.at - 1]

    def number(self) -> int:
        found = shift = 0
        while (byte := self.byte()) > 127:
            found |= (byte & 127) << shift
            shift += 7
        return found | byte << shift

    def signed(self) -> int:
        found = self.number()
        return ~(found >> 1) if found & 1 else found >> 1

    def value(self, what: int) -> Any:
        if what == _INTEGER:
            return self.signed()
        if what == _FLOAT:
            self.at += 8
            return _REAL.unpack_from(self._packed, self.at - 8)[0]
        return _SINGLE[what]
