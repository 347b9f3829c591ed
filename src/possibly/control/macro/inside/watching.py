"""The listener of instrumented code that only watches: who touched what, and whether a message orders it.

The names of things and what an instruction touches are those of `control.runtime`; instead of its kernel,
which decides who runs, there is one that lets everybody run.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable
from typing import Any

from possibly.control.forking.noted import Noted
from possibly.control.macro.inside import gate
from possibly.control.macro.inside.clocks import Known
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import NOTHING, Memory
from possibly.control.runtime.task import Task

_lock = allocate_lock()


class _Bystander(Kernel):
    """Knows who runs, and leaves it at that."""

    def __init__(self) -> None:
        self._nobody = Task((0,), 0, "", False)
        nothing: Any = None
        super().__init__(nothing, nothing, nothing)
        self.uncontrolled = _Telling()

    def running(self) -> Task:
        """Things are named by the thread that makes them; nothing else is asked of a task."""
        here = gate.local.gate
        if here is None:
            return self._nobody
        known = here.knows
        if known.task is None:
            known.task = Task((known.index,), known.index, here.name, False)
        found: Task = known.task
        return found

    def commit(self) -> None:
        pass


class _Telling(Noted):
    """What instrumented code finds that cannot be watched."""

    def __setitem__(self, what: str, remedy: str | None) -> None:
        if what not in self and "__del__" not in what:
            gate.told(what)
        super().__setitem__(what, remedy)


class _Watched(Memory):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(frozenset())
        self.tell = tell
        self.told: set[str] = set()
        self.writers: dict[Any, tuple[int, int]] = {}
        self.readers: dict[Any, dict[int, int]] = {}

    def access(
        self, kernel: Kernel, family: str, thing: str, footprint: Any, at: str, key: Any = None
    ) -> int:
        here = gate.local.gate
        if kernel.alone or here is None or here.is_asked:
            return NOTHING
        with _lock:
            is_shared = [self._touch(here.knows, key, each.thing, each.writes) for each in footprint]
        if any(is_shared) and family not in self.told:
            self.told.add(family)
            self.tell(_called(kernel, family, thing))
        return NOTHING

    def hide(self, kernel: Kernel, family: str, footprint: Any, key: Any = None) -> None:
        self.access(kernel, family, family, footprint, "", key)

    def _touch(self, known: Known, key: Any, thing: str, writes: bool) -> bool:
        place = thing if key is None else (key, thing)
        clock, me = known.clock, known.index
        writer, count = self.writers.get(place, (me, 0))
        is_shared = writer != me and clock.get(writer, 0) < count
        readers = self.readers.setdefault(place, {})
        if writes:
            is_shared |= any(r != me and clock.get(r, 0) < c for r, c in readers.items())
            readers.clear()
            self.writers[place] = me, clock[me]
        else:
            readers[me] = clock[me]
        return is_shared


def _called(kernel: Kernel, family: str, thing: str) -> str:
    """As the user knows it: by the variable that holds it, else by where it was made."""
    name, bracket, _ = thing.partition("[")
    if bracket and name in kernel.labels:
        return kernel.labels[name]
    kind, _, place = family.partition("@")
    return f"a {kind} made at {place}" if place else family


def watch(tell: Callable[[str], None]) -> None:
    """From now on instrumented code tells of itself."""
    running.kernel = _Bystander()
    accesses.start(_Watched(tell))


def begin() -> None:
    """A second thread exists: until now there was nobody to share with."""
    if running.kernel is not None:
        running.kernel.alone = False
