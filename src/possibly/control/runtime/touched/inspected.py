"""Functions and classes that a library looks into, as `inspect` does: what calls do not read of them."""

from __future__ import annotations

import types
from typing import Any

from possibly.control.runtime.footprints import reading
from possibly.control.runtime.memory import CELLS
from possibly.control.runtime.things import is_a
from possibly.control.runtime.touched.members import base_parts, is_fixed, member_part, shape_part, space_of
from possibly.control.runtime.touched.parts import Now, Part
from possibly.control.runtime.touched.suspended import is_resumed, standing_parts

LOOKING_INTO = frozenset({"inspect", "dis", "typing"})
"""Modules of which that is true."""
FUNCTION_FIELDS = (
    "__annotations__", "__code__", "__defaults__", "__dict__", "__doc__", "__kwdefaults__", "__name__",
    "__qualname__", "__wrapped__",
)  # fmt: skip


def inspected_parts(given: tuple[Any, ...], now: Now, at: str) -> list[Part]:
    if now[0].alone or now[0].quiet:
        return []
    return [part for each in given for part in _of_one(each, now, at)]


def inside(given: tuple[Any, ...]) -> list[Any]:
    """The containers in which functions keep what is asked for."""
    functions = [each for each in map(_function, given) if each is not None]
    found = [held for each in functions for held in (each.__kwdefaults__, each.__annotations__)]
    found += [space_of(each).get("__annotations__") for each in given if is_a(each, type)]
    return [each for each in found if each is not None]


def _function(value: Any) -> Any:
    plain = value.__func__ if type(value) is types.MethodType else value
    return plain if type(plain) is types.FunctionType else None


def _of_one(value: Any, now: Now, at: str) -> list[Part]:
    function = _function(value)
    if function is not None:
        return _of_function(function, now, at)
    if is_resumed(value):
        return standing_parts(now)
    if is_a(value, types.ModuleType) or type(value) in (types.CodeType, types.FrameType):
        return []
    cls = value if is_a(value, type) else type(value)
    classes = [each for each in cls.__mro__ if not is_fixed(each)]
    return [*base_parts(cls, now, at), *(part for each in classes for part in _of_class(each, now, at))]


def _of_function(function: Any, now: Now, at: str) -> list[Part]:
    parts = [member_part(function, name, now, False, at) for name in FUNCTION_FIELDS]
    if function.__closure__:
        now[1].write_rarely(now[0], CELLS)
        parts.append(Part(CELLS, CELLS, reading(CELLS)))
    return parts


def _of_class(cls: type, now: Now, at: str) -> list[Part]:
    names = [*space_of(cls), "__annotations__", "__doc__"]
    members = [member_part(cls, name, now, False, at) for name in dict.fromkeys(names)]
    return [shape_part(cls, now, False, at), *members]
