"""Options of a step are those that make sense together, and are written as a command writes them."""

from __future__ import annotations

import pytest

from possibly.control.temporal.options import SIZES, Options
from possibly.errors import UsageError


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(), ()), (Options("max", 7), ("max", "bound", "7")), (Options("min", new_ends=True),
        ("min", "new-ends")),
        (Options(all_paths=True, new_sequences=True, printed=True), ("new-paths", "all", "tableau")),
        (Options(memoryless=True), ("memoryless",)),
    ],
)  # fmt: skip
def test_words(options: Options, words: tuple[str, ...]) -> None:
    assert options.words() == words


def test_what_makes_no_sense_is_refused() -> None:
    for wrong in ({"size": "long"}, {"bound": 0}, {"size": "max", "memoryless": True}):
        with pytest.raises(UsageError):
            Options(**wrong)
    for size in SIZES:
        assert Options(size, 1).size == size
