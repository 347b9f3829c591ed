"""What tasks do with anyio's own primitives on asyncio, in the user's words: "sends into", "takes".

Law: nothing is decided here. These primitives are ordinary Python that is watched as it is, so what their
methods touch orders the turns; a method that is called by the program only tells of itself as well. What one
of them does by another of its own belongs to how it works.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from typing import Any

from possibly.control.models.locks import label, name_for
from possibly.control.models.loops.async_primitives import give_back, is_counted, take
from possibly.control.models.loops.turns import tell_use, told_names
from possibly.control.runtime import kernel as running
from possibly.control.runtime.places import place_of
from possibly.probes.patching import Patches

STREAMS, BACKEND = "anyio.streams.memory", "anyio._backends._asyncio"
STATE = "_MemoryObjectStreamState"
"""What both ends of a stream share: it has the name."""
TOLD: dict[str, dict[str, tuple[str, ...]]] = {
    STREAMS: {
        "MemoryObjectSendStream": ("send", "send_nowait"),
        "MemoryObjectReceiveStream": ("receive", "receive_nowait"),
    },
    BACKEND: {
        "Lock": ("acquire", "acquire_nowait", "release"),
        "Semaphore": ("acquire", "acquire_nowait", "release"),
        "CapacityLimiter": ("acquire", "acquire_nowait", "release"),
    },
}
KINDS = {STATE: "stream", "Lock": "lock", "Semaphore": "semaphore", "CapacityLimiter": "limiter"}
TAKING = ("acquire", "acquire_nowait")
_METHODS = frozenset(name for classes in TOLD.values() for names in classes.values() for name in names)


def install(patches: Patches) -> None:
    """When anyio's streams have been imported, or what it is made of on asyncio."""
    for module, classes in TOLD.items():
        found = sys.modules.get(module)
        made = [STATE] if module == STREAMS else list(classes)
        for name in made if found is not None else ():
            _name_new(patches, getattr(found, name, None))
        for name, methods in classes.items() if found is not None else ():
            _tell_of(patches, getattr(found, name, None), methods)


def _name_new(patches: Patches, cls: Any) -> None:
    """A thing is called after the line that makes it, until its variable is known."""
    plain = None if cls is None else vars(cls).get("__init__")
    if plain is None or getattr(plain, "possibly_tells", False):
        return

    def __init__(self: Any, *given: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *given, **options)
        if running.kernel is not None and self not in told_names:  # anyio may call it twice
            kind = KINDS[cls.__name__]
            told_names[self] = name_for(kind)
            label(told_names[self], kind)

    __init__.possibly_tells = True  # type: ignore[attr-defined]
    patches.put(cls, "__init__", __init__)


def _tell_of(patches: Patches, cls: Any, methods: Iterable[str]) -> None:
    for name in methods:
        plain = None if cls is None else vars(cls).get(name)
        if plain is not None and not getattr(plain, "possibly_tells", False):
            patches.put(cls, name, _telling(plain))


def _telling(plain: Any) -> Any:
    method = plain.__name__
    if inspect.iscoroutinefunction(plain):

        async def coroutine(self: Any, *given: Any, **options: Any) -> Any:
            place = _place(self)
            result = await plain(self, *given, **options)
            _tell(method, self, place, result if method == "receive" else given[:1])
            return result

        return _like(plain, coroutine)

    def at_once(self: Any, *given: Any, **options: Any) -> Any:
        place = _place(self)
        result = plain(self, *given, **options)
        _tell(method, self, place, result if method == "receive_nowait" else given[:1])
        return result

    return _like(plain, at_once)


def _like(plain: Any, telling: Any) -> Any:
    telling.__name__, telling.__qualname__ = plain.__name__, plain.__qualname__
    telling.possibly_tells = True
    return telling


def _place(thing: Any) -> str:
    """The line of the program; nothing where another method of the thing does this."""
    if running.kernel is None:
        return ""
    frame: Any = sys._getframe(2)
    is_inner = frame.f_code.co_name in _METHODS and frame.f_locals.get("self") is thing
    return "" if is_inner else place_of(frame)


def _tell(method: str, thing: Any, place: str, value: Any) -> None:
    thing = getattr(thing, "_state", thing)
    name = told_names.get(thing)
    if not place or name is None:
        return
    tell_use(method, name, place, value)
    if method in TAKING:
        take(thing, place)
    elif method == "release":
        give_back(thing, is_counted(thing))
