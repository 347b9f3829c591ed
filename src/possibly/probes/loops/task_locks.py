"""`asyncio`: Lock, Semaphore, Event, Condition, Barrier, Queue and its kin.

They tell of themselves as their namesakes in `threading` do: a primitive that is free orders too, although
nobody waits. A barrier is made of a condition, which tells.
"""

from __future__ import annotations

import asyncio
from typing import Any

from possibly.probes import port
from possibly.probes.loops import callbacks, limits
from possibly.probes.patching import Patches
from possibly.probes.queues import Messages, asked


def install(patches: Patches) -> None:
    _numbered(asyncio.Lock, "Lock", patches)
    _numbered(asyncio.Semaphore, "Semaphore", patches)
    _after(asyncio.Lock, "acquire", "acquire", patches)
    _before(asyncio.Lock, "release", "release", patches)
    patches.put(asyncio.Lock, "locked", _locked(asyncio.Lock.locked))
    _after(asyncio.Semaphore, "acquire", "take", patches)
    _before(asyncio.Semaphore, "release", "give", patches)
    patches.put(asyncio, "Event", Event)
    _told_queue(patches)
    _told_condition(patches)


def _numbered(kind: Any, name: str, patches: Patches) -> None:
    plain = kind.__init__

    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *arguments, **options)
        self.number = port.number()
        port.after("new", self.number, name)
        if name == "Semaphore":
            port.after("units", self.number, self._value)

    patches.put(kind, "__init__", __init__)


def _number_of(primitive: Any) -> int:
    """0 for one that was made before anybody listened."""
    found: int = getattr(primitive, "number", 0)
    return found


def _after(kind: Any, method: str, action: str, patches: Patches) -> None:
    """An asynchronous method that tells when it has succeeded."""
    plain = getattr(kind, method)

    async def told(self: Any, *arguments: Any) -> Any:
        number, turns = _number_of(self), callbacks.turns_here()
        found = await plain(self, *arguments)
        if number:
            port.after(action, number, _how(turns))
        return found

    told.__name__ = method
    patches.put(kind, method, told)


def _how(turns: int) -> str | None:
    """Whoever may be called off while he waits only tries; `turns`: how many there were before."""
    if limits.is_limited():
        return port.TRIED
    return port.WAITED if callbacks.turns_here() > turns else None


def _locked(plain: Any) -> Any:
    def locked(self: Any) -> bool:
        found: bool = plain(self)
        number = _number_of(self)
        if number and not found and not port.called_by_library():
            port.after("free", number)
        return found

    return locked


def _before(kind: Any, method: str, action: str, patches: Patches) -> None:
    plain = getattr(kind, method)

    def told(self: Any, *arguments: Any) -> Any:
        number = _number_of(self)
        if number:
            port.before(action, number)
        return plain(self, *arguments)

    told.__name__ = method
    patches.put(kind, method, told)


_PlainEvent: Any = asyncio.Event


class Event(_PlainEvent):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.number = port.number()
        self._cause = 0
        port.after("new", self.number, "Event")

    def set(self) -> None:
        if not super().is_set():
            self._cause = port.number()
            port.after("set", self._cause, self.number)
        super().set()

    def is_set(self) -> bool:
        found: bool = super().is_set()
        if found and not port.called_by_library():
            port.after("await", self._cause)
        return found

    async def wait(self) -> Any:
        if not super().is_set():
            await super().wait()
        port.after("await", self._cause)
        return True


def _told_queue(patches: Patches) -> None:
    kind: Any = asyncio.Queue
    init, put, get = kind.__init__, kind.put_nowait, kind.get_nowait
    task_done, join, is_full = kind.task_done, kind.join, kind.full

    def __init__(self: Any, maxsize: int = 0) -> None:  # noqa: N807
        init(self, maxsize)
        in_line = type(self)._get is asyncio.Queue._get
        self._possibly = Messages(maxsize, in_line)
        self._possibly_done = port.number()
        port.after("new", self._possibly.number, type(self).__name__)

    def put_nowait(self: Any, item: Any) -> None:
        if hasattr(self, "_possibly") and not is_full(self):
            self._possibly.sent(item)
        put(self, item)

    def get_nowait(self: Any) -> Any:
        item = get(self)
        if hasattr(self, "_possibly"):
            self._possibly.received(item)
        return item

    def told_task_done(self: Any) -> None:
        if hasattr(self, "_possibly") and self._unfinished_tasks > 0:
            port.before("leave", self._possibly_done)
        task_done(self)

    async def told_join(self: Any) -> None:
        await join(self)
        if hasattr(self, "_possibly"):
            port.after("passed", self._possibly_done)

    for name in ("qsize", "empty", "full"):
        patches.put(kind, name, asked(getattr(kind, name)))
    patches.put(kind, "__init__", __init__)
    patches.put(kind, "put_nowait", put_nowait)
    patches.put(kind, "get_nowait", get_nowait)
    patches.put(kind, "task_done", told_task_done)
    patches.put(kind, "join", told_join)


def _told_condition(patches: Patches) -> None:
    kind: Any = asyncio.Condition
    init, notify = kind.__init__, kind.notify

    def __init__(self: Any, lock: Any = None) -> None:  # noqa: N807
        init(self, lock)
        self.number = port.number()

    def told_notify(self: Any, n: int = 1) -> None:
        # Each waiter sleeps on a future of its own; who resolves it is told there.
        if _number_of(self):
            port.before("notify", self.number, [])
        notify(self, n)

    patches.put(kind, "__init__", __init__)
    patches.put(kind, "notify", told_notify)
