"""Locks and their like between processes: models of the first process (`runtime.primitives`), asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from possibly.control.models import primitives
from possibly.control.world.processes.shared import Shared, makers


class _Acquired(Shared):
    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        found: bool = self._call("acquire", block, self._limit(block, timeout))
        return found

    def _limit(self, block: bool, timeout: float | None) -> float | None:
        return max(timeout, 0.0) if block and timeout is not None else None

    def release(self) -> None:
        self._call("release")

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Lock(_Acquired):
    word = "lock"

    def _limit(self, block: bool, timeout: float | None) -> float:
        return max(timeout, 0.0) if block and timeout is not None else -1


class RLock(Lock):
    word = "rlock"


class Semaphore(_Acquired):
    word = "semaphore"

    def __init__(self, value: int = 1) -> None:
        super().__init__(value)

    def get_value(self) -> int:
        found: int = self._call("get_value")
        return found


class BoundedSemaphore(Semaphore):
    word = "bounded semaphore"


class Event(Shared):
    word = "event"

    def is_set(self) -> bool:
        found: bool = self._call("is_set")
        return found

    def set(self) -> None:
        self._call("set")

    def clear(self) -> None:
        self._call("clear")

    def wait(self, timeout: float | None = None) -> bool:
        found: bool = self._call("wait", timeout)
        return found


class Condition(_Acquired):
    word = "condition"

    def __init__(self, lock: Any = None) -> None:
        super().__init__(lock._number if lock is not None else None)

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        found: bool = self._call("acquire", block, max(timeout, 0.0) if block and timeout is not None else -1)
        return found

    def wait(self, timeout: float | None = None) -> bool:
        found: bool = self._call("wait", timeout)
        return found

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        result = predicate()
        while not result:
            if not self.wait(timeout):
                return predicate()
            result = predicate()
        return result

    def notify(self, n: int = 1) -> None:
        self._call("notify", n)

    def notify_all(self) -> None:
        self._call("notify_all")


class Barrier(Shared):
    word = "barrier"

    def __init__(self, parties: int, action: Any = None, timeout: float | None = None) -> None:
        super().__init__(parties, timeout)
        self._action, self.parties = action, parties

    def wait(self, timeout: float | None = None) -> int:
        index: int = self._call("wait", timeout)
        if index == 0 and self._action is not None:
            self._action()
        return index

    def abort(self) -> None:
        self._call("abort")

    def reset(self) -> None:
        self._call("reset")


class _Counted(primitives.Semaphore):
    def get_value(self) -> int:
        return self._value


class _BoundedCounted(primitives.BoundedSemaphore):
    def get_value(self) -> int:
        return self._value


def _condition(number: int | None) -> Any:
    from possibly.control.world.processes.shared import objects

    return primitives.Condition(objects[number] if number is not None else None)


makers.update(
    {
        "lock": primitives.Lock,
        "rlock": primitives.RLock,
        "semaphore": _Counted,
        "bounded semaphore": _BoundedCounted,
        "event": primitives.Event,
        "condition": _condition,
        "barrier": lambda parties, timeout: primitives.Barrier(parties, None, timeout),
    }
)
