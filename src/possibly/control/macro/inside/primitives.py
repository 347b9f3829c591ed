"""Ways in which processes wait for each other or share data other than by messages: noted, not controlled.

They are left as they are. What they order is not known to the controller, so that a match which it offers
may be impossible, and one that it does not may be possible: with any of them no answer is complete. Those of
threads order nothing as long as there is one thread: they are noted when a second one begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from possibly.control.macro.inside import gate
from possibly.probes.patching import Patches

THREADING = ("Condition", "Semaphore", "Event", "Barrier")
ASYNCIO = ("Lock", "Event", "Condition", "Semaphore")
_made: dict[str, None] | None = {}
"""What was made while there was one thread; None: there are more."""


def started() -> None:
    """A second thread begins, whoever starts it."""
    global _made
    names, _made = _made, None
    for name in names or ():
        gate.told(name)


def _of_threads(name: str) -> None:
    if _made is None:
        gate.told(name)
    else:
        _made[name] = None
        gate.here().tell("may wait")


def install_threading(patches: Patches) -> None:
    import threading

    for name in ("Lock", "RLock"):
        plain = getattr(threading, name)
        patches.put(threading, name, _noted_factory(plain, f"threading.{name}", tell=_of_threads))
    for name in THREADING:
        _note(patches, getattr(threading, name), f"threading.{name}", tell=_of_threads)


def install_asyncio(patches: Patches) -> None:
    from asyncio import locks

    for name in ASYNCIO:
        _note(patches, getattr(locks, name), f"asyncio.{name}")


def install_synchronize(patches: Patches) -> None:
    from multiprocessing import synchronize

    for name in ("Lock", "RLock", "Semaphore", "Condition", "Event"):
        _note(patches, getattr(synchronize, name), f"multiprocessing.{name}", 3)


def install_shared(patches: Patches) -> None:
    from multiprocessing import sharedctypes

    for name in ("Value", "Array", "RawValue", "RawArray"):
        plain = getattr(sharedctypes, name)
        patches.put(sharedctypes, name, _noted_factory(plain, f"multiprocessing.{name}", 3))


def _noted_factory(plain: Any, name: str, depth: int = 2, tell: Callable[[str], None] = gate.told) -> Any:
    def made(*arguments: Any, **options: Any) -> Any:
        if not gate.by_library(depth):
            tell(name)
        return plain(*arguments, **options)

    return made


def _note(
    patches: Patches, kind: Any, name: str, depth: int = 2, tell: Callable[[str], None] = gate.told
) -> None:
    plain = kind.__init__

    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *arguments, **options)
        if not gate.by_library(depth):
            tell(name)

    patches.put(kind, "__init__", __init__)
