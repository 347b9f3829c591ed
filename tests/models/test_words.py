"""A model file that is run says that models are stepped through; its decorators leave functions alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from possibly.errors import UsageError
from possibly.models import words


@pytest.mark.parametrize(
    "call",
    [
        lambda: words.wait(True), lambda: words.send([], 1), lambda: words.receive([]),
        lambda: words.choose(1, 2),
    ],
)  # fmt: skip
def test_a_model_is_not_run(call: Callable[[], object]) -> None:
    with pytest.raises(UsageError, match="possibly debug MODEL"):
        call()


def test_words_that_only_declare_change_nothing() -> None:
    def function(number: int) -> int:
        return number

    assert words.process(function) is function
    assert words.process(3)(function) is function
    assert words.channel(2) == [] and words.channel(0) is None
    with words.atomic, pytest.raises(KeyError), words.atomic:
        raise KeyError
