"""What turns of `trio` touch: its events, locks, channels, limits, nurseries and cancel scopes.

Every use of one writes it, but for those that only look. A coroutine tells again when it goes on. A turn
reads the scopes that its task is in: a cancellation arrives at a task that waits, or at its next checkpoint.
A thing has its name from the task that makes it, whoever uses it first. For what a task waits is read from
the coroutines that it is in: the first that is a method of such a thing.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import label, name_for
from possibly.control.models.loops.turns import awaited_in, caller_of_use, tell_use
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Task
from possibly.probes.patching import Patches

NESTED = "_nested_child_finished"
"""Of a nursery: its task waits for the end of the others."""
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
    "Nursery": ("trio._core._run", ("start_soon", "start", "_child_finished", NESTED)),
    "CancelScope": ("trio._core._run", ("_cancel", "cancel")),
}  # fmt: skip
"""Class -> its module, and the methods that use what it stands for."""
PROPERTIES = {
    "CancelScope": ("cancel_called", "cancelled_caught", "deadline"),
    "CapacityLimiter": ("borrowed_tokens", "available_tokens", "total_tokens"),
    "Semaphore": ("value",),
}
KINDS = {"MemoryChannelState": "channel", "StrictFIFOLock": "lock"}
"""What users call what a class of another name makes."""
_names: dict[int, tuple[Any, str]] = {}
"""Number -> the thing, which is kept so that no other gets its number, and its name."""
_taken_at: dict[int, str] = {}
"""Number of a lock that was taken -> the line that took it last."""


def name_of(thing: Any) -> str:
    thing = getattr(thing, "_state", thing)
    found = _names.get(id(thing))
    if found is None:
        kind = KINDS.get(type(thing).__name__, type(thing).__name__.lower())
        found = _names[id(thing)] = thing, name_for(kind)
        label(found[1], kind, 3)
    return found[1]


def touch(thing: Any, writes: bool) -> None:
    kernel = running.kernel
    if kernel is not None and kernel.current.host is not None and kernel.in_step:
        kernel.add(Access(name_of(thing), writes))


def touch_scopes(task: Any) -> None:
    """The running turn looks whether it is cancelled."""
    status = task._cancel_status
    while status is not None:
        touch(status._scope, False)
        status = status._parent


# ---- nurseries ----------------------------------------------------------------------------------

_ends: dict[int, list[str]] = {}
"""Number of a nursery -> what the ends of its tasks wrote that have ended well."""


def end_of(mine: Task) -> str:
    """The thing that a task's end writes, which nobody reads but who waits for its nursery."""
    return f"{mine.name}.end"


def ended_well(nursery: Any, mine: Task) -> None:
    """A task of the nursery has come to its end: such ends may come in any order."""
    name_of(nursery)
    _ends.setdefault(id(nursery), []).append(end_of(mine))


def ends_awaited(task: Any) -> tuple[Access, ...]:
    """What a task that is at the end of a nursery has to wait for, so far."""
    found = _waits_in(task.coro)
    if found is None or found[1] != NESTED or _has_failed(found[0]):
        return ()
    return tuple(Access(each, False) for each in _ends.get(id(found[0]), ()))


def _has_failed(nursery: Any) -> bool:
    return bool(getattr(nursery, "_pending_excs", None))


def _changes_nursery(method: str, nursery: Any, given: tuple[Any, ...]) -> bool:
    """Whether a use of a nursery is more than that one of its tasks begins or ends well.

    Those come in any order to the same. Only whoever is not in the nursery may find it closed.
    """
    if _has_failed(nursery) or nursery.cancel_scope.cancel_called:
        return True
    if method == "_child_finished":
        return getattr(given[1], "error", None) is not None
    if method == NESTED:
        return given[0] is not None
    return method != "start_soon" or not _is_in(nursery, sys.modules["trio"].lowlevel.current_task())


def _is_in(nursery: Any, task: Any) -> bool:
    """Whether the nursery waits for the task, so that it is open as long as that runs."""
    if task is nursery.parent_task:
        return True
    while task.parent_nursery is not None:
        if task.parent_nursery is nursery:
            return True
        task = task.parent_nursery.parent_task
    return False


def _told(plain: Any, writes: bool, changes: Any = None) -> Any:
    def touch_now(thing: Any, given: tuple[Any, ...]) -> None:
        touch(thing, writes if changes is None else changes(plain.__name__, thing, given))

    if inspect.iscoroutinefunction(plain):

        async def coroutine(self: Any, *given: Any, **options: Any) -> Any:
            touch_now(self, given)
            place = caller_of_use()
            try:
                result = await plain(self, *given, **options)
            finally:
                touch_now(self, given)
            _tell(plain.__name__, self, place, result if plain.__name__ == "receive" else given[:1])
            return result

        coroutine.__name__, coroutine.__qualname__ = plain.__name__, plain.__qualname__
        return coroutine

    def method(self: Any, *given: Any, **options: Any) -> Any:
        touch_now(self, given)
        place = caller_of_use()
        result = plain(self, *given, **options)
        _tell(plain.__name__, self, place, given[:1] if plain.__name__ == "send_nowait" else result)
        return result

    return method


