from __future__ import annotations

import sys
import threading

import pytest

from possibly.logic.depth import deep


def descend(levels: int) -> int:
    return 0 if levels == 0 else 1 + descend(levels - 1)


def test_room_inside_and_the_old_limit_after() -> None:
    before = sys.getrecursionlimit()
    with deep():
        assert descend(40_000) == 40_000
    assert sys.getrecursionlimit() == before


def test_the_old_limit_returns_after_an_error() -> None:
    before = sys.getrecursionlimit()
    with pytest.raises(ValueError, match="inside"), deep(), deep():
        raise ValueError("inside")
    assert sys.getrecursionlimit() == before


def test_a_thread_that_leaves_takes_no_room_from_another() -> None:
    before = sys.getrecursionlimit()
    entered, left = threading.Event(), threading.Event()
    depths: list[int] = []

    def stays() -> None:
        with deep():
            entered.set()
            left.wait(10)
            depths.append(descend(20_000))

    with deep():
        thread = threading.Thread(target=stays)
        thread.start()
        entered.wait(10)
    assert sys.getrecursionlimit() > before
    left.set()
    thread.join(10)
    assert depths == [20_000]
    assert sys.getrecursionlimit() == before
