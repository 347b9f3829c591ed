"""What the process that is forked has imported before makes no difference to the program."""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 - that it is there already is the point
from pathlib import Path

from tests.control.runtime.running import once

PROGRAM = """\
from threading import Thread

thread = Thread(target=print)
thread.start()
thread.join()
"""


def test_a_program_without_pools_has_no_step_of_the_lock_of_all_pools(tmp_path: Path) -> None:
    kinds = [step.operation.kind for step in once(tmp_path, PROGRAM).steps]
    assert kinds == ["start", "end", "join"]
