"""Queues that are shut down, as newer interpreters can: the queue of the library is executed."""

from __future__ import annotations

import queue
from pathlib import Path

import pytest

from tests.control.runtime.running import explored

SOURCE = """\
import queue, threading
items, got = queue.Queue(), []
def take():
    try:
        while True: got.append(items.get())
    except queue.ShutDown: got.append("end")
taker = threading.Thread(target=take)
taker.start()
items.put(1)
items.shutdown({how})
taker.join()
assert got == [1, "end"], got
"""


@pytest.mark.skipif(not hasattr(queue.Queue, "shutdown"), reason="an older interpreter")
@pytest.mark.parametrize(("how", "holds"), [("", True), ("immediate=True", False)])
def test_who_is_shut_out_depends_on_the_order(how: str, holds: bool, tmp_path: Path) -> None:
    found = explored(tmp_path, SOURCE.format(how=how))
    assert found.holds is holds
    assert found.complete or not holds, found.open
