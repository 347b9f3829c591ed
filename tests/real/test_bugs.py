"""Bugs of real packages are found in the version that has them, and not in the one without (`make soak`)."""

from __future__ import annotations

import os

import pytest

from tests.real.bugs import Case, cases, explored

MANY = "POSSIBLY_CASES" in os.environ


@pytest.mark.parametrize(
    "case",
    [each for each in cases() if MANY and each.is_here],
    ids=lambda each: f"{each.program}-{each.version}",
)
def test_it_is_found_where_it_is(case: Case) -> None:
    found = explored(case)
    assert case.allows(found.status), found.message
    assert found.status != 3 or found.message


def test_each_has_a_version_with_the_bug() -> None:
    wrong = {each.program for each in cases() if each.said != "RIGHT"}
    assert wrong == {each.program for each in cases()} and len(wrong) >= 10
    assert len([each for each in cases() if each.said == "RIGHT"]) >= 7
