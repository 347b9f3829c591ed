"""What libraries keep is as it was after each execution, also what they said before the first one."""

from __future__ import annotations

from possibly.control.forking import restored
from possibly.control.models import exits


def test_functions_of_the_end_that_packages_gave_once_are_called_in_each_execution() -> None:
    called: list[int] = []
    before = exits.wanted()
    exits.want([(called.append, (1,), {})])
    try:
        (restore, *_) = restored.kept()
        for _ in range(3):
            own: exits.Wanted = (called.append, (2,), {})  # it comes last, so it is called first
            exits.want([*exits.wanted(), own])
            exits.run()
            restore()
    finally:
        exits.want(before)
    assert called == [2, 1] * 3
