"""`asyncio`: which tasks wait within a limit of time, so that they are called off when it is over."""

from __future__ import annotations

import asyncio
import weakref
from typing import Any

from possibly.probes.patching import Patches

_limited: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
"""Tasks -> how many limits they are within."""


def limit(task: Any, change: int = 1) -> None:
    _limited[task] = _limited.get(task, 0) + change


def is_limited() -> bool:
    """Whether the task that runs now is called off some time."""
    task = asyncio.current_task()
    return task is not None and _limited.get(task, 0) > 0


def install(patches: Patches) -> None:
    """`asyncio.timeout` and its kin."""
    kind: Any = asyncio.timeouts.Timeout
    enter, leave = kind.__aenter__, kind.__aexit__

    async def __aenter__(self: Any) -> Any:  # noqa: N807
        found = await enter(self)
        limit(asyncio.current_task())
        return found

    async def __aexit__(self: Any, *error: Any) -> Any:  # noqa: N807
        limit(asyncio.current_task(), -1)
        return await leave(self, *error)

    patches.put(kind, "__aenter__", __aenter__)
    patches.put(kind, "__aexit__", __aexit__)
