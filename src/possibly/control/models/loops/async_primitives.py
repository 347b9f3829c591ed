"""`asyncio`'s Lock, Semaphore, Event, Condition and Queue: their own code, with every use of them told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import ref

from possibly.control.attached import Attached
from possibly.control.models.loops.coroutines import AsyncTask, name_of, touch
from possibly.control.models.loops.turns import awaited_primitive, caller_of_use, tell_use
from possibly.control.runtime import kernel as running
from possibly.probes.patching import Patches


def install(patches: Patches) -> None:
    for kind in ("Lock", "Semaphore", "Event", "Condition", "Queue", "StreamReader"):
        patches.put(getattr(asyncio, kind), "__init__", _named(getattr(asyncio, kind).__init__))
    for kind, methods in _PRIMITIVES.items():
        for name, writes in methods.items():
            patches.put(getattr(asyncio, kind), name, _seen(getattr(getattr(asyncio, kind), name), writes))


_PRIMITIVES: dict[str, dict[str, bool]] = {
    "Lock": {"acquire": True, "release": True, "locked": False},
    "Semaphore": {"acquire": True, "release": True, "locked": False},
    "BoundedSemaphore": {"release": True},
    "Event": {"set": True, "clear": True, "is_set": False, "wait": False},
    "Condition": {"wait": True, "notify": True},
    "Queue": {
        "put_nowait": True, "get_nowait": True, "put": True, "get": True, "qsize": False, "empty": False,
        "full": False, "task_done": True, "join": False,
    },
    "StreamReader": {
        "read": True, "readline": True, "readexactly": True, "readuntil": True, "at_eof": False,
        "feed_data": True, "feed_eof": True, "set_exception": True, "exception": False,
    },
}  # fmt: skip


class Holder(NamedTuple):
    """Who has a lock, and since which line."""

    task: str
    at: str


_holders: Attached[Holder] = Attached()
"""Of the locks that are taken: a lock of asyncio does not know it itself."""
_units: Attached[tuple[Holder, ...]] = Attached()
"""The same of units of semaphores."""
_words: Attached[bool] = Attached()
"""Semaphores of which somebody gave a unit back who had none: their units are words, and nobody's."""
_WAITS = {"acquire": "acquire", "__aenter__": "acquire", "get": "get", "put": "put", "wait": "wake"}
"""How threads wait that do the same."""


_conditions: Attached[ref[Any]] = Attached()
"""Of locks that conditions have: a weak reference to the condition, by whose name a lock without one goes."""


def _call_after_condition(lock: Any) -> None:
    """The lock of `Jobs#1.changed` is called so, as soon as the condition has that name."""
    kernel, condition = running.kernel, _conditions[lock]()
    if kernel is None or condition is None:
        return
    name, label = name_of(lock), kernel.labels.get(name_of(condition), "the ")
    if kernel.labels.get(name, "the ").startswith("the ") and not label.startswith("the "):
        kernel.labels[name] = label


def _hold(primitive: Any, method: str, place: str) -> None:
    kernel = running.kernel
    if method == "acquire" and isinstance(primitive, asyncio.Lock) and kernel is not None:
        _holders[primitive] = Holder(kernel.current.name, place)
    elif method == "acquire" and isinstance(primitive, asyncio.Semaphore) and kernel is not None:
        _units[primitive] = (*(_units.get(primitive) or ()), Holder(kernel.current.name, place))


def _give_back(primitive: Any) -> None:
    _holders.drop(primitive)
    kernel = running.kernel
    if kernel is None or not isinstance(primitive, asyncio.Semaphore):
        return
    held = list(_units.get(primitive) or ())
    mine = next((each for each in held if each.task == kernel.current.name), None)
    if mine is None:
        _words[primitive] = True
    else:
        held.remove(mine)
        _units[primitive] = tuple(held)


def _units_of(primitive: Any) -> tuple[Holder, ...]:
    return () if primitive in _words else _units.get(primitive) or ()


def _held() -> Iterator[tuple[Any, Holder]]:
    """Locks and units that are taken, each with who has it."""
    yield from _holders.items()
    yield from ((thing, unit) for thing, _ in _units.items() for unit in _units_of(thing))


def why_blocked(owner: Any) -> dict[str, Any]:
    """For what a task waits that nobody wakes, as `endings.deadlock` tells it."""
    mine = name_of(owner)
    told: dict[str, Any] = {
        "holds": [
            *((name_of(lock), holder.at) for lock, holder in _holders.items() if holder.task == mine),
            *(
                (name_of(each), unit.at)
                for each, _ in _units.items()
                for unit in _units_of(each)
                if unit.task == mine
            ),
        ]
    }
    found = awaited_primitive(owner.get_coro())
    if found is None:
        return told | {"for": _tasks_behind(getattr(owner, "_fut_waiter", None))}
    primitive, method = found
    if isinstance(primitive, asyncio.Condition) and _WAITS.get(method) == "acquire":
        primitive = primitive._lock  # type: ignore[attr-defined]
    holder = _holders.get(primitive)
    is_unit = isinstance(primitive, asyncio.Semaphore)
    told |= {"thing": name_of(primitive), "does": "take" if is_unit else _WAITS.get(method, "await")}
    if is_unit:
        return told | {"for": list(dict.fromkeys(each.task for each in _units_of(primitive)))}
    return told | ({} if holder is None else {"for": [holder.task], "since": holder.at})


def _tasks_behind(waiter: Any) -> list[str]:
    """The tasks whose end a future waits for, itself or those that it gathers."""
    if isinstance(waiter, AsyncTask):
        return [name_of(waiter)]
    return [name for each in getattr(waiter, "_children", None) or () for name in _tasks_behind(each)]


_INNER = frozenset({"feed_data", "feed_eof", "set_exception"})
"""What transports call, not programs."""


def _named(plain: Any) -> Any:
    """A primitive has its name from the task that makes it, whoever uses it first."""

    def __init__(self: Any, *given: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *given, **options)
        if running.kernel is not None:
            name_of(self)
        if isinstance(self, asyncio.Condition):
            _conditions[self._lock] = ref(self)  # type: ignore[attr-defined]

    return __init__


def _seen(plain: Any, writes: bool) -> Any:
    """The method, with its use of the primitive told; a coroutine tells again when it goes on."""
    if asyncio.iscoroutinefunction(plain):

        async def coroutine(self: Any, *given: Any, **options: Any) -> Any:
            touch(self, writes)
            place = caller_of_use()
            if self in _conditions:
                _call_after_condition(self)
            try:
                result = await plain(self, *given, **options)
            finally:
                touch(self, writes)
            _hold(self, plain.__name__, place)
            tell_use(plain.__name__, name_of(self), place, result if plain.__name__ == "get" else given[:1])
            return result

        coroutine.__name__, coroutine.__qualname__ = plain.__name__, plain.__qualname__
        return coroutine

    def method(self: Any, *given: Any, **options: Any) -> Any:
        touch(self, writes)
        place = "" if plain.__name__ in _INNER else caller_of_use()
        result = plain(self, *given, **options)
        if plain.__name__ == "release":
            _give_back(self)
        tell_use(
            plain.__name__, name_of(self), place, given[:1] if plain.__name__ == "put_nowait" else result
        )
        return result

    method.__name__ = plain.__name__
    return method