def _tell(method: str, thing: Any, place: str, value: Any) -> None:
    """The running turn has used a thing of trio."""
    if place and not method.startswith("_"):
        if method.startswith("acquire"):
            _taken_at[id(thing)] = place
        tell_use(method, name_of(thing), place, value)


def _property(plain: property) -> property:
    assert plain.fget is not None
    setter = _told(plain.fset, True) if plain.fset is not None else None
    return property(_told(plain.fget, False), setter)


# ---- who waits for what -------------------------------------------------------------------------

_WAITS = {"acquire": "acquire", "receive": "receive", "send": "send", "wait": "wake"}
"""How threads wait that do the same."""


def awaited(task: Any, known: dict[Any, Task]) -> dict[str, Any]:
    """What a task waits for, as a moment of its turn tells it."""
    found = _waits_in(task.coro)
    if found is None:
        return awaited_in(task.coro)
    thing, method = found
    if method == NESTED:
        return {"thing": "", "things": [each.name for each in _children(thing, known)]}
    return {"thing": name_of(thing), "method": method}


def _children(nursery: Any, known: dict[Any, Task]) -> list[Task]:
    return sorted((known[each] for each in nursery._children if each in known), key=lambda each: each.name)


def _waits_in(coroutine: Any) -> tuple[Any, str] | None:
    """The first thing of trio of which a coroutine is in a method that uses it."""
    kinds = _kinds()
    while coroutine is not None:
        frame: Any = getattr(coroutine, "cr_frame", None)
        thing = frame.f_locals.get("self") if frame is not None else None
        if type(thing) in kinds and frame.f_code.co_filename == _told.__code__.co_filename:
            return thing, coroutine.__name__
        coroutine = getattr(coroutine, "cr_await", None)
    return None


def _kinds() -> set[type]:
    found = (getattr(sys.modules[module], kind, None) for kind, (module, _) in USED.items())
    return {each for kind in found if kind is not None for each in (kind, *kind.__subclasses__())}


def why_blocked(task: Any, known: dict[Any, Task]) -> dict[str, Any]:
    """For what a task waits that nobody wakes, as `endings.deadlock` tells it."""
    if task.coro.__qualname__ in KEEPING_HOUSE:
        return {"keeps_house": True}
    told: dict[str, Any] = {
        "holds": [(name_of(lock), _taken_at.get(id(lock), "")) for lock in _held_by(task)]
    }
    found = _waits_in(task.coro)
    if found is None:
        return told
    thing, method = found
    if method == NESTED:
        children = _children(thing, known)
        names = " and ".join(each.label for each in children)
        return told | {"does": "join", "called": names, "for": [each.name for each in children]}
    thing = getattr(thing, "_lock", thing) if method == "acquire" else thing  # that of a condition
    owner = known.get(getattr(thing, "_owner", None))
    is_unit = type(thing).__name__ in ("Semaphore", "CapacityLimiter")
    told |= {"thing": name_of(thing), "does": "take" if is_unit else _WAITS.get(method, "await")}
    return told | ({} if owner is None else {"for": [owner.name], "since": _taken_at.get(id(thing), "")})


KEEPING_HOUSE = frozenset({"Runner.init", "EntryQueue.task"})
"""Tasks of trio's own, which wait as long as the program runs."""


def _held_by(task: Any) -> list[Any]:
    return [thing for thing, _ in _names.values() if getattr(thing, "_owner", None) is task]


def _named(plain: Any) -> Any:
    def __init__(self: Any, *given: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *given, **options)
        if running.kernel is not None:
            name_of(self)

    return __init__


def install(patches: Patches) -> None:
    for kind, (module, methods) in USED.items():
        owner: Any = getattr(sys.modules[module], kind, None)
        if (
            owner is not None and "__init__" in vars(owner) and kind != "CancelScope"
        ):  # of which every sleep makes one
            patches.put(owner, "__init__", _named(owner.__init__))
        for name in methods:
            if hasattr(owner, name):
                changes = _changes_nursery if kind == "Nursery" else None
                patches.put(owner, name, _told(getattr(owner, name), name not in LOOKING, changes))
        for name in PROPERTIES.get(kind, ()):
            if isinstance(getattr(owner, name, None), property):
                patches.put(owner, name, _property(getattr(owner, name)))
    nursery: Any = sys.modules["trio._core._run"].Nursery
    # Who looks at the tasks sees their ends, which only read the nursery.
    patches.put(nursery, "child_tasks", property(_told(nursery.child_tasks.fget, True)))
