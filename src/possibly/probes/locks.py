"""`threading`: Lock, RLock, Condition, Semaphore, BoundedSemaphore, Event, Barrier.

Law: what gives order is told while it is atomic. A release is told before the lock is free, an acquire after
it is held, so what is told about one lock stands in the order in which it happened. The standard library's
own
locks are left alone (`port.called_by_library`). Locks say that they are those of `_thread`: libraries ask.

`Condition.wait`, `Event.wait` and `Event.set` repeat the few lines of the standard library (3.11 to 3.13),
because
who woke whom is known only inside.
"""

from __future__ import annotations

import copyreg
import threading
from collections.abc import Callable
from itertools import islice
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches

_lock = threading.Lock
_rlock = threading.RLock
_bounded = threading.BoundedSemaphore
"""The library never makes one for itself; if it did, it would be half of ours."""


class _OfThreads(type):
    """A class that says it is one of `_thread`, and is found again where it really is."""


def _class_called(name: str) -> _OfThreads:
    found: _OfThreads = globals()[name]
    return found


copyreg.pickle(_OfThreads, lambda cls: (_class_called, (cls.__name__,)))


class Lock(metaclass=_OfThreads):
    """A lock that tells when it is acquired and released."""

    __slots__ = ("__weakref__", "_lock", "number")
    __module__ = "_thread"
    is_recorded = True

    def __new__(cls) -> Any:
        return _lock() if port.called_by_library() else super().__new__(cls)

    def __init__(self) -> None:
        self._lock = _lock()
        self.number = port.number()
        port.after("new", self.number, "Lock")

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        found = self._lock.acquire(blocking, timeout)
        if found:
            port.after("acquire", self.number, None if blocking and timeout < 0 else port.TRIED)
        elif port.thorough:
            port.after("look", self.number)
        return found

    def release(self) -> None:
        if self._lock.locked():
            port.before("release", self.number)
        self._lock.release()

    def locked(self) -> bool:
        if port.thorough:
            port.after("look", self.number)
        found = self._lock.locked()
        if not found:
            port.after("free", self.number)
        return found

    def __enter__(self) -> bool:
        self._lock.acquire()
        port.after("acquire", self.number)
        return True

    def __exit__(self, *_: object) -> None:
        port.before("release", self.number)
        self._lock.release()

    def _at_fork_reinit(self) -> None:
        self._lock._at_fork_reinit()  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return repr(self._lock)


class RLock(metaclass=_OfThreads):
    """A lock that its owner may acquire again; only the outermost acquire and release give order."""

    __slots__ = ("__weakref__", "_depth", "_lock", "number")
    __module__ = "_thread"
    is_recorded = True

    def __new__(cls) -> Any:
        return _rlock() if port.called_by_library() else super().__new__(cls)

    def __init__(self) -> None:
        self._lock: Any = _rlock()
        self._depth = 0
        self.number = port.number()
        port.after("new", self.number, "RLock")

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        found: bool = self._lock.acquire(blocking, timeout)
        if found:
            self._depth += 1
            if self._depth == 1:
                port.after("acquire", self.number, None if blocking and timeout < 0 else port.TRIED)
        elif port.thorough:
            port.after("look", self.number)
        return found

    __enter__ = acquire

    def release(self) -> None:
        if self._lock._is_owned():
            self._depth -= 1
            if self._depth == 0:
                port.before("release", self.number)
        self._lock.release()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _is_owned(self) -> bool:
        found: bool = self._lock._is_owned()
        return found

    def _recursion_count(self) -> int:
        return self._depth if self._is_owned() else 0

    def _release_save(self) -> Any:
        depth, self._depth = self._depth, 0
        port.before("release", self.number)
        return depth, self._lock._release_save()

    def _acquire_restore(self, state: Any) -> None:
        self._lock._acquire_restore(state[1])
        self._depth = state[0]
        port.after("acquire", self.number)

    def _at_fork_reinit(self) -> None:
        self._depth = 0
        self._lock._at_fork_reinit()

    def __repr__(self) -> str:
        return repr(self._lock)


def _recorded_rlock() -> RLock:
    lock: RLock = object.__new__(RLock)
    lock.__init__()  # type: ignore[misc]
    return lock


class Condition(threading.Condition):
    """Tells which notification caused which wake-up."""

    _waiters: Any

    def __init__(self, lock: Any = None) -> None:
        self.number = port.number()
        port.after("new", self.number, "Condition")
        own: Any = _recorded_rlock() if lock is None else lock
        super().__init__(own)

    def wait(self, timeout: float | None = None) -> bool:
        if not self._is_owned():  # type: ignore[attr-defined]
            raise RuntimeError("cannot wait on un-acquired lock")
        waiter = _Waiter()
        waiter.acquire()
        self._waiters.append(waiter)
        saved = self._release_save()  # type: ignore[attr-defined]
        got_it = False
        try:
            if timeout is None:
                waiter.acquire()
                got_it = True
            else:
                got_it = waiter.acquire(True, timeout) if timeout > 0 else waiter.acquire(False)
            return got_it
        finally:
            self._acquire_restore(saved)  # type: ignore[attr-defined]
            if got_it:
                port.after("wake", waiter.number, port.WAITS if port.thorough and timeout is None else None)
            else:
                try:
                    self._waiters.remove(waiter)
                except ValueError:
                    pass

    def notify(self, n: int = 1) -> None:
        if not self._is_owned():  # type: ignore[attr-defined]
            raise RuntimeError("cannot notify on un-acquired lock")
        woken = [waiter.number for waiter in islice(self._waiters, n)]
        port.before("notify", self.number, woken)
        super().notify(n)


