"""Objects that stand for others: an attribute of such a one is an attribute of what it stands for."""

from __future__ import annotations

import types
import weakref
from functools import partial
from typing import Any

from possibly.control.runtime.things import class_has, is_own
from possibly.control.runtime.touched.members import space_of
from possibly.control.runtime.variables import BEHAVIOUR


def behind(proxy: Any) -> Any:
    """What a weak proxy stands for; the proxy itself, if that is gone."""
    try:
        return proxy.__sizeof__.__self__
    except (ReferenceError, AttributeError):
        return proxy


def meant(value: Any, name: str, method: str) -> Any:
    """The object whose attribute this is: another one, if the value is a proxy."""
    cls = type(value)
    if cls in weakref.ProxyTypes:
        return behind(value)
    if wraps(cls):
        is_own_part = name.startswith("_self_") or member(cls, name) is not None
        return value if is_own_part else wrapped(value)
    found = _proxies.get((cls, method))
    if found is None:
        held = member(cls, method)
        found = _proxies[cls, method] = held if held is not None and is_made_by_code(held) else False
    if found is False or (method == "__getattr__" and member(cls, name) is not None):
        return value
    try:
        kind: Any = type(found)
        handed = kind.__get__(found, value, cls)
    except Exception:  # noqa: BLE001 - there is nothing behind it, as the program is told in a moment
        return value
    return handed.args[0] if type(handed) is partial and handed.func in _HANDING and handed.args else value


def wraps(cls: type) -> bool:
    """Whether objects of the class hand attributes on, in C, to what they wrap (wrapt); none that makes that
    only then."""
    found = _wrapping.get(cls)
    if found is None:
        stores, holds = member(cls, "__setattr__"), member(cls, "__wrapped__")
        in_c = type(stores) is types.WrapperDescriptorType and stores.__objclass__ is not object
        is_there = type(holds) is types.GetSetDescriptorType and not class_has(cls, "__factory__")
        found = _wrapping[cls] = in_c and is_there
    return found


_wrapping: dict[type, bool] = {}


def wrapped(value: Any) -> Any:
    try:
        return member(type(value), "__wrapped__").__get__(value)
    except ValueError:  # nothing yet
        return value


_HANDING = (getattr, setattr, delattr)
_proxies: dict[tuple[type, str], Any] = {}
"""Of classes, the descriptor that makes such a method, or False."""


def member(cls: type, name: str) -> Any:
    return next((space_of(base)[name] for base in cls.__mro__ if name in space_of(base)), None)


def is_made_by_code(held: Any) -> bool:
    """Whether it is code of the program that makes the method: a proxy hands it on to another object."""
    return type(held) not in BEHAVIOUR and is_own(member(type(held), "__get__"))
