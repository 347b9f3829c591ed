"""What a program writes around its own objects and can ask for again is told."""

from __future__ import annotations

import io
import logging
import sys
from typing import Any

import pytest

from possibly.control.joining.surroundings import _say_handler
from possibly.control.joining.values import Words
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.things import Things
from tests.control.joining.test_values import First


def told(handler: logging.Handler) -> list[Any]:
    words = Words(Kernel(First(), lambda *_: exit(), lambda _: pytest.fail("it waits")), Things())
    _say_handler(words, handler)
    return words.said


def test_what_a_handler_has_written_into_memory_is_told() -> None:
    one, same, other = (logging.StreamHandler(io.StringIO(text)) for text in ("a", "a", "b"))
    assert told(one) == told(same) != told(other)


def test_what_went_to_the_terminal_is_not() -> None:
    assert told(logging.StreamHandler(sys.stdout)) == told(logging.StreamHandler(sys.stderr))
