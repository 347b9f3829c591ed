"""Methods of what is modelled that look at a part of it, or change one: `thread.ident`, `loop.is_closed()`.

Law: such a part is a place of the object like an attribute of the program's own objects: it becomes a choice
point where two tasks meet there. The tables say which parts a method reads and writes; what else it does is
the library's own code, or a step of the model. A part that the model itself steps at has no row here.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, NamedTuple

from possibly.control.runtime import memory as accesses
from possibly.control.runtime.places import place_of
from possibly.control.runtime.touched.members import member_part
from possibly.control.runtime.touched.parts import touch_all
from possibly.probes import port
from possibly.probes.patching import Patches


class Told(NamedTuple):
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


THREADS = {
    "getName": Told(reads=("name",)), "setName": Told(writes=("name",)),
    "isDaemon": Told(reads=("daemon",)), "setDaemon": Told(writes=("daemon",)),
}  # fmt: skip
POOLS = {"submit": Told(reads=("_shutdown",)), "shutdown": Told(writes=("_shutdown",))}
LOOPS = {
    "is_closed": Told(reads=("_closed",)),
    "get_debug": Told(reads=("_debug",)), "set_debug": Told(writes=("_debug",)),
    "get_task_factory": Told(reads=("_task_factory",)), "set_task_factory": Told(writes=("_task_factory",)),
    "get_exception_handler": Told(reads=("_exception_handler",)),
    "set_exception_handler": Told(writes=("_exception_handler",)),
    "set_default_executor": Told(writes=("_default_executor",)),
}  # fmt: skip
ENDS = {"close": Told(writes=("_closed",))}
"""Of loops: whatever kind of loop it is, its own method calls that of all loops."""


def install(patches: Patches) -> None:
    put(patches, threading.Thread, THREADS)


def put(patches: Patches, kind: Any, table: dict[str, Told], is_asked_within: bool = False) -> None:
    """Lets the methods of a class tell of the parts that they use.

    `is_asked_within`: the library itself calls them all the time, for nothing that a program could see.
    """
    for name, told in table.items():
        patches.put(kind, name, _telling(getattr(kind, name), told, is_asked_within))


def _telling(plain: Any, told: Told, is_asked_within: bool) -> Any:
    def method(self: Any, *given: Any, **options: Any) -> Any:
        if not is_asked_within or not _is_asked_by_library(sys._getframe(1).f_code.co_filename):
            touch_parts(self, told.reads, told.writes, 2)
        return plain(self, *given, **options)

    method.__name__, method.__qualname__ = plain.__name__, plain.__qualname__
    return method


def _is_asked_by_library(file: str) -> bool:
    return file.startswith(port._OWN) or port.is_library(file)


def touch_parts(value: Any, reads: tuple[str, ...], writes: tuple[str, ...] = (), depth: int = 1) -> None:
    """The running task uses parts of something modelled, in the line that the frame at `depth` is at."""
    now = accesses.active()
    if now is None or now[0].alone or now[0].quiet or now[0].ending:
        return
    at = place_of(sys._getframe(depth))
    for name in (*reads, *writes):  # one by one: what is touched at once and hidden is not logged
        part = member_part(value, name, now, name in writes, at)
        is_shown = now[1]._is_visible(now[0], part.family, part.thing)
        touch_all(now, [part], at if is_shown else "")  # what has no place is in no report
