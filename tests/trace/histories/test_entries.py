"""A call and its return make an operation; what is left over may have happened."""

from __future__ import annotations

from typing import Any

import pytest

from possibly.errors import TraceError
from possibly.trace.histories.entries import Entry, history_from
from possibly.trace.histories.model import Keyword, Outcome


def entries(text: str) -> list[Entry]:
    """`1+r` process 1 calls r; `1=r:5` it returns 5, `1!r` it fails, `1?r` nobody knows."""
    types = {"+": "invoke", "=": "ok", "!": "fail", "?": "info"}
    found = []
    for line, word in enumerate(text.split(), start=1):
        name, _, value = word[2:].partition(":")
        found.append(Entry(int(word[0]), types[word[1]], name, int(value) if value else None, line=line))
    return found


def told(text: str) -> list[Any]:
    found = history_from(entries(text))
    return [
        (each.process, each.name, each.result, each.outcome.value, each.called, each.returned)
        for each in found
    ]


def test_operations_overlap_as_their_calls_and_returns_do() -> None:
    assert told("1+w:3 2+r 1=w:3 2=r:3") == [("1", "w", 3, "ok", 0, 2), ("2", "r", 3, "ok", 1, 3)]


def test_what_did_not_happen_and_what_nobody_knows() -> None:
    assert told("1+w 1!w 2+w 2?w 3+w") == [
        ("1", "w", None, "fail", 0, 1), ("2", "w", None, "info", 2, None), ("3", "w", None, "info", 4, None),
    ]  # fmt: skip


def test_who_is_no_client_is_left_out() -> None:
    nemesis = Entry(Keyword("nemesis"), "info", "partition", None)
    assert history_from([nemesis, *entries("1+r 1=r"), nemesis]).length == 2


@pytest.mark.parametrize("text", ["1+r 1+w", "1=r", "1+r 1=w", "1+r 1=r 1=r"])
def test_a_process_has_one_operation_at_a_time(text: str) -> None:
    with pytest.raises(TraceError) as error:
        history_from(entries(text), "history")
    assert error.value.line == len(text.split())


def test_a_key_is_that_of_the_call_or_of_the_return() -> None:
    call, end = entries("1+r 1=r")
    history = history_from([call, Entry(1, "ok", "r", 5, key="k")])
    assert [each.key for each in history] == ["k"]
    with pytest.raises(TraceError, match="another key"):
        history_from([Entry(1, "invoke", "r", None, key="a"), Entry(1, "ok", "r", 5, key="b")])
    assert next(iter(history_from([call, end]))).outcome is Outcome.OK
