"""A process that is used again: what an execution has left is put away, and the next begins like the first.

What may be left is known: the program is one of those that `repeatable` allows, or whatever it leaves is
seen and put back (`heap`, `unseen`), and this execution has ended as it should (`is_clean`). Its modules
are forgotten and executed anew; `threading` counts its threads from where it did; what the program threw
away is collected while nothing is under control, because a generator that is closed runs code of the
program. Of all executions in a process only the first may tell of a failure: what goes wrong in a later one
is executed again in a fresh process, and only that is told (`zygote`).
"""

from __future__ import annotations

import gc
import sys
import threading
from _thread import get_ident
from itertools import count
from typing import Any

from possibly.control.execution import Outcome
from possibly.control.forking import disk, heap, restored, unseen
from possibly.control.loading import instrumented as loading
from possibly.control.loading import packages
from possibly.control.runtime import attributes, batons, items, things, variables
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import Memory
from possibly.control.runtime.things import followed_classes
from possibly.control.runtime.touched import proxies

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
        self._stands: tuple[Any, ...] = ()
        self._is_to_be_seen = False
        """What it leaves is looked for."""
        self.is_spent = False
        """Something is left that cannot be put back: the process is not used again."""

    @property
    def is_fresh(self) -> bool:
        return self.executions == 0 and not self.is_late

    def is_clean(self, kernel: Kernel, memory: Memory, outcome: Outcome) -> bool:
        """Whether the execution that is over leaves nothing that `renew` does not put away."""
        self._is_to_be_seen = is_to_be_seen()
        return (
            outcome is Outcome.FINISHED
            and not self.is_branch
            and len(kernel.tasks) == 1
            and _is_quiet(kernel, memory)
            and self.executions < LONGEST
            and self._is_known()
            and (loading.keeps_to_itself() or disk.open_files() == self._files)
            and packages.watched <= sys.stdlib_module_names
            and (is_seen() if self._is_to_be_seen else not memory.reached_out)
        )

    def may_tell(self, kernel: Kernel, memory: Memory, outcome: Outcome) -> bool:
        """Whether an execution is told though it is not the first, and its process ends.

        Nothing went wrong in it, and no new race was seen, of which logged accesses would have to tell. In a
        branch that is enough; in a process that was used before it is one that the scheduler has cut off,
        and nothing else is to be told.
        """
        if self.is_late:
            is_well = outcome in (Outcome.FINISHED, Outcome.CUT_OFF) and kernel.failure is None
            is_well = is_well and (batons.launch is None or can_share_a_thread())
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
        _let_go(running.kernel, accesses.memory)
        running.kernel = accesses.memory = None
        _forget_classes({"__main__", *loading.executed})
        for name in loading.executed:
            module = sys.modules.pop(name, None)
            if module is not None:  # its functions hold it: else the collector had to find that out
                vars(module).clear()
        loading.executed.clear()
        if self._is_to_be_seen:
            self.is_spent = not unseen.is_as_it_was(self._stands)
        if heap.kept is not None:
            self.is_spent |= bool(heap.kept.put_back())
        if self.is_fresh:
            self.settle()
        self.executions += 1
        _tell_tasks_apart()
        threading._counter = count(self._threads).__next__  # type: ignore[attr-defined]
        vars(self._main).clear()
        vars(self._main).update(self._state)
        for restore in self._restored:
            restore()
        if self.executions % ROUND == 0 or gc.get_count()[0] > CROWD:
            gc.collect()

    def look(self) -> None:
        """The first program is about to begin."""
        if heap.kept is not None:
            self._stands = unseen.standing()

    def settle(self) -> None:
        """From now on nothing is collected in the middle of an execution, and no thread is started."""
        gc.disable()
        _use_greenlets()
        getattr(threading, "_shutdown_locks", set()).clear()


def _let_go(kernel: Kernel | None, memory: Memory | None) -> None:
    """What tells of an execution is a good part of what would have to be collected after it."""
    if memory is not None:
        memory.let_go()
    if kernel is not None:
        kernel.let_go()


_OF_CLASSES: tuple[dict[Any, Any], ...] = (
    things._in_c,
    things._keepers,
    attributes._made_in_c,
    attributes._handling,
    attributes._storing,
    variables._doing,
    proxies._wrapping,
    proxies._proxies,
    items._weak,
    items._shown_elsewhere,
)
"""What is known of classes, or of a class and a name."""


def _forget_classes(executed: set[str]) -> None:
    """What is known of classes that end with the execution: else they would not end."""
    for known in _OF_CLASSES:
        for key in [key for key in known if things.module_of(_class_in(key)) in executed]:
            del known[key]


def _class_in(key: Any) -> Any:
    return key[0] if type(key) is tuple else key


def _is_quiet(kernel: Kernel, memory: Memory) -> bool:
    """Whether nothing has happened that is to be looked at in a fresh process."""
    if kernel.failure or kernel.uncontrolled or kernel.repeat:
        return False
    return not memory.racy


def share_a_thread(kernel: Kernel) -> None:
    """Tasks that come from now on do so, if the program cannot tell: the first one is not alone any more."""
    if not can_share_a_thread() or batons.launch is not None:
        return
    _use_greenlets()
    for task in kernel.all:
        task.lock = batons.new()


def may_be_used_again() -> bool:
    """Whether a process that executes the program is used again, if the execution ends as it should."""
    return can_share_a_thread() and (heap.can_be_seen() or not is_to_be_seen())


def can_share_a_thread() -> bool:
    """Whether the program, and all code that is watched with it, cannot tell threads from greenlets."""
    found = loading.judgements.values()
    is_known = bool(found) and packages.watched <= sys.stdlib_module_names
    return is_known and all(each.holds() or each.can_be_seen() for each in found)


def _use_greenlets() -> None:
    if batons.launch is None and batons.have_greenlets():
        batons.use_greenlets()
    _tell_tasks_apart()


def is_in_language() -> bool:
    """Whether the program is one that cannot leave anything behind."""
    found = loading.judgements.values()
    return bool(found) and all(judgement.holds() for judgement in found)


def is_to_be_seen() -> bool:
    """Whether what it leaves has to be looked for.

    Code of a library that tasks enter counts as the program's own: nobody is told of what is changed there.
    So do some classes, and of these alone it costs nothing to look.
    """
    is_followed = bool(followed_classes) and not heap.can_be_seen()
    return not is_in_language() or bool(packages.watched) or is_followed


def is_seen() -> bool:
    """Whether all that the program leaves behind is seen."""
    found = loading.judgements.values()
    is_whole = heap.kept is not None and heap.kept.is_whole
    return is_whole and all(each.holds() or each.can_be_seen() for each in found)


def keep_all() -> None:
    """What is there is kept in mind, if the program needs that to be used again; this takes a while."""
    if _is_all_to_be_kept():
        heap.keep_all()


def keep_classes() -> None:
    """Of the classes that the program shares with others this is done at once, where it is enough."""
    if followed_classes and not _is_all_to_be_kept():
        heap.keep_classes(followed_classes)


def _is_all_to_be_kept() -> bool:
    found = loading.judgements.values()
    return is_to_be_seen() and all(each.reason is None or each.unseen is None for each in found)


def _tell_tasks_apart() -> None:
    if batons.launch is not None:
        threading.get_ident = _identity


def _identity() -> int:
    """`threading` knows the running task by this."""
    kernel = running.kernel
    task = kernel.current.index if kernel is not None else 0
    return _IDENTITIES + task if task else get_ident()


def _next(counter: Any) -> int:
    """The number that a counter gives next, without asking it."""
    return int(repr(counter.__self__)[len("count(") : -1])
