"""Executions that are made at the same time: all of them, none twice, and an error ends them all."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from possibly.control.macro.turns import Turns


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_everything_is_done_once(jobs: int) -> None:
    turns, waiting, done = Turns(), list(range(20)), list[int]()

    def following() -> Callable[[], None] | None:
        if not waiting:
            return None
        number = waiting.pop()

        def execute() -> None:
            with turns.given_away():
                pass
            done.append(number)

        return execute

    turns.work(jobs, lambda: False, following)
    assert sorted(done) == list(range(20)) and turns.busy == 0


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_ends_them_all(jobs: int) -> None:
    turns, count = Turns(), 0

    def fail() -> None:
        nonlocal count
        count += 1
        raise KeyError(count)

    with pytest.raises(KeyError):
        turns.work(jobs, lambda: False, lambda: fail)
    assert count <= jobs and turns.busy == 0


def test_it_may_be_enough() -> None:
    done: list[int] = []
    Turns().work(1, lambda: len(done) == 3, lambda: lambda: done.append(1))
    assert len(done) == 3
