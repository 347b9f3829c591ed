"""What two tasks can do, by brute force: a switch before any instruction, and no footprints at all.

A plain scheduler on `sys.settrace` with `f_trace_opcodes`: the two functions run as threads of which one runs
at a time. One runs for some instructions, then the other for some, then the first to its end and the other to
its own, for all numbers of instructions. It knows nothing of what instructions touch, so whatever it finds is
something that Python can do. What takes more switches is looked for at random, outcome by outcome.
"""

from __future__ import annotations

import collections
import collections.abc
import random
import sys
import threading
from collections.abc import Callable, Container
from types import FrameType, ModuleType
from typing import Any

FILE = "<tasks>"
FILES = frozenset({FILE, "<string>", collections.__file__, collections.abc.__file__})
"""Where there are switches: the tasks, what they evaluate, and classes in Python that keep what is theirs."""


class Anywhere:
    """All code in Python but what the scheduler stands on."""

    def __contains__(self, file: object) -> bool:
        return file not in (threading.__file__, __file__) and not str(file).startswith("<frozen")


ANYWHERE = Anywhere()
Files = Container[str]


class _Baton:
    """Two threads of which one runs, each for so many instructions in turn; the last turn has no end."""

    def __init__(self, lengths: tuple[int, ...]) -> None:
        self.counts = [0, 0]
        self.left = list(lengths)
        self.turns = [threading.Semaphore(0), threading.Semaphore(0)]
        self.live = [True, True]

    def stop(self, me: int) -> None:
        if self.left and self.left[0] == 0 and self.live[1 - me]:
            self.left.pop(0)
            self.turns[1 - me].release()
            self.turns[me].acquire()
        if self.left:
            self.left[0] -= 1
        self.counts[me] += 1


def _run(baton: _Baton, me: int, task: Callable[[], Any], files: Files) -> None:
    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in files:
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
    del baton.left[:1]
    baton.turns[1 - me].release()


def _once(code: Any, first: int, lengths: tuple[int, ...], files: Files) -> tuple[str, list[int]]:
    """What comes of one way to switch, and how many instructions each task had."""
    module = sys.modules["tasks"] = ModuleType("tasks")  # where `pickle` looks for its classes
    space = vars(module)
    exec(code, space)  # noqa: S102 - a program of the tests
    baton = _Baton(lengths)
    tasks = (space["a"], space["b"])
    threads = [threading.Thread(target=_run, args=(baton, n, tasks[n], files)) for n in (0, 1)]
    for thread in threads:
        thread.start()
    baton.turns[first].release()
    for thread in threads:
        thread.join()
    return str(space["result"]()), baton.counts


def outcomes(source: str, files: Files = FILES, most: int = 10**6) -> set[str]:
    """What `result()` of the program gives after each such way to run its `a()` and `b()`.

    Of each first task `most` ways at the utmost, drawn at random.
    """
    code = compile(source, FILE, "exec", dont_inherit=True)
    found: set[str] = set()
    for first in (0, 1):
        plain, counts = _once(code, first, (), files)
        found.add(plain)
        ways = [(one, other) for one in range(counts[first]) for other in range(1, counts[1 - first] + 1)]
        for way in random.Random(7).sample(ways, min(most, len(ways))):
            found.add(_once(code, first, way, files)[0])
    return found


def unconfirmed(source: str, wanted: set[str], tries: int = 4_000, files: Files = FILES) -> set[str]:
    """Which of these outcomes no switches bring about, up to six of them tried at random."""
    code = compile(source, FILE, "exec", dont_inherit=True)
    draw = random.Random(7)
    longest = max(max(_once(code, first, (), files)[1]) for first in (0, 1))
    for _ in range(tries):
        if not wanted:
            break
        lengths = tuple(draw.randint(0, longest) for _ in range(draw.randint(2, 6)))
        wanted = wanted - {_once(code, draw.randint(0, 1), lengths, files)[0]}
    return wanted
