"""What an explorer finds of a program: the results of all its executions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from possibly.control.forking.zygote import script
from tests.control.runtime.brute import Result, result_of


def results(
    path: Path, make: Callable[[], Any], most: int = 2_000, **options: Any
) -> tuple[set[Result], Any] | None:
    """Until the explorer has nothing left; None if that takes more executions."""
    found: set[Result] = set()
    with script((str(path),), **options) as program:
        explorer = make()
        for _ in range(most):
            plan = explorer.plan()
            if plan is None:
                return found, explorer
            program.begin(plan)
            execution = program.end()
            if execution.uncontrolled:
                return None
            if program.grown:
                explorer = make()
                continue
            if program.repeat:
                continue
            explorer.learn(execution)
            if execution.outcome.value != "cut off":
                found.add(result_of(execution))
    return None
