"""`threading`'s Lock, RLock, Condition, Semaphore, BoundedSemaphore, Event and Barrier as models.

Law: a primitive here is its state and nothing else; no task ever blocks in one. An operation first stops at
`Kernel.visible`, with the footprint that says what it depends on, and is done when it is possible. Each
model does what CPython 3.11 to 3.13 does: a condition wakes its waiters in the order in which they came, and
never without a reason; whoever was woken by an event's `set` goes on even if the event is cleared meanwhile;
a barrier is the standard library's own, over a condition of ours.

Locks that the standard library makes for itself are `quiet`: taking one is no choice point, because what
such a lock protects is modelled as a whole elsewhere (queues, futures). It is still never blocked on; and if
one is ever found taken, those made at the same line are no longer quiet, and what was explored is repeated.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.runtime.places import place_of
from possibly.probes import port

_unowned = 0


def name_for(kind: str, library: bool = False) -> str:
    """A name for a new thing: who made it, and a counter of its maker.

    What the standard library makes for itself is counted apart: some of it is made when a module is imported,
    which happens in the first execution only.
    """
    global _unowned
    kernel = running.kernel
    if kernel is None:
        _unowned += 1
        return f"_:{kind}{_unowned}"
    task = kernel.current
    if library:
        task.hidden += 1
        return f"{task.name}:~{kind}{task.hidden}"
    task.things += 1
    return f"{task.name}:{kind}{task.things}"


def label(name: str, kind: str, depth: int = 2) -> None:
    """Until a variable is known, a thing is called by the line that made it."""
    kernel = running.kernel
    if kernel is not None:
        place = place_of(sys._getframe(depth))
        kernel.labels.setdefault(name, f"the {kind} of {place}" if place else f"a {kind}")


def _maker() -> tuple[str, bool]:
    """The line that makes a primitive, and whether it is the standard library's."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename.startswith(port._OWN):
        frame = frame.f_back
    file = frame.f_code.co_filename
    return f"lock@{file}:{frame.f_lineno}", port.is_library(file)


class Quiet:
    """Whether a primitive is the standard library's own, and was never found taken: see the head."""

    quiet: bool
    family = ""

    def _settle(self) -> None:
        self.family, library = _maker()
        memory = accesses.memory
        self.quiet = library and (memory is None or self.family not in memory.visible)

    def _found_taken(self) -> None:
        """It orders tasks after all: from the next execution on it is a choice point."""
        memory = accesses.memory
        if self.quiet and memory is not None:
            memory.racy[self.family] = None
            memory.overflowed.add(self.family)


class Lock(Quiet):
    """A lock that anybody may release."""

    kind = "lock"

    def __init__(self) -> None:
        self._settle()
        self.name = name_for(self.kind, self.quiet)
        self.owner: Task | None = None
        self.free = True
        self.taken_at = ""
        if not self.quiet:
            label(self.name, self.kind)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        kernel = running.kernel
        if kernel is None:
            found, self.free = self.free, False
            return found
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if self.quiet and self.free:
            self._take(kernel)
            return True
        return self._acquire(kernel, blocking, None if timeout < 0 else timeout)

    def _acquire(self, kernel: Kernel, blocking: bool, timeout: float | None) -> bool:
        self._found_taken()
        ready = self.is_free if blocking else None
        footprint = (Access(self.name, True),)
        if not kernel.visible("acquire", self.name, footprint, None, ready, timeout, self.why):
            return False
        if not self.free:
            kernel.did((Access(self.name, False),))
            return False
        self._take(kernel)
        return True

    def is_free(self) -> bool:
        return self.free

    def _take(self, kernel: Kernel) -> None:
        self.free = False
        self.owner = kernel.current
        if not self.quiet:
            self.taken_at = place_of(sys._getframe(2))
            kernel.current.held.append(self)

    def _open(self, kernel: Kernel) -> None:
        kernel.opened(("acquire", self.name), ("wake", self.name))

    def _give(self, kernel: Kernel) -> None:
        if self.owner is not None and self in self.owner.held:
            self.owner.held.remove(self)
        self.free = True
        self.owner = None

    def release(self) -> None:
        kernel = running.kernel
        if self.free:
            raise RuntimeError("release unlocked lock")
        if kernel is None:
            self.free = True
            return
        if not self.quiet:
            kernel.visible("release", self.name, (Access(self.name, True),))
            if self.free:
                raise RuntimeError("release unlocked lock")
            self._open(kernel)
        self._give(kernel)

    def locked(self) -> bool:
        kernel = running.kernel
        if kernel is not None and not self.quiet:
            kernel.visible("locked", self.name, (Access(self.name, False),))
        return not self.free

    def why(self) -> dict[str, Any]:
        return {"for": [self.owner.name] if self.owner is not None else [], "since": self.taken_at}

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _at_fork_reinit(self) -> None:
        self.free, self.owner = True, None

    def __repr__(self) -> str:
        return f"<{'unlocked' if self.free else 'locked'} lock {self.name}>"

    # What a condition needs of its lock.

    def mine(self) -> bool:
        return not self.free

    def let_go(self, kernel: Kernel) -> Any:
        self._give(kernel)
        return None

    def take_again(self, kernel: Kernel, saved: Any) -> None:
        self._take(kernel)


