"""What a function is to us, by what it is and not by what it shows."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, MethodType
from typing import Any

from possibly.control.runtime.things import is_own


def own() -> None:
    pass


class Compiled:
    """As compilers of Python make functions: in C, with code to show in tracebacks that is never executed."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.__code__: CodeType = function.__code__

    def __call__(self, *given: Any) -> None:
        pass


def test_code_that_is_only_shown_makes_no_function_of_the_program() -> None:
    assert is_own(own)
    assert is_own(MethodType(own, 1))
    assert not is_own(Compiled(own))
    assert not is_own(MethodType(Compiled(own), 1))
    assert not is_own(len)
