"""The words of model files, so that editors and linters know them; `possibly debug` gives them their meaning.

A model file begins with `from possibly.models.words import ...`. It is stepped through, never run: calling
one of these says so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from possibly.errors import UsageError

Function = Callable[..., Any]


def _only_a_model() -> NoReturn:
    raise UsageError("a model is stepped through, not run: possibly debug MODEL")


def process(what: Function | int) -> Any:
    """`@process` makes a function a process of that name; `@process(3)` makes three, numbered from 0.

    The parameter of a function with `@process(3)` is that number.
    """
    return what if callable(what) else lambda function: function


def channel(capacity: int) -> Any:
    """The initial value of a channel that holds so many messages."""
    return [] if capacity else None


def wait(condition: object) -> None:
    """Goes on only when the condition holds."""
    _only_a_model()


def send(to: Any, message: object) -> None:
    """Puts a message into a channel; waits while it is full."""
    _only_a_model()


def receive(source: Any) -> Any:
    """Takes the oldest message out of a channel; waits while it is empty."""
    _only_a_model()


def choose(*values: Any) -> Any:
    """Any one of the values; `choose(range(4))` any number of the range."""
    _only_a_model()


class _Atomic(AbstractContextManager[None]):
    def __exit__(self, *_: object) -> None:
        return None


atomic = _Atomic()
"""`with atomic:` makes a block one transition."""
