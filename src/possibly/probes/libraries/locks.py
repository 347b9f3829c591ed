"""Locks and their kin of `trio` and `anyio`: they tell of themselves as those of `asyncio` do.

Who gets a lock that another task gives back could have got it earlier: so being woken by that is no cause.
"""

from __future__ import annotations

import weakref
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches

_numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_causes: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
"""Event or condition -> what set it."""
_taken: set[tuple[int, int]] = set()
"""Locks and processes that got them without waiting."""
_handing_over = 0


def is_handing_over() -> bool:
    """A lock is just given back, and goes to whoever waits for it."""
    return _handing_over > 0


def install(patches: Patches, lock: Any, semaphore: Any, limiter: Any) -> None:
    """The classes of a library: both have the same methods."""
    _told_lock(patches, lock, "Lock", ("acquire_nowait", "acquire", "release"))
    _told_lock(patches, semaphore, "Semaphore", ("acquire_nowait", "acquire", "release"))
    methods = "acquire_on_behalf_of_nowait", "acquire_on_behalf_of", "release_on_behalf_of"
    _told_lock(patches, limiter, "CapacityLimiter", methods)


def install_events(patches: Patches, event: Any, condition: Any) -> None:
    _told_event(patches, event)
    _told_condition(patches, condition)


def _number(primitive: Any, kind: str) -> int:
    found = _numbers.get(primitive)
    if found is None:
        found = _numbers[primitive] = port.number()
        port.after("new", found, kind)
        if kind != "Lock":
            port.after("units", found, _units(primitive))
    return found


def _units(primitive: Any) -> int:
    """How many could be taken now."""
    found = primitive.available_tokens if hasattr(primitive, "available_tokens") else primitive.value
    return int(min(found, 1 << 30))


def _told_lock(patches: Patches, kind: Any, name: str, methods: tuple[str, str, str]) -> None:
    taken, given = ("acquire", "release") if name == "Lock" else ("take", "give")
    nowait, wait, release = (getattr(kind, method) for method in methods)

    def told_nowait(self: Any, *whom: Any) -> None:
        number = _number(self, name)
        nowait(self, *whom)
        _taken.add((number, port.me()))
        port.after(taken, number)

    async def told_wait(self: Any, *whom: Any) -> None:
        number, me = _number(self, name), port.me()
        _taken.discard((number, me))
        await wait(self, *whom)
        if (number, me) not in _taken:
            port.after(taken, number)

    def told_release(self: Any, *whom: Any) -> None:
        global _handing_over
        port.before(given, _number(self, name))
        _handing_over += 1
        try:
            release(self, *whom)
        finally:
            _handing_over -= 1

    for method, told in zip(methods, (told_nowait, told_wait, told_release), strict=True):
        patches.put(kind, method, told)


def _set(primitive: Any) -> None:
    cause = _causes[primitive] = port.number()
    port.after("set", cause, _numbers.setdefault(primitive, port.number()))


def _learn(primitive: Any) -> None:
    cause = _causes.get(primitive, 0)
    if cause:
        port.after("await", cause)


def _told_event(patches: Patches, kind: Any) -> None:
    plain_set, plain_is_set, plain_wait = kind.set, kind.is_set, kind.wait

    def told_set(self: Any) -> None:
        if not plain_is_set(self):
            _set(self)
        plain_set(self)

    def told_is_set(self: Any) -> bool:
        found: bool = plain_is_set(self)
        if found:
            _learn(self)
        return found

    async def told_wait(self: Any) -> None:
        await plain_wait(self)
        _learn(self)

    for name, told in (("set", told_set), ("is_set", told_is_set), ("wait", told_wait)):
        patches.put(kind, name, told)


def _told_condition(patches: Patches, kind: Any) -> None:
    wait = kind.wait

    async def told_wait(self: Any) -> None:
        await wait(self)
        _learn(self)

    patches.put(kind, "wait", told_wait)
    for name in ("notify", "notify_all"):
        patches.put(kind, name, _told_notify(getattr(kind, name)))


def _told_notify(plain: Any) -> Any:
    def notify(self: Any, *given: Any) -> None:
        _set(self)
        plain(self, *given)

    return notify
