"""Truth, its words and its exit statuses."""

from __future__ import annotations

import pytest

from possibly.verdict.model import Truth, Verdict

STATUS = {"holds": 0, "violated": 1, "unknown": 3, "matched": 0, "absent": 0}


@pytest.mark.parametrize("truth", Truth)
def test_each_truth_has_its_exit_status(truth: Truth) -> None:
    assert truth.status == STATUS[truth.value]


@pytest.mark.parametrize("holds", [True, False, None])
def test_truth_of_an_answer_is_that_answer(holds: bool | None) -> None:
    assert Truth.of(holds).holds is holds
    assert Verdict("p", "ctl", "AG(x)", Truth.of(holds)).holds is holds


def test_a_watch_neither_holds_nor_is_violated() -> None:
    assert Truth.MATCHED.holds is None and Truth.ABSENT.holds is None
