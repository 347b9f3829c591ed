"""A function of a program that runs already is explored as it stands there."""

from __future__ import annotations

import gc
import threading

from possibly.control.forking.function import function_program
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore

total = 0


def _add() -> None:
    global total
    total += 1


def _both() -> None:
    threads = [threading.Thread(target=_add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == 2


def test_functions_that_the_collector_leaves_alone_are_watched_too() -> None:
    """`gc.freeze`, as servers call it before they fork, hides them from `gc.get_objects`."""
    gc.freeze()
    with function_program(_both) as program:
        assert explore(program, Options(minimise=0)).holds is False
