"""Footprints of operations: of those that touch one thing, and of those whose footprint others change.

Things have the same names in every execution, so what it means to touch one is made once in a process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from possibly.control.execution import Access, Operation

Looked = Callable[[], tuple[Access, ...]]
"""What an operation would touch if it were done now."""

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


def visible(
    kernel: Any, kind: str, thing: str, touched: Looked, ready: Any = None, timeout: Any = None
) -> bool:
    """The same as the kernel's, of an operation that touches what is there when it is done."""
    task = kernel.current

    def refresh() -> Operation:
        found: Operation = task.operation._replace(footprint=touched())
        return found

    is_done: bool = kernel.visible(kind, thing, touched(), None, ready, timeout, None, refresh)
    for access in touched():
        kernel.add(access)
    return is_done