class _Waiter:
    """What one wait sleeps on: a lock of the library's kind with a number."""

    __slots__ = ("_lock", "acquire", "number", "release")

    def __init__(self) -> None:
        self._lock = _lock()
        self.acquire, self.release = self._lock.acquire, self._lock.release
        self.number = port.number()


class Semaphore(threading.Semaphore):
    """Tells each unit that is given and taken; the first units were there from the beginning."""

    _value: int

    def __init__(self, value: int = 1) -> None:
        super().__init__(value)
        self.number = port.number()
        port.after("new", self.number, type(self).__name__)
        port.after("units", self.number, value)

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        found = super().acquire(blocking, timeout)
        if found:
            port.after("take", self.number, None if blocking and timeout is None else port.TRIED)
        elif port.thorough:
            port.after("look", self.number)
        return found

    __enter__ = acquire

    def release(self, n: int = 1) -> None:
        self._check(n)
        port.before("give", self.number, n)
        super().release(n)

    def _check(self, n: int) -> None:
        """Nothing is told of a release that will be refused."""
        if n < 1:
            raise ValueError("n must be one or more")


class BoundedSemaphore(Semaphore):
    def __init__(self, value: int = 1) -> None:
        super().__init__(value)
        self._initial_value = value

    __repr__ = _bounded.__repr__

    def _check(self, n: int) -> None:
        super()._check(n)
        if self._value + n > self._initial_value:
            raise ValueError("Semaphore released too many times")


class Event(threading.Event):
    """Tells which `set` a successful wait relies on: the one that made the flag true."""

    _cond: threading.Condition
    _flag: bool

    def __init__(self) -> None:
        super().__init__()
        self.number = port.number()
        self._cause = 0
        port.after("new", self.number, "Event")

    def set(self) -> None:
        with self._cond:
            if not self._flag:
                self._cause = port.number()
                port.after("set", self._cause, self.number)
            self._flag = True
            self._cond.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        with self._cond:
            found = self._flag or self._cond.wait(timeout)
            if found:
                port.after("await", self._cause, port.WAITS if port.thorough and timeout is None else None)
            elif port.thorough:
                port.after("look", self.number)
            return found

    def is_set(self) -> bool:
        with self._cond:
            if self._flag:
                port.after("await", self._cause)
            elif port.thorough:
                port.after("look", self.number)
            return self._flag

    isSet = is_set  # noqa: N815 - the old name


class Barrier(threading.Barrier):
    """All who arrive meet: one joint event. Whoever breaks it comes before the waits that fail end."""

    def __init__(
        self, parties: int, action: Callable[[], None] | None = None, timeout: float | None = None
    ) -> None:
        self.number = port.number()
        self._done = port.number()
        self._breaking = port.number()
        port.after("new", self.number, "Barrier")
        super().__init__(parties, action and self._told(action), timeout)

    def _told(self, action: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            action()
            port.before("leave", self._done)

        return run

    def wait(self, timeout: float | None = None) -> int:
        port.before("arrive", self.number, self.parties)
        try:
            found = super().wait(timeout)
        except BaseException:
            port.after("depart", self.number)
            port.after("learn", self._breaking)
            raise
        if self._action is not None:  # type: ignore[attr-defined]
            port.after("passed", self._done)
        return found

    def _break(self) -> None:
        port.before("resolve", self._breaking)
        super()._break()  # type: ignore[misc]

    def reset(self) -> None:
        if self.n_waiting:
            port.before("resolve", self._breaking)
        super().reset()


def install(patches: Patches) -> None:
    patches.put(threading, "Lock", Lock)
    patches.put(threading, "RLock", RLock)
    for kind in (Condition, Semaphore, BoundedSemaphore, Event, Barrier):
        patches.put(threading, kind.__name__, _for_users(kind, getattr(threading, kind.__name__)))


def _for_users(recorded: type, plain: type) -> type:
    """A class that makes plain primitives for the standard library and recorded ones for everybody else."""

    class Chooser(type(recorded)):  # type: ignore[misc]
        def __call__(cls, *arguments: Any, **options: Any) -> Any:
            if cls is chosen and plain is not _bounded and port.called_by_library():
                return plain(*arguments, **options)
            return super().__call__(*arguments, **options)

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, plain) if cls is chosen else super().__instancecheck__(instance)

    chosen = Chooser(recorded.__name__, (recorded,), {"__module__": plain.__module__})
    return chosen
