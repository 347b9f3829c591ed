"""Rounds of a loop in a schedule are told once."""

from __future__ import annotations

from possibly.views.text.schedule import rounds_folded


def test_a_round_that_comes_three_times_is_told_once() -> None:
    rounds = ["    sleeps", "    has slept"] * 3
    folded = ["    sleeps", "    has slept", "    ... the same 2 more times (--full shows them)"]
    assert rounds_folded(["  late", *rounds, "  * reads x"]) == ["  late", *folded, "  * reads x"]


def test_two_rounds_and_what_is_marked_or_of_others_stays() -> None:
    twice = ["    sleeps", "    has slept"] * 2
    turns = ["  one", "    sleeps", "  other", "    sleeps"] * 3
    marked = ["    writes x: 1", "  > writes x: 1"] * 3
    for lines in (twice, turns, marked, []):
        assert rounds_folded(lines) == lines
