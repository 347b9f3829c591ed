"""What an answer says follows from what it holds, and so do its word and the exit status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from possibly.verdict.answer import Answer
from possibly.verdict.model import Truth
from possibly.verdict.reasons import Reason


@dataclass(frozen=True)
class Failed:
    kind: str = "assertion"
    message: str = "it fails"


OPEN = {"the limit of 3 executions": Reason(remedy="a larger --executions")}


@pytest.mark.parametrize(
    ("answer", "holds", "word", "status"),
    [
        (Answer[Failed](complete=True), True, "holds", 0),
        (Answer[Failed](), None, "unknown", 3),
        (Answer[Failed](open=OPEN), None, "unknown", 3),
        (Answer[Failed](complete=True, open=OPEN), None, "unknown", 3),
        (Answer(failure=Failed()), False, "violated", 1),
        (Answer(failure=Failed(), complete=True, open=OPEN), False, "violated", 1),
    ],
)
def test_a_failure_decides_and_whatever_is_open_leaves_it_open(
    answer: Answer[Any], holds: bool | None, word: str, status: int
) -> None:
    assert (answer.holds, answer.truth.value, answer.truth.status) == (holds, word, status)


@pytest.mark.parametrize("holds", [True, False, None])
def test_truth_and_bool_are_two_forms_of_one_answer(holds: bool | None) -> None:
    assert Truth.of(holds).holds is holds


@pytest.mark.parametrize("truth", [Truth.MATCHED, Truth.ABSENT])
def test_what_a_watch_saw_is_no_failure(truth: Truth) -> None:
    assert (truth.holds, truth.status) == (None, 0)
