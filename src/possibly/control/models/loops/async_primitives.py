"""`asyncio`'s Lock, Semaphore, Event, Condition and Queue: their own code, with every use of them told."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple
from weakref import ref

from possibly.control.attached import Attached
from possibly.control.models.loops.coroutines import AsyncTask, name_of, touch
from possibly.control.models.loops.turns import (
    awaited_group,
    awaited_primitive,
    caller_of_use,
    tell_use,
    told_names,
)
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


_holders: Attached[tuple[Holder, ...]] = Attached()
"""Who has a lock or units of a semaphore: those of asyncio do not know it themselves."""
_words: Attached[bool] = Attached()
"""Semaphores of which somebody gave a unit back who had none: their units are words, and nobody's."""
_WAITS = {
    "acquire": "acquire", "__aenter__": "acquire", "get": "get", "put": "put", "wait": "wake",
    "send": "send", "receive": "receive", "__anext__": "receive",
}  # fmt: skip
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


def take(primitive: Any, place: str) -> None:
    """The running turn has a lock, or one more unit of a semaphore."""
    kernel = running.kernel
    if kernel is not None:
        _holders[primitive] = (*(_holders.get(primitive) or ()), Holder(kernel.current.name, place))


def give_back(primitive: Any, is_unit: bool) -> None:
    kernel = running.kernel
    held = _holders.get(primitive) or ()
    if kernel is None or not is_unit:
        _holders.drop(primitive)
        return
    mine = [number for number, each in enumerate(held) if each.task == kernel.current.name]
    if not mine:
        _words[primitive] = True
    else:
        _holders[primitive] = (*held[: mine[0]], *held[mine[0] + 1 :])


def _holders_of(primitive: Any) -> tuple[Holder, ...]:
    return () if primitive in _words else _holders.get(primitive) or ()


def _label_of(primitive: Any) -> str:
    return told_names.get(primitive) or name_of(primitive)


def why_blocked(owner: Any) -> dict[str, Any]:
    """For what a task waits that nobody wakes, as `endings.deadlock` tells it."""
    mine = name_of(owner)
    held = ((thing, each) for thing, _ in _holders.items() for each in _holders_of(thing))
    told: dict[str, Any] = {
        "holds": [(_label_of(thing), each.at) for thing, each in held if each.task == mine]
    }
    found = awaited_primitive(owner.get_coro())
    if found is None:
        return told | _why_among_tasks(owner)
    primitive, method = found
    if isinstance(primitive, asyncio.Condition) and _WAITS.get(method) == "acquire":
        primitive = primitive._lock  # type: ignore[attr-defined]
    does = "take" if is_counted(primitive) else _WAITS.get(method, "await")
    holders = _holders_of(primitive)
    told |= {
        "thing": _label_of(primitive),
        "does": does,
        "for": [*dict.fromkeys(each.task for each in holders)],
    }
    return told | ({"since": holders[0].at} if len(holders) == 1 and does == "acquire" else {})


def is_counted(primitive: Any) -> bool:
    """Whether several may have units of it."""
    return isinstance(primitive, asyncio.Semaphore) or type(primitive).__name__ in COUNTED


COUNTED = ("Semaphore", "CapacityLimiter")
"""The same of anyio, by their names."""


def _why_among_tasks(owner: Any) -> dict[str, Any]:
    """A task that waits for others, of which a group knows more than the future that it waits for."""
    group = awaited_group(owner.get_coro())
    if group:
        names = [name_of(each) for each in group]
        return {"for": names, "does": "join", "called": " and ".join(map(_task_label, names))}
    return {"for": _tasks_behind(getattr(owner, "_fut_waiter", None))}


def _task_label(name: str) -> str:
    kernel = running.kernel
    tasks = () if kernel is None else kernel.all
    return next((each.label for each in tasks if each.name == name), name)


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
            if plain.__name__ == "acquire" and isinstance(self, asyncio.Lock | asyncio.Semaphore):
                take(self, place)
            tell_use(plain.__name__, name_of(self), place, result if plain.__name__ == "get" else given[:1])
            return result

        coroutine.__name__, coroutine.__qualname__ = plain.__name__, plain.__qualname__
        return coroutine

    def method(self: Any, *given: Any, **options: Any) -> Any:
        touch(self, writes)
        place = "" if plain.__name__ in _INNER else caller_of_use()
        result = plain(self, *given, **options)
        if plain.__name__ == "release":
            give_back(self, is_counted(self))
        tell_use(
            plain.__name__, name_of(self), place, given[:1] if plain.__name__ == "put_nowait" else result
        )
        return result

    method.__name__ = plain.__name__
    return method
