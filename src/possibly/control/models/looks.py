"""What is modelled, looked at from inside by the program: `semaphore._value`, `future._state`.

Law: an attribute of a model that is no method is a part of its state. Reading it reads the thing that the
model is, storing into it writes that. Attributes that the program itself has given it are places like others.
"""

from __future__ import annotations

import sys
from queue import Queue
from threading import Thread
from typing import Any

from possibly.control.models import queues, told
from possibly.control.models.primitives import Barrier, Quiet
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.things import class_has, dictionary_of, is_a
from possibly.probes import port

SHOWN = "__repr__"
"""Stands for all that the text of an object shows."""
LOOPS = "possibly.control.models.loops.coroutines"


def look(value: Any, name: str, writes: bool) -> bool:
    """Tells of it, if it is such an attribute."""
    kernel = running.kernel
    if is_a(value, Queue):
        return kernel is not None and _look_at_queue(value, name, writes, kernel)
    if name == SHOWN and is_a(value, Thread):
        told.touch_parts(value, ("name", "ident", "daemon"), depth=2)
        return True
    thing = thing_of(value)
    if kernel is None or not thing or not (name == SHOWN or _is_part(type(value), name)):
        return False
    if _is_of_loops(value):
        sys.modules[LOOPS].touch(value, writes)
    elif kernel.current.host is not None and not kernel.is_mixed:
        for each in touching(thing, writes):
            kernel.add(each)
    else:
        kernel.visible("look", thing, touching(thing, writes))
    return True


def _look_at_queue(value: Any, name: str, writes: bool, kernel: Kernel) -> bool:
    parts = queues.parts_of(value, name, writes)
    if parts:
        is_asked = name == "unfinished_tasks" and not writes
        kernel.visible("unfinished" if is_asked else "look", value._state.name, parts)
    return bool(parts)


def _is_part(cls: type, name: str) -> bool:
    """Whether it is an attribute of the model itself, and neither a method nor one whose code tells of it."""
    held = getattr(cls, name, None)
    if type(held) is property and _is_ours(held):
        return False
    return not callable(held) and (name[:1] == "_" or class_has(cls, name))


def _is_ours(held: property) -> bool:
    code = getattr(held.fget, "__code__", None)
    return code is not None and bool(code.co_filename.startswith(port._OWN))


def thing_of(value: Any) -> str:
    """The thing that a model is; empty: it is none, or nobody can tell in which order it is used."""
    if is_a(value, Barrier):
        value = value._cond._lock  # whoever comes or goes takes it
    if is_a(value, Quiet):
        return "" if value.quiet else str(value.name)
    if class_has(type(value), "possibly_name"):
        return str(value.possibly_name)
    if dictionary_of(value) is None and _is_of_loops(value):  # in C, which does not show its dictionary
        return str(getattr(value, "_possibly_name", ""))
    return str((dictionary_of(value) or {}).get("_possibly_name", ""))


def _is_of_loops(value: Any) -> bool:
    loops: Any = sys.modules.get(LOOPS)
    return loops is not None and bool(loops.is_of_loops(value))
