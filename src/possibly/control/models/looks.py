"""What is modelled, looked at from inside by the program: `semaphore._value`, `future._state`.

Law: an attribute of a model that is no method is a part of its state. Reading it reads the thing that the
model is, storing into it writes that. Attributes that the program itself has given it are places like others.
"""

from __future__ import annotations

import sys
from typing import Any

from possibly.control.models.primitives import Barrier, Quiet
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.things import class_has, dictionary_of, is_a

LOOPS = "possibly.control.models.loops.coroutines"


def look(value: Any, name: str, writes: bool) -> bool:
    """Tells of it, if it is such an attribute."""
    kernel = running.kernel
    thing = thing_of(value)
    if kernel is None or not thing or not _is_part(type(value), name):
        return False
    loops: Any = sys.modules.get(LOOPS)
    if loops is not None and loops.is_of_loops(value):
        loops.touch(value, writes)
    elif kernel.current.host is not None and not kernel.is_mixed:
        for each in touching(thing, writes):
            kernel.add(each)
    else:
        kernel.visible("look", thing, touching(thing, writes))
    return True


def _is_part(cls: type, name: str) -> bool:
    """Whether it is an attribute of the model itself, and neither a method nor one whose code tells of it."""
    held = getattr(cls, name, None)
    return not callable(held) and type(held) is not property and (name[:1] == "_" or class_has(cls, name))


def thing_of(value: Any) -> str:
    """The thing that a model is; empty: it is none, or nobody can tell in which order it is used."""
    if is_a(value, Barrier):
        value = value._cond._lock  # whoever comes or goes takes it
    if is_a(value, Quiet):
        return "" if value.quiet else str(value.name)
    if class_has(type(value), "possibly_name"):
        return str(value.possibly_name)
    return str((dictionary_of(value) or {}).get("_possibly_name", ""))
