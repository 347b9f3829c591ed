"""Fixtures of a wider scope than a test: which of them an execution needs anew.

They are set up once, as always, in the process of pytest. Threads and event loops do not survive the fork
that an execution begins with, so a fixture that owns one, and whatever depends on it, is set up again in
each execution, and taken down at its end. So is one that has a pool, whose threads are still to come.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import weakref
from concurrent.futures import Executor
from typing import Any

OWNERS: weakref.WeakSet[Any] = weakref.WeakSet()
"""Fixture definitions that started a thread which lives."""


def threads_alive() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.is_alive()}


def wider(item: Any) -> list[str]:
    """The names of the test's fixtures that outlive it, those that others need first."""
    names = [name for name in getattr(item, "fixturenames", ()) if _definition(item, name) is not None]
    return [name for name in names if _definition(item, name).scope != "function"]


def forget_what_died(item: Any) -> None:
    """In an execution: fixtures whose threads and loops are gone are no longer set up."""
    dead: set[str] = set()
    names = wider(item)
    for _ in names:  # whatever depends on a dead one, however far
        dead |= {name for name in names if _is_dead(_definition(item, name), dead)}
    for name in dead:
        found = _definition(item, name)
        found.cached_result = None
        found._finalizers.clear()


def _is_dead(found: Any, dead: set[str]) -> bool:
    if found in OWNERS or dead.intersection(found.argnames):
        return True
    if inspect.iscoroutinefunction(found.func) or inspect.isasyncgenfunction(found.func):
        return True
    value = found.cached_result[0] if found.cached_result else None
    return any(isinstance(each, RUNNING) for each in (value, *_held(value)))


RUNNING = (asyncio.AbstractEventLoop, asyncio.Runner, Executor)
"""What has threads or a loop, or will have them: a pool starts its threads with its first job."""


def _held(value: Any) -> list[Any]:
    """What a value holds at once: items of a container, attributes of an object."""
    if isinstance(value, list | tuple | set):
        return list(value)
    held = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return list(held.values()) if isinstance(held, dict) else []


def _definition(item: Any, name: str) -> Any:
    definitions = item._fixtureinfo.name2fixturedefs.get(name)
    return definitions[-1] if definitions else None
