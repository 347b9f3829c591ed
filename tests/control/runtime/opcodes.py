"""What two tasks can do, by brute force: a switch before any instruction, and no footprints at all.

A plain scheduler on `sys.settrace` with `f_trace_opcodes`: the two functions run as threads of which one runs
at a time. One runs for some instructions, then the other for some, then the first to its end and the other to
its own, for all numbers of instructions. It knows nothing of what instructions touch, so whatever it finds is
something that Python can do.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

FILE = "<tasks>"


class _Baton:
    """Two threads of which one runs: the first for so many instructions, then the second for so many."""

    def __init__(self, first: int, counts: tuple[int, int]) -> None:
        self.counts = [0, 0]
        self.left = {first: counts[0], 1 - first: counts[1]}
        self.turns = [threading.Semaphore(0), threading.Semaphore(0)]
        self.live = [True, True]

    def stop(self, me: int) -> None:
        self.counts[me] += 1
        if self.left.get(me) == self.counts[me] - 1 and self.live[1 - me]:
            del self.left[me]
            self.turns[1 - me].release()
            self.turns[me].acquire()


def _run(baton: _Baton, me: int, task: Callable[[], Any]) -> None:
    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != FILE:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            baton.stop(me)
        return trace

    baton.turns[me].acquire()
    sys.settrace(trace)
    try:
        task()
    except Exception:  # noqa: BLE001 - what a task raises is its own matter
        pass
    sys.settrace(None)
    baton.live[me] = False
    baton.turns[1 - me].release()


def _once(code: Any, first: int, counts: tuple[int, int]) -> tuple[str, list[int]]:
    """What comes of one way to switch, and how many instructions each task had."""
    space: dict[str, Any] = {"__name__": "tasks"}
    exec(code, space)  # noqa: S102 - a program of the tests
    baton = _Baton(first, counts)
    tasks = (space["a"], space["b"])
    threads = [threading.Thread(target=_run, args=(baton, n, tasks[n])) for n in (0, 1)]
    for thread in threads:
        thread.start()
    baton.turns[first].release()
    for thread in threads:
        thread.join()
    return str(space["result"]()), baton.counts


def outcomes(source: str) -> set[str]:
    """What `result()` of the program gives after each such way to run its `a()` and `b()`."""
    code = compile(source, FILE, "exec")
    found: set[str] = set()
    for first in (0, 1):
        plain, counts = _once(code, first, (10**6, 10**6))
        found.add(plain)
        for one in range(counts[first]):
            for other in range(1, counts[1 - first] + 1):
                found.add(_once(code, first, (one, other))[0])
    return found
