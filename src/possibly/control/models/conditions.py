"""`threading`'s Condition, Event and Barrier as models (see `primitives` for their law).

A condition wakes its waiters in the order in which they came, and never without a reason; whoever was woken
by an event's `set` goes on even if the event is cleared meanwhile; a barrier is the standard library's own,
over a condition of ours.

Whether somebody came to an event before it was set or afterwards can only be told where events are cleared.
The first execution in which one is is found out as such, and the search begins anew.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import Lock, Quiet, RLock, label, name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import reading, touching, writing
from possibly.control.runtime.kernel import Task
from possibly.control.runtime.places import place_of

CLEARED = "events are cleared"
"""The word for: an event that was set is cleared while there are several tasks."""


def _are_cleared() -> bool:
    return accesses.memory is None or CLEARED in accesses.memory.visible


class _Waiter:
    __slots__ = ("task", "woken")

    def __init__(self, task: Task) -> None:
        self.task = task
        self.woken = False


class Condition(Quiet):
    """Waiting lets the lock go and stands in line, in one step; going on takes the lock again, in another."""

    def __init__(self, lock: Any = None) -> None:
        self._settle()
        self.name = name_for("condition", self.quiet)
        self.waiters: deque[_Waiter] = deque()
        self.woken = 0
        """Waiters that were notified and have not gone on yet."""
        self.last_notify = ""
        if lock is None:
            lock = RLock()
            if running.kernel is not None:
                running.kernel.conditions[lock.name] = self.name
        if isinstance(lock, Lock) and lock.is_hidden:  # who waits holds it meanwhile
            lock.expose()
        self._lock = lock
        self.acquire, self.release = lock.acquire, lock.release
        if not self.quiet:
            label(self.name, "condition")

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *error: Any) -> Any:
        return self._lock.__exit__(*error)

    def _is_owned(self) -> bool:
        found: bool = self._lock.mine()
        return found

    def wait(self, timeout: float | None = None) -> bool:
        kernel = running.kernel
        if not self._is_owned():
            raise RuntimeError("cannot wait on un-acquired lock")
        if kernel is None:
            raise RuntimeError("nobody else runs who could notify")
        lock = self._lock
        kernel.visible("wait", self.name, (Access(self.name, True), Access(lock.name, True)))
        kernel.opened(("acquire", lock.name), ("wake", lock.name))
        waiter = _Waiter(kernel.current)
        self.waiters.append(waiter)
        saved = lock.let_go(kernel)
        footprint = (Access(self.name, False), Access(lock.name, True))
        found = kernel.visible(
            "wake", self.name, footprint, None,
            lambda: waiter.woken and lock.free, timeout, lambda: self._why(waiter),
        )  # fmt: skip
        if not found and not lock.free:  # the time was up, but the lock must be taken again
            kernel.visible("acquire", lock.name, writing(lock.name), None, lock.is_free, None, lock.why)
        if waiter.woken:
            self.woken -= 1
        elif waiter in self.waiters:
            self.waiters.remove(waiter)
        lock.take_again(kernel, saved)
        return found

    def _why(self, waiter: _Waiter) -> dict[str, Any]:
        if waiter.woken:
            found: dict[str, Any] = self._lock.why()
            return found
        missed = f"after the notification of {self.last_notify}" if self.last_notify else ""
        return {"for": [], "missed": missed}

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        kernel = running.kernel
        result = predicate()
        until = None if timeout is None or kernel is None else kernel.current.time + timeout
        left = timeout
        while not result:  # it lets the lock go at least once, whatever the time-out
            self.wait(left)
            result = predicate()
            left = None if until is None or kernel is None else until - kernel.current.time
            if left is not None and left <= 0:
                break
        return result

    def notify(self, n: int = 1) -> None:
        kernel = running.kernel
        if not self._is_owned():
            raise RuntimeError("cannot notify on un-acquired lock")
        if kernel is None:
            return
        if not self.quiet:
            kernel.visible("notify", self.name, writing(self.name))
            if self.waiters and not self.woken:
                kernel.opened(("wake", self.name))
        self.last_notify = place_of(sys._getframe(1))
        for _ in range(min(n, len(self.waiters))):
            self.waiters.popleft().woken = True
            self.woken += 1

    def notify_all(self) -> None:
        self.notify(len(self.waiters))

    def notifyAll(self) -> None:  # noqa: N802 - the old name
        self.notify_all()

    def _at_fork_reinit(self) -> None:
        self._lock._at_fork_reinit()
        self.waiters.clear()


class Event(Quiet):
    """A flag; `set` wakes all who stand in line."""

    def __init__(self) -> None:
        self._settle()
        self.name = name_for("event", self.quiet)
        self._flag = False
        self.waiters: list[_Waiter] = []
        self.woken = 0
        """Waiters whom a `set` has reached and who have not gone on yet."""
        self.last_set = ""
        if not self.quiet:
            label(self.name, "event")

    def _step(self, kind: str, writes: bool) -> None:
        kernel = running.kernel
        if kernel is not None and not self.quiet:
            kernel.visible(kind, self.name, touching(self.name, writes))

    def is_set(self) -> bool:
        self._step("is_set", False)
        return self._flag

    def isSet(self) -> bool:  # noqa: N802 - the old name
        return self.is_set()

    def set(self) -> None:
        self._step("set", True)
        is_shut = bool(self.waiters) and not self.woken if _are_cleared() else not self._flag
        if running.kernel is not None and is_shut:
            running.kernel.opened(("wake", self.name))
        self.last_set = place_of(sys._getframe(1))
        self._flag = True
        for waiter in self.waiters:
            waiter.woken = True
        self.woken += len(self.waiters)
        self.waiters.clear()

    def clear(self) -> None:
        self._step("clear", True)
        if self._flag and accesses.memory is not None and running.kernel is not None:
            accesses.memory.find_out(running.kernel, CLEARED)
        self._flag = False

    def wait(self, timeout: float | None = None) -> bool:
        """As long as no event is cleared, who waits without a limit need not be seen coming: he goes on after
        the first `set`, whether that is still to come or not."""
        kernel = running.kernel
        if kernel is None or (self.quiet and self._flag):
            return self._flag
        if timeout is not None or _are_cleared():
            kernel.visible("await", self.name, reading(self.name))
            if self._flag:
                return True
        waiter = _Waiter(kernel.current)
        if self._flag:
            waiter.woken = True
            self.woken += 1
        else:
            self.waiters.append(waiter)
        found = kernel.visible(
            "wake", self.name, reading(self.name), None,
            lambda: waiter.woken, timeout, self._why,
        )  # fmt: skip
        if waiter.woken:
            self.woken -= 1
        elif waiter in self.waiters:
            self.waiters.remove(waiter)
        return found

    def _why(self) -> dict[str, Any]:
        return {"for": [], "missed": f"after the set of {self.last_set}" if self.last_set else ""}

    def _at_fork_reinit(self) -> None:
        self._flag = False

    def __repr__(self) -> str:
        return f"<threading.Event at {self.name}: {'set' if self._flag else 'unset'}>"


_PlainBarrier = threading.Barrier
OF_BARRIER = "lock"
"""The end of the name of the lock that is a part of a barrier."""


class Barrier(_PlainBarrier):
    """The standard library's code, over a condition of ours."""

    def __init__(
        self, parties: int, action: Callable[[], None] | None = None, timeout: float | None = None
    ) -> None:
        super().__init__(parties, action, timeout)
        lock = Lock()
        condition = Condition(lock)
        condition.name = condition.name.replace(":condition", ":barrier")
        lock.name = f"{condition.name}{OF_BARRIER}"
        lock.expose()
        condition.quiet = False
        self._cond: Any = condition
        if running.kernel is not None:
            running.kernel.conditions[lock.name] = condition.name
        label(condition.name, "barrier")
        label(lock.name, "lock of the barrier")

    def _look(self) -> None:
        """What is asked without the lock changes where that is taken."""
        kernel = running.kernel
        if kernel is not None:
            kernel.visible("read", self._cond.name, touching(self._cond._lock.name, False))

    @property
    def broken(self) -> bool:
        self._look()
        return super().broken

    @property
    def n_waiting(self) -> int:
        self._look()
        return super().n_waiting
