"""What a program takes from outside: time, random numbers, input. Each is the same in every execution.

Virtual time belongs to a task (see `kernel`): it moves on by what the task sleeps or waits, by a microsecond
with each look at it, and to that of whoever the task comes after. A sleep says only that some time passes;
how long others take meanwhile is open, so it orders nothing. Random bits are drawn by each task from a
generator of its own, seeded by the name of the task, so that they do not depend on the schedule; but as soon
as the program seeds `random`, or looks at its state, there is one generator for all, which every draw
changes. What `random` makes of the bits in Python is code like any other. Whoever draws numbers that he has
not seeded sees those of one seed, which is named; where the standard library draws for itself (names of
files, identifiers) any numbers will do. Standard input is the same text in every execution.
"""

from __future__ import annotations

import os
import random
import sys
import time
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.attributes import read_attribute, write_attribute
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.known_calls import ZONE
from possibly.probes.patching import Patches

START = 1_700_000_000.0
"""What `time.time()` says when an execution begins."""
TICK = 1e-6
seed = 0
_plain_time = time.time
_plain_random = random.Random
_plain = _plain_random()
"""For draws that are no program's."""


def install(patches: Patches) -> None:
    for name, start in (("time", START), ("monotonic", 1_000.0), ("perf_counter", 1_000.0)):
        patches.put(time, name, _clock(getattr(time, name), start))
        patches.put(time, f"{name}_ns", _clock_ns(getattr(time, f"{name}_ns"), start))
    patches.put(time, "sleep", _sleep(time.sleep))
    patches.put(time, "localtime", _broken_down(time.localtime, True))
    patches.put(time, "gmtime", _broken_down(time.gmtime, False))
    for name in _DRAWN:
        drawn = _drawn(name)
        patches.put(random, name, drawn)
        patches.put(random._inst, name, drawn)
    patches.put(_plain_random, "seed", _seeded(_plain_random.seed))
    for module, name in ((os, "urandom"), (random, "_urandom")):
        patches.put(module, name, _urandom(os.urandom))


def _clock(plain: Any, start: float) -> Any:
    def clock() -> float:
        kernel = running.kernel
        if kernel is None:
            found: float = plain()
            return found
        task = kernel.current
        kernel.commit()
        task.time += TICK
        task.trail.turn()
        return start + task.time

    return clock


def _clock_ns(plain: Any, start: float) -> Any:
    told = _clock(lambda: plain() / 1e9, start)
    return lambda: int(told() * 1e9)


def _broken_down(plain: Any, is_local: bool) -> Any:
    def broken_down(seconds: float | None = None) -> Any:
        kernel, memory = running.kernel, accesses.memory
        if is_local and kernel is not None and memory is not None:
            memory.access(kernel, ZONE, ZONE, (Access(ZONE, False),), "")
        return plain(time.time() if seconds is None else seconds)

    return broken_down


def _sleep(plain: Any) -> Any:
    def sleep(seconds: float) -> None:
        kernel = running.kernel
        if kernel is None:
            plain(seconds)
            return
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        kernel.visible("sleep", "", (), sleep=seconds)

    return sleep


_DRAWN = ("random", "getrandbits", "seed", "getstate", "setstate")
"""What a generator does in C, or to what it keeps there."""
_SETTING = frozenset({"seed", "getstate", "setstate"})
_STATE = "the numbers of random"
DRAWN = "random numbers are those that --seed {} gives"
_DRAWING = frozenset({"random", "secrets", __name__})
"""Modules that draw for whoever asks them."""


class _Common:
    """The generator of a program that has seeded it, and the execution it belongs to."""

    def __init__(self) -> None:
        self.kernel: Any = None
        self.generator: Any = None
        self.is_seeded = False
        """By a number of the program's own."""


_common = _Common()


def _generator(name: str = "") -> Any:
    kernel, memory = running.kernel, accesses.memory
    if kernel is None or memory is None:
        return _plain
    task = kernel.current
    task.trail.turn()
    if name in _SETTING:
        memory.write_rarely(kernel, _STATE)  # draws are told of from then on
        if _common.kernel is not kernel:
            _common.kernel, _common.generator = kernel, _plain_random(f"{seed}")
            _common.is_seeded = False
    if _common.kernel is kernel or _STATE in memory.rare:
        memory.access(kernel, _STATE, _STATE, (Access(_STATE, name != "getstate"),), "")
    if name not in _SETTING and not (_common.kernel is kernel and _common.is_seeded):
        _name_seed(kernel)
    if _common.kernel is kernel:
        task.random = _common.generator
    elif task.random is None:
        task.random = _plain_random(f"{seed}/{task.name}")
    return task.random


def _name_seed(kernel: Kernel) -> None:
    sentence = DRAWN.format(seed)
    if sentence not in kernel.assumed and not _is_for_library():
        kernel.assumed[sentence] = None


def _is_for_library() -> bool:
    """Whether a module of the standard library draws for itself."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _DRAWING:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__")).partition(".")[0] in sys.stdlib_module_names - {"__main__"}


def _drawn(name: str) -> Any:
    def draw(*given: Any, **options: Any) -> Any:
        made = getattr(_generator(name), name)(*given, **options)
        if name == "seed":
            _common.is_seeded = (given[0] if given else options.get("a")) is not None
        if name == "getstate":
            return (*made[:2], _second_draw())
        if name in _SETTING:
            _keep_second_draw(given[0][2] if name == "setstate" else None)
        return made

    draw.__name__ = name
    return draw


def _second_draw() -> Any:
    """`gauss` draws two numbers at a time and keeps one, in Python, for its next call."""
    read_attribute(random._inst, _KEPT, "")
    return getattr(random._inst, _KEPT)


def _keep_second_draw(number: Any) -> None:
    write_attribute(random._inst, _KEPT, number, "")
    setattr(random._inst, _KEPT, number)


_KEPT = "gauss_next"


def _seeded(plain: Any) -> Any:
    """A generator that is seeded by nobody is seeded by the task that makes it."""

    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        if a is None and running.kernel is not None:
            a = _generator().getrandbits(64)
        plain(self, a, version)

    seed.__module__ = plain.__module__  # it changes the generator, as the plain one does
    return seed


def _urandom(plain: Any) -> Any:
    def urandom(size: int) -> bytes:
        if running.kernel is None:
            found: bytes = plain(size)
            return found
        drawn: bytes = _generator().randbytes(size)
        return drawn

    return urandom
