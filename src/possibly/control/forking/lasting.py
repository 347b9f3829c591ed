"""A process that is used again: what an execution has left is put away, and the next begins like the first.

What may be left is known: the program is one of those that `repeatable` allows, and this execution has ended
as it should (`is_clean`). Its modules are forgotten and executed anew; `threading` counts its threads from
where it did; what the program threw away is collected while nothing is under control, because a generator
that is closed runs code of the program. Of all executions in a process only the first may tell of a failure:
what goes wrong in a later one is executed again in a fresh process, and only that is told (`zygote`).
"""

from __future__ import annotations

import gc
import sys
import threading
from _thread import get_ident
from itertools import count
from typing import Any

from possibly.control.execution import Outcome
from possibly.control.forking import disk, restored
from possibly.control.loading import instrumented as loading
from possibly.control.loading import packages
from possibly.control.runtime import batons
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import Memory

LONGEST = 5_000
"""Executions in the life of a process."""
ROUND = 64
"""After so many executions, or objects, what was thrown away is collected."""
CROWD = 50_000
_IDENTITIES = 1 << 32


class Life:
    """Of a process that begins as a fork of a warmed-up one."""

    def __init__(self) -> None:
        self.executions = 0
        self.is_branch = False
        """The process was forked in the middle of an execution, and ends with it."""
        self.is_late = False
        """That execution was another one, which began as this one did."""
        self._modules = frozenset(sys.modules)
        self._main: Any = threading.main_thread()
        self._state = dict(vars(self._main))
        self._threads = _next(threading._counter)  # type: ignore[attr-defined]
        self._restored = restored.kept()
        self._files = disk.open_files()

    @property
    def is_fresh(self) -> bool:
        return self.executions == 0 and not self.is_late

    def is_clean(self, kernel: Kernel, memory: Memory, outcome: Outcome) -> bool:
        """Whether the execution that is over leaves nothing that `renew` does not put away."""
        return (
            outcome is Outcome.FINISHED
            and not self.is_branch
            and len(kernel.tasks) == 1
            and _is_quiet(kernel, memory)
            and self.executions < LONGEST
            and self._is_known()
            and (loading.keeps_to_itself() or disk.open_files() == self._files)
            and packages.watched <= sys.stdlib_module_names
            and bool(loading.judgements)
            and all(judgement.holds() for judgement in loading.judgements.values())
        )

    def may_tell(self, kernel: Kernel, memory: Memory, outcome: Outcome) -> bool:
        """Whether an execution is told though it is not the first, and its process ends.

        Nothing went wrong in it, and no new race was seen, of which logged accesses would have to tell. In a
        branch that is enough; in a process that was used before it is one that the scheduler has cut off,
        and nothing else is to be told.
        """
        if self.is_late:
            is_well = outcome in (Outcome.FINISHED, Outcome.CUT_OFF) and kernel.failure is None
            return is_well and not (memory.racy or kernel.repeat)
        return outcome is Outcome.CUT_OFF and _is_quiet(kernel, memory)

    def _is_known(self) -> bool:
        """Whether all that was imported is the program's own, or ours."""
        if len(sys.modules) == len(self._modules):
            return True
        new = sys.modules.keys() - self._modules - {*loading.executed}
        return all(name.startswith("possibly.") for name in new)

    def renew(self) -> None:
        """The state in which a program finds the process that executes it."""
        running.kernel = accesses.memory = None
        if self.is_fresh:
            self.settle()
        self.executions += 1
        for name in loading.executed:
            module = sys.modules.pop(name, None)
            if module is not None:  # its functions hold it: else the collector had to find that out
                vars(module).clear()
        loading.executed.clear()
        threading._counter = count(self._threads).__next__  # type: ignore[attr-defined]
        vars(self._main).clear()
        vars(self._main).update(self._state)
        for restore in self._restored:
            restore()
        if self.executions % ROUND == 0 or gc.get_count()[0] > CROWD:
            gc.collect()

    def settle(self) -> None:
        """From now on nothing is collected in the middle of an execution, and no thread is started."""
        gc.disable()
        if batons.launch is None and batons.have_greenlets():
            batons.use_greenlets()
            threading.get_ident = _identity
        getattr(threading, "_shutdown_locks", set()).clear()


def _is_quiet(kernel: Kernel, memory: Memory) -> bool:
    """Whether nothing has happened that is to be looked at in a fresh process."""
    if kernel.failure or kernel.uncontrolled or kernel.repeat:
        return False
    return not (memory.racy or memory.reached_out)


def _identity() -> int:
    """`threading` knows the running task by this."""
    kernel = running.kernel
    task = kernel.current.index if kernel is not None else 0
    return _IDENTITIES + task if task else get_ident()


def _next(counter: Any) -> int:
    """The number that a counter gives next, without asking it."""
    return int(repr(counter.__self__)[len("count(") : -1])