class RLock(Lock):
    """A lock that its owner may take again; only the outermost taking is a step."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        kernel = running.kernel
        if kernel is None or (not self.free and self.owner is kernel.current):
            self.depth += 1
            return True
        if self.quiet and self.free:
            self._take(kernel)
        elif not self._acquire(kernel, blocking, None if timeout < 0 else timeout):
            return False
        self.depth = 1
        return True

    __enter__ = acquire

    def release(self) -> None:
        kernel = running.kernel
        if kernel is None:
            self.depth -= 1
            return
        if self.free or self.owner is not kernel.current:
            raise RuntimeError("cannot release un-acquired lock")
        if self.depth > 1:
            self.depth -= 1
            return
        if not self.quiet:
            kernel.visible("release", self.name, (Access(self.name, True),))
            self._open(kernel)
        self.depth = 0
        self._give(kernel)

    def _is_owned(self) -> bool:
        return self.mine()

    def mine(self) -> bool:
        kernel = running.kernel
        return self.depth > 0 if kernel is None else not self.free and self.owner is kernel.current

    def let_go(self, kernel: Kernel) -> Any:
        depth, self.depth = self.depth, 0
        self._give(kernel)
        return depth

    def take_again(self, kernel: Kernel, saved: Any) -> None:
        self._take(kernel)
        self.depth = saved

    def __repr__(self) -> str:
        return f"<{'unlocked' if self.free else 'locked'} reentrant lock {self.name}>"


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
            kernel.visible(
                "acquire", lock.name, (Access(lock.name, True),), None, lock.is_free, None, lock.why
            )
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
        until = None if timeout is None or kernel is None else kernel.current.time + timeout
        result = predicate()
        while not result:
            left = None if until is None or kernel is None else until - kernel.current.time
            if left is not None and left <= 0:
                break
            self.wait(left)
            result = predicate()
        return result

    def notify(self, n: int = 1) -> None:
        kernel = running.kernel
        if not self._is_owned():
            raise RuntimeError("cannot notify on un-acquired lock")
        if kernel is None:
            return
        if not self.quiet:
            kernel.visible("notify", self.name, (Access(self.name, True),))
            if self.waiters and not self.woken:
                kernel.opened(("wake", self.name))
        self.last_notify = place_of(sys._getframe(1))
        for _ in range(min(n, len(self.waiters))):
            self.waiters.popleft().woken = True
            self.woken += 1

    def notify_all(self) -> None:
        self.notify(len(self.waiters))

    notifyAll = notify_all  # noqa: N815 - the old name

    def _at_fork_reinit(self) -> None:
        self._lock._at_fork_reinit()
        self.waiters.clear()


class Semaphore(Quiet):
    """A number of units."""

    _bound: int | None = None

    def __init__(self, value: int = 1) -> None:
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._settle()
        self.name = name_for("semaphore", self.quiet)
        self._value = value
        self.holders: list[Task] = []
        if not self.quiet:
            label(self.name, "semaphore")

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        kernel = running.kernel
        if not blocking and timeout is not None:
            raise ValueError("can't specify timeout for non-blocking acquire")
        if kernel is not None and not (self.quiet and self._value > 0):
            ready = self._has_units if blocking else None
            footprint = (Access(self.name, True),)
            if not kernel.visible("take", self.name, footprint, None, ready, timeout, self.why):
                return False
        if self._value == 0:
            if kernel is not None:
                kernel.did((Access(self.name, False),))
            return False
        self._value -= 1
        if kernel is not None:
            self.holders.append(kernel.current)
        return True

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _has_units(self) -> bool:
        return self._value > 0

    def why(self) -> dict[str, Any]:
        return {"for": list(dict.fromkeys(task.name for task in self.holders))}

    def release(self, n: int = 1) -> None:
        if n < 1:
            raise ValueError("n must be one or more")
        kernel = running.kernel
        if kernel is not None and not self.quiet:
            kernel.visible("give", self.name, (Access(self.name, True),))
        if self._bound is not None and self._value + n > self._bound:
            raise ValueError("Semaphore released too many times")
        if kernel is not None and self._value == 0:
            kernel.opened(("take", self.name))
        self._value += n
        if kernel is not None and kernel.current in self.holders:
            self.holders.remove(kernel.current)


class BoundedSemaphore(Semaphore):
    def __init__(self, value: int = 1) -> None:
        super().__init__(value)
        self._bound = value


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
            kernel.visible(kind, self.name, (Access(self.name, writes),))

    def is_set(self) -> bool:
        self._step("is_set", False)
        return self._flag

    isSet = is_set  # noqa: N815 - the old name

    def set(self) -> None:
        self._step("set", True)
        if running.kernel is not None and self.waiters and not self.woken:
            running.kernel.opened(("wake", self.name))
        self.last_set = place_of(sys._getframe(1))
        self._flag = True
        for waiter in self.waiters:
            waiter.woken = True
        self.woken += len(self.waiters)
        self.waiters.clear()

    def clear(self) -> None:
        self._step("clear", True)
        self._flag = False

    def wait(self, timeout: float | None = None) -> bool:
        kernel = running.kernel
        if kernel is None or (self.quiet and self._flag):
            return self._flag
        kernel.visible("await", self.name, (Access(self.name, False),))
        if self._flag:
            return True
        waiter = _Waiter(kernel.current)
        self.waiters.append(waiter)
        found = kernel.visible(
            "wake", self.name, (Access(self.name, False),), None,
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


_PlainBarrier = threading.Barrier


class Barrier(_PlainBarrier):
    """The standard library's code, over a condition of ours."""

    def __init__(
        self, parties: int, action: Callable[[], None] | None = None, timeout: float | None = None
    ) -> None:
        super().__init__(parties, action, timeout)
        lock = Lock()
        condition = Condition(lock)
        lock.quiet = condition.quiet = False
        self._cond: Any = condition
        label(condition.name, "barrier")
        label(lock.name, "lock of the barrier")
