"""What a thing says of itself: its name, its module, its code, its owner.

The code of its class is not asked: a proxy answers every question with something of its own, however often
(`xmlrpc.client`, mocks, objects that are made when they are needed).
"""

from __future__ import annotations

from types import MethodType
from typing import Any

_LONGEST = 20
"""So many partials around a function are taken off."""


def stated(thing: Any, name: str) -> Any:
    """An attribute that the thing or its class has; None if only its `__getattr__` would make one."""
    try:
        return object.__getattribute__(thing, name)
    except AttributeError:
        return stated(thing.__func__, name) if type(thing) is MethodType else None


def stated_text(thing: Any, name: str) -> str:
    """The same, of an attribute that is a text; empty if it is none."""
    found = stated(thing, name)
    return found if isinstance(found, str) else ""


def plain_function(function: Any) -> Any:
    """A function without the partials that it is wrapped in, and without the object that it is bound to."""
    for _ in range(_LONGEST):
        inner = stated(function, "func")
        if inner is None:
            break
        function = inner
    return stated(function, "__func__") or function
