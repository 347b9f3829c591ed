"""What turns of `trio` touch: its events, locks, channels, limits, nurseries and cancel scopes.

Every use of one writes it, but for those that only look. A coroutine tells again when it goes on. A turn
reads the scopes that its task is in: a cancellation arrives at a task that waits, or at its next checkpoint.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import label, name_for
from possibly.control.models.loops.turns import caller_of_use, tell_use
from possibly.control.runtime import kernel as running
from possibly.probes.patching import Patches

LOOKING = frozenset({"is_set", "locked", "statistics"})
USED: dict[str, tuple[str, tuple[str, ...]]] = {
    "Event": ("trio._sync", ("is_set", "set", "wait", "statistics")),
    "CapacityLimiter": (
        "trio._sync",
        (
            "acquire_nowait", "acquire_on_behalf_of_nowait", "acquire", "acquire_on_behalf_of", "release",
            "release_on_behalf_of", "statistics",
        ),
    ),
    "Semaphore": ("trio._sync", ("acquire_nowait", "acquire", "release", "statistics")),
    "_LockImpl": ("trio._sync", ("locked", "acquire_nowait", "acquire", "release", "statistics")),
    "Condition": ("trio._sync", ("acquire_nowait", "acquire", "release", "wait", "notify", "notify_all")),
    "MemorySendChannel": (
        "trio._channel", ("send_nowait", "send", "clone", "close", "aclose", "statistics"),
    ),
    "MemoryReceiveChannel": (
        "trio._channel", ("receive_nowait", "receive", "clone", "close", "aclose", "statistics"),
    ),
    "Nursery": ("trio._core._run", ("start_soon", "start", "_child_finished", "_nested_child_finished")),
    "CancelScope": ("trio._core._run", ("_cancel", "cancel")),
}  # fmt: skip
"""Class -> its module, and the methods that use what it stands for."""
PROPERTIES = {
    "CancelScope": ("cancel_called", "cancelled_caught", "deadline"),
    "CapacityLimiter": ("borrowed_tokens", "available_tokens", "total_tokens"),
    "Semaphore": ("value",),
    "Nursery": ("child_tasks",),
}
_names: dict[int, tuple[Any, str]] = {}
"""Number -> the thing, which is kept so that no other gets its number, and its name."""


def name_of(thing: Any) -> str:
    found = _names.get(id(thing))
    if found is None:
        kind = type(thing).__name__.lower()
        found = _names[id(thing)] = thing, name_for(kind)
        label(found[1], kind, 4)
    return found[1]


def touch(thing: Any, writes: bool) -> None:
    kernel = running.kernel
    if kernel is not None and kernel.current.host is not None and kernel.in_step:
        kernel.add(Access(name_of(getattr(thing, "_state", thing)), writes))


def touch_scopes(task: Any) -> None:
    """The running turn looks whether it is cancelled."""
    status = task._cancel_status
    while status is not None:
        touch(status._scope, False)
        status = status._parent


def _told(plain: Any, writes: bool) -> Any:
    if inspect.iscoroutinefunction(plain):

        async def coroutine(self: Any, *given: Any, **options: Any) -> Any:
            touch(self, writes)
            place = caller_of_use()
            try:
                result = await plain(self, *given, **options)
            finally:
                touch(self, writes)
            _tell(plain.__name__, self, place, result if plain.__name__ == "receive" else given[:1])
            return result

        coroutine.__name__ = plain.__name__
        return coroutine

    def method(self: Any, *given: Any, **options: Any) -> Any:
        touch(self, writes)
        place = caller_of_use()
        result = plain(self, *given, **options)
        _tell(plain.__name__, self, place, given[:1] if plain.__name__ == "send_nowait" else result)
        return result

    return method


def _tell(method: str, thing: Any, place: str, value: Any) -> None:
    """The running turn has used a thing of trio."""
    if place and not method.startswith("_"):
        tell_use(method, name_of(getattr(thing, "_state", thing)), place, value)


def _property(plain: property) -> property:
    assert plain.fget is not None
    setter = _told(plain.fset, True) if plain.fset is not None else None
    return property(_told(plain.fget, False), setter)


def install(patches: Patches) -> None:
    for kind, (module, methods) in USED.items():
        owner: Any = getattr(sys.modules[module], kind, None)
        for name in methods:
            if hasattr(owner, name):
                patches.put(owner, name, _told(getattr(owner, name), name not in LOOKING))
        for name in PROPERTIES.get(kind, ()):
            if isinstance(getattr(owner, name, None), property):
                patches.put(owner, name, _property(getattr(owner, name)))
