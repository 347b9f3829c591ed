"""Frames are read whole: their variables, and what lies on their stacks."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any

import pytest

from possibly.control.joining import frames
from possibly.control.joining.frames import EMPTY, READS, depths


def codes(code: CodeType) -> list[CodeType]:
    return [code, *(inner for each in code.co_consts if isinstance(each, CodeType) for inner in codes(each))]


@pytest.mark.skipif(not READS, reason="frames of this interpreter cannot be read")
@pytest.mark.parametrize("module", [threading, frames])
def test_every_instruction_has_one_depth(module: Any) -> None:
    with open(module.__file__) as source:
        for code in codes(compile(source.read(), module.__file__, "exec")):
            found = depths(code)
            assert found.offsets and max(found.depths) <= code.co_stacksize


def looked(frame: FrameType) -> tuple[Any, ...]:
    found = depths(frame.f_code)
    number = max(n for n, offset in enumerate(found.offsets) if offset <= frame.f_lasti)
    values: tuple[Any, ...] = frames._slots.slots(frame, found.depths[number])
    return values


@pytest.mark.skipif(not READS, reason="frames of this interpreter cannot be read")
def test_the_stack_is_read() -> None:
    mark = object()

    def inner(first: Any, second: Any) -> Any:
        return looked(sys._getframe(1))

    def outer() -> Any:
        for _ in iter([7, 8]):
            return mark, inner(3, 4)
        return None

    values = outer()[1]
    assert mark in values
    assert any(type(value) is type(iter([])) and value.__reduce__()[2] == 1 for value in values)
    assert 3 not in values  # the function that was called has its arguments


@pytest.mark.skipif(not READS, reason="frames of this interpreter cannot be read")
def test_variables_without_a_value_are_empty() -> None:
    def outer(given: int) -> Any:
        found = looked(sys._getframe())
        later = given
        return found, later

    values = outer(5)[0]
    assert values[0] == 5 and values[2] is EMPTY
