"""Names, values and steps as one safe line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.verdict.model import Change, Step
from possibly.views.text import words


@given(st.text())
def test_plain_text_is_printable_and_printable_text_is_left_alone(text: str) -> None:
    assert words.plain(text).isprintable()
    if text.isprintable():
        assert words.plain(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\u202eevil", "\\u202eevil"),
        ("\ud800", "\\ud800"),
        ("Zürich λ", "Zürich λ"),
    ],
)
def test_what_a_terminal_might_obey_is_escaped(text: str, expected: str) -> None:
    assert words.plain(text) == expected


@given(st.text(), st.integers(4, 30))
def test_elided_text_keeps_both_ends_and_fits(text: str, longest: int) -> None:
    short = words.elided(text, longest)
    assert len(short) <= longest
    assert short == text or (len(text) > longest and text.startswith(short.split("…")[0]))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, "1"),
        (True, "true"),
        (None, "null"),
        ('say "hi"', '"say \\"hi\\""'),
        ([1, {"a": 2}], '[1, {"a": 2}]'),
        ("é", '"é"'),
        ("x" * 200, '"' + "x" * 39 + "…" + "x" * 18 + '"'),
        (object(), words.UNPRINTABLE_VALUE),
    ],
)
def test_values_are_written_as_in_a_formula(value: Any, expected: str) -> None:
    assert words.value_text(value) == expected


def test_a_value_too_deep_to_print_is_no_error() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert words.value_text(deep) == words.UNPRINTABLE_VALUE


def test_changes() -> None:
    assert words.change_text(Change("P1.x", 0, 1)) == "P1.x: 0 -> 1"
    assert words.change_text(Change("turn", None, 1)) == "turn: null -> 1"
    assert words.change_text(Change("P1.x", None, "a", fresh=True)) == 'P1.x = "a"'
    both = Step("P1:1", "P1", "internal", changes=(Change("P1.x", 0, 1), Change("P1.y", 1, 2)))
    assert words.changes_text(both) == "P1.x: 0 -> 1, P1.y: 1 -> 2"


@pytest.mark.parametrize(
    ("step", "action", "sentence"),
    [
        (Step("P1:1", "P1", "internal"), "internal", "P1:1 (internal)"),
        (Step("e", "P1", "send", "a.py:3", message="m to P2"), "send m to P2", "e (send m to P2, a.py:3)"),
        (Step("e", "P1", "enter", function="f", label="m8"), "enter f [m8]", "e (enter f [m8])"),
    ],
)
def test_steps(step: Step, action: str, sentence: str) -> None:
    assert words.action_text(step) == action
    assert words.event_text(step) == sentence


def test_counts() -> None:
    assert words.count_text(1, "process") == "1 process"
    assert words.count_text(2, "process") == "2 processes"
    assert words.count_text(1200, "event") == "1,200 events"


def test_lists_break_between_their_parts() -> None:
    assert words.filled(["a = 1", "b = 2", "c = 3"], 15, indent="  ") == ["  a = 1, b = 2,", "  c = 3"]
    assert words.filled(["a = 1", "b = 2"], 12, separator="; ") == ["a = 1;", "b = 2"]
    assert words.filled([], 10) == []
    assert words.filled(["long" * 10], 10) == ["long" * 10]
