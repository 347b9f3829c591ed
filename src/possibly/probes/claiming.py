"""Claims and predicates that a program states about itself; free when nobody listens.

`claim` hands a formula to whoever judges claims; without a listener it does nothing but ask. `predicate`
notes a function of the whole system's state by its name, so that a formula can speak of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

heard: Callable[[str, FrameType], None] | None = None
"""Who judges claims; set while a program runs under control."""
predicates: dict[str, Callable[[Any], Any]] = {}
"""The predicates of this process by name."""

_Predicate = TypeVar("_Predicate", bound=Callable[[Any], Any])


def claim(formula: str) -> None:
    """Asserts that a formula of finite LTL with past holds from this state of the program on.

    Atoms are predicates of the program (see `predicate`) and expressions such as `Buffer.number == 0`.
    """
    if heard is not None:
        heard(formula, sys._getframe(1))


def predicate(function: _Predicate) -> _Predicate:
    """Makes a function of the whole system's state an atom of claims: `lambda s: s.Buffer.number == 0`."""
    predicates[function.__name__] = function
    return function
