"""Waiting for the world outside: whoever does so lets the others go on meanwhile.

What comes from outside comes when it comes, so the verdict stays open and the call is named. It is looked for
whenever somebody has to be chosen; if nobody else can go on, it is waited for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.runtime.places import place_of

WAITS = "something outside the program that is waited for"
LOOK = 0.05
LONGEST = 15.0
"""Seconds that are waited for the world outside when nobody can go on."""
_waiting: set[int] = set()
"""Tasks that wait for the world outside."""


def waited(kernel: Kernel, look: Callable[[float | None], Any], timeout: float | None) -> Any:
    """What `look` finds in so many seconds; it is called again and again if that is long."""
    task = kernel.current
    if task.host is not None or (timeout is not None and timeout <= 0) or kernel.quiet:
        return look(timeout)
    call = sys._getframe(2).f_code.co_name
    kernel.uncontrolled[f"{WAITS} ({call})"] = "explore with a stand-in that does the same each time"
    found: list[Any] = []

    def ready() -> bool:
        if not found:
            _try(found, look, 0.0)
        if not found and not _can_others_go(kernel, task):
            for _ in range(int(LONGEST / LOOK)):
                if _try(found, look, LOOK):
                    break
        return bool(found)

    if kernel.alone:
        return look(timeout)
    _waiting.add(task.index)
    try:
        is_there = kernel.visible("wait", "_:outside", (), place_of(sys._getframe(1)), ready, timeout)
    finally:
        _waiting.discard(task.index)
    return found[0] if is_there and found else look(0.0)


def _try(found: list[Any], look: Callable[[float | None], Any], seconds: float) -> bool:
    got = look(seconds)
    if any(got) if isinstance(got, tuple) else got:
        found.append(got)
    return bool(found)


def _can_others_go(kernel: Kernel, task: Task) -> bool:
    return any(
        each is not task
        and each.index not in _waiting
        and each.operation is not None
        and (each.ready is None or each.ready() or each.deadline is not None)
        for each in kernel.tasks
    )
