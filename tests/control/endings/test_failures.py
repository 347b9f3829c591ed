"""A failure as plain data: the same words in every process."""

from __future__ import annotations

import threading

from possibly.control.endings.failures import failure_of


def test_a_failure_does_not_say_where_objects_lie() -> None:
    try:
        raise ValueError(f"nobody holds {threading.Lock()!r}, {object()!r}")
    except ValueError as error:
        failure = failure_of(error)
    assert failure["message"] == "ValueError: nobody holds <unlocked _thread.lock object>, <object object>"
    assert "0x" not in failure["traceback"] and failure["message"] in failure["traceback"]
