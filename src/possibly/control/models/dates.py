"""`datetime`: now and today are those of the virtual clock.

The classes stay what they are. C code knows them by their address and relies on their layout, and libraries
ask with `issubclass` and build classes upon them, so neither a subclass nor a metaclass may take their place.
Only the few methods that look at the clock are exchanged, in the dictionary of the class itself.
"""

from __future__ import annotations

import ctypes
import datetime as library
import gc
import time
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.probes.patching import Patches


class _Dictionary:
    """The dictionary of a class that lets nobody set its attributes; setting one here sets it there."""

    def __init__(self, owner: type) -> None:
        (entries,) = (each for each in gc.get_referents(owner.__dict__) if type(each) is dict)
        object.__setattr__(self, "_owner", owner)
        object.__setattr__(self, "_entries", entries)

    def __getattr__(self, name: str) -> Any:
        return self._entries[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._entries[name] = value
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(self._owner))


def _now(plain: Any) -> Any:
    def now(cls: Any, tz: Any = None) -> Any:
        """Returns new datetime object representing the time of the virtual clock."""
        if running.kernel is None:
            return plain.__get__(None, cls)(tz)
        return cls.fromtimestamp(time.time(), tz)

    return now


def _utcnow(plain: Any) -> Any:
    def utcnow(cls: Any) -> Any:
        """Return a new datetime representing UTC day and time of the virtual clock."""
        if running.kernel is None:
            return plain.__get__(None, cls)()
        return cls.fromtimestamp(time.time(), library.UTC).replace(tzinfo=None)

    return utcnow


def install(patches: Patches) -> None:
    """`today` of both classes asks `time.time` and `now`, and needs nothing."""
    entries = _Dictionary(library.datetime)
    patches.put(entries, "now", classmethod(_now(entries.now)))
    patches.put(entries, "utcnow", classmethod(_utcnow(entries.utcnow)))
