"""The interpreter's garbage collector during an execution: it runs only where the program calls it.

By itself it would run after so many allocations, ours among them, so in the middle of whatever we do, and
elsewhere each time. Functions that the program gave it to call (`gc.callbacks`) would then run in any task,
at any allocation: where there are such, nothing is said about these moments.
"""

from __future__ import annotations

import gc

from possibly.control.forking.noted import Noted
from possibly.control.loading import packages
from possibly.control.runtime.places import shown

_of_others = tuple(map(id, gc.callbacks))
"""Those of whoever runs us: they were there before the program was loaded, or belong to what runs tests."""
HELPS = "explore with gc.callbacks empty, and what they do in a task of its own"


_disabled = gc.disable


def hold_back() -> None:
    """From now on; the program sees whether it would run without us."""
    _disabled()
    is_enabled = True

    def enable() -> None:
        nonlocal is_enabled
        is_enabled = True

    def disable() -> None:
        nonlocal is_enabled
        is_enabled = False

    def isenabled() -> bool:
        return is_enabled

    for each in (enable, disable, isenabled):
        each.__module__, each.__qualname__ = "gc", each.__name__
        setattr(gc, each.__name__, each)


def tell_of_callbacks(uncontrolled: Noted) -> None:
    """What the program wants to be called at moments that are not under control."""
    for each in gc.callbacks:
        code = getattr(each, "__code__", None)
        if code is None or id(each) in _of_others or packages.is_modelled(code.co_filename):
            continue
        what = f"{each.__qualname__}, which the garbage collector calls at any allocation (gc.callbacks)"
        uncontrolled[what] = HELPS
        uncontrolled.places[what] = f"{shown(code.co_filename) or code.co_filename}:{code.co_firstlineno}"
