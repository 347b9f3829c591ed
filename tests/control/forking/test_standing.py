"""Of the stacks of a process the innermost line of the user's is told."""

from __future__ import annotations

from pathlib import Path

import possibly
from possibly.control.forking.standing import place_in

OURS = Path(possibly.__file__).parent / "control" / "kernel.py"


def stack(*frames: tuple[str, int]) -> str:
    lines = (f'  File "{file}", line {line} in work' for file, line in frames)
    return "Thread 0x1 (most recent call first):\n" + "\n".join(lines) + "\n"


def test_a_thread_in_code_of_ours_waits_and_another_one_is_told() -> None:
    waits, works = stack((str(OURS), 3), ("/srv/a.py", 7)), stack(("/srv/b.py", 9))
    assert place_in(works).endswith("b.py:9")
    assert place_in(f"{waits}\n{works}").endswith("b.py:9")
    assert place_in(waits).endswith("a.py:7")


def test_nothing_is_told_of_nothing() -> None:
    assert place_in("") == "" and place_in(stack((str(OURS), 3))) == ""
