"""Texts that are numbers become numbers; expressions need their groups."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.errors import UsageError
from possibly.trace.importers.scalars import named_groups, scalar


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_back(number: float) -> None:
    text = json.dumps(number)
    if len(text) < 300 and "e" not in text:
        assert scalar(text) == number and type(scalar(text)) is type(number)


@pytest.mark.parametrize(
    "text", ["", "01", "1.", ".5", "+1", "1e9999", "NaN", "Infinity", "0x1", "1_000", " 1", "١"]
)
def test_what_is_no_number_of_json_stays_a_text(text: str) -> None:
    assert scalar(text) == text


def test_a_group_may_be_written_as_in_javascript() -> None:
    found = named_groups(r"(?<host>\w+) (?<=x)?(?<clock>.*)", "event", ("host", "clock"))
    assert found.groupindex.keys() == {"host", "clock"}
    again = named_groups(r"(?<host>\w)\k<host>", "event", ("host",)).fullmatch("aa")
    assert again is not None and again["host"] == "a"


@pytest.mark.parametrize("expression", ["(", "(?P<host>a)(?P<host>b)", "(?<other>a)"])
def test_an_expression_that_does_not_do_is_refused(expression: str) -> None:
    with pytest.raises(UsageError, match="the event expression"):
        named_groups(expression, "event", ("host",))
