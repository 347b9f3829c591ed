"""Footprints of operations that touch one thing.

Things have the same names in every execution, so what it means to touch one is made once in a process.
"""

from __future__ import annotations

from possibly.control.execution import Access

MOST = 20_000
"""So many are kept."""
_reading: dict[str, tuple[Access, ...]] = {}
_writing: dict[str, tuple[Access, ...]] = {}


def touching(thing: str, writes: bool) -> tuple[Access, ...]:
    made = _writing if writes else _reading
    found = made.get(thing)
    if found is None:
        if len(made) >= MOST:
            made.clear()
        found = made[thing] = (Access(thing, writes),)
    return found


def reading(thing: str) -> tuple[Access, ...]:
    return touching(thing, False)


def writing(thing: str) -> tuple[Access, ...]:
    return touching(thing, True)
