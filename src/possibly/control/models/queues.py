"""`queue`: Queue, LifoQueue, PriorityQueue and SimpleQueue, each operation one step.

In a queue that keeps the order of its items, the k-th put and the j-th get are independent unless j = k (the
get takes what the put brought) or the queue is bounded and the put needs the room that the get makes; puts
among themselves, and gets among themselves, depend on each other. Other queues are one thing as a whole.
Which of several waiting tasks gets an item is open, as it is in the standard library.

Law: an operation is one step only where nobody can see that it is not. A program that uses what a queue is
made of (its lock, its conditions, its container), that overrides what runs under the lock, whose items
compare by code in Python, that shuts a queue down, or that gives another bound to one at which somebody
waits, gets the queue of the library, executed and watched like the program's own code (`Memory.open_up`). Of
subclasses in packages `_init`, `_put`, `_get` and `_qsize` run inside the step.
"""

from __future__ import annotations

import queue
import sys
import time
from types import FunctionType
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.loading import packages
from possibly.control.models.primitives import Condition, Lock, label, name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.places import place_of
from possibly.control.runtime.things import class_has
from possibly.probes import port
from possibly.probes.patching import Patches
from possibly.recorder.snapshot import snapshot

_Plain: Any = queue.Queue


class State:
    """What the model knows of one queue."""

    __slots__ = ("done", "in_line", "name", "puts", "taken")

    def __init__(self, in_line: bool) -> None:
        self.name = name_for("queue")
        self.in_line = in_line
        self.puts = 0
        self.taken = 0
        self.done = 0

    def put(self, bound: int) -> tuple[Access, ...]:
        if not self.in_line:
            return (Access(self.name, True), self.bound())
        found = [Access(f"{self.name}.tail", True), Access(f"{self.name}#{self.puts}", True), self.bound()]
        if bound > 0:
            found.append(Access(f"{self.name}.room{self.puts - bound}", False))
        return tuple(found)

    def get(self, bound: int) -> tuple[Access, ...]:
        if not self.in_line:
            return (Access(self.name, True),)
        found = [Access(f"{self.name}.head", True), Access(f"{self.name}#{self.taken}", False)]
        if bound > 0:
            found.append(Access(f"{self.name}.room{self.taken}", True))
        return tuple(found)

    def bound(self, writes: bool = False) -> Access:
        """How many items it may have."""
        return Access(f"{self.name}.bound", writes)

    def finish(self) -> tuple[Access, ...]:
        """As many items as are told to be done were put before."""
        put = f"{self.name}#{self.done}" if self.in_line else self.name
        return (Access(f"{self.name}.unfinished", True), Access(put, False))

    def unfinished(self) -> tuple[Access, ...]:
        """How many items were put and not yet done."""
        put = f"{self.name}.tail" if self.in_line else self.name
        return (Access(f"{self.name}.unfinished", False), Access(put, False))

    def look(self) -> tuple[Access, ...]:
        if not self.in_line:
            return (Access(self.name, False),)
        return (Access(f"{self.name}.head", False), Access(f"{self.name}.tail", False))


class Queue(_Plain):  # type: ignore[misc]
    """The methods that `queue.Queue` gets while it is controlled."""

    def _controlled_init(self: Any, maxsize: int = 0) -> None:
        self.maxsize = maxsize
        if _is_overridden(type(self)):
            _open_up()
        _inside(running.kernel, lambda: self._init(maxsize))
        self.unfinished_tasks = 0
        adopt(self)
        label(self._state.name, "queue")

    def _controlled_put(self: Any, item: Any, block: bool = True, timeout: float | None = None) -> None:
        if timeout is not None and timeout < 0 and block:
            raise ValueError("'timeout' must be a non-negative number")
        kernel, state = running.kernel, self._state
        if not state.in_line and _compares_by_code(item):
            _open_up()
        if kernel is not None:
            _check_open(self)
            at = place_of(sys._getframe(1))
            found = kernel.visible(
                "put", state.name, state.put(self.maxsize), at,
                (lambda: not _is_full(self)) if block else None, timeout, None,
                lambda: Operation("put", state.name, state.put(self.maxsize), at),
            )  # fmt: skip
            _check_open(self)
            if not found or _is_full(self):
                kernel.did(tuple(Access(each.thing, False) for each in state.put(self.maxsize)))
                raise queue.Full
            kernel.did(state.put(self.maxsize), {"value": snapshot(item)})
            if state.in_line or not _size(self):
                kernel.opened(("get", f"{state.name}#{state.puts}" if state.in_line else state.name))
        elif _is_full(self):
            raise queue.Full
        _inside(kernel, lambda: self._put(item))
        state.puts += 1
        self.unfinished_tasks += 1

    def _controlled_get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        if timeout is not None and timeout < 0 and block:
            raise ValueError("'timeout' must be a non-negative number")
        kernel, state = running.kernel, self._state
        if kernel is not None:
            at = place_of(sys._getframe(1))
            found = kernel.visible(
                "get", state.name, state.get(self.maxsize), at,
                (lambda: _size(self) > 0 or _is_shut(self)) if block else None, timeout, None,
                lambda: Operation("get", state.name, state.get(self.maxsize), at),
            )  # fmt: skip
            if _size(self) == 0 and _is_shut(self):
                raise queue.ShutDown  # type: ignore[attr-defined]
            if not found or _size(self) == 0:
                kernel.did(tuple(Access(each.thing, False) for each in state.get(self.maxsize)))
                raise queue.Empty
            kernel.did(state.get(self.maxsize))
            if self.maxsize > 0 and (state.in_line or _is_full(self)):
                kernel.opened(("put", f"{state.name}.room{state.taken}" if state.in_line else state.name))
        elif _size(self) == 0:
            raise queue.Empty
        item = _inside(kernel, self._get)
        state.taken += 1
        if kernel is not None:
            kernel.tell({"value": snapshot(item)})
        return item

    def _controlled_task_done(self: Any) -> None:
        kernel, state = running.kernel, self._state
        if kernel is not None:
            kernel.visible("task_done", state.name, state.finish())
            kernel.did(state.finish())
        if self.unfinished_tasks <= 0:
            raise ValueError("task_done() called too many times")
        self.unfinished_tasks -= 1
        state.done += 1

    def _controlled_join(self: Any) -> None:
        kernel, state = running.kernel, self._state
        if kernel is not None:
            is_done = lambda: self.unfinished_tasks == 0  # noqa: E731
            kernel.visible("join queue", state.name, state.unfinished(), None, is_done)

    def _look(self: Any, kind: str, *more: Access) -> None:
        kernel, state = running.kernel, self._state
        if kernel is not None and not kernel.quiet:
            kernel.visible(kind, state.name, (*state.look(), *more), place_of(sys._getframe(2)))

    def _controlled_qsize(self: Any) -> int:
        Queue._look(self, "qsize")
        found: int = _size(self)
        return found

    def _controlled_empty(self: Any) -> bool:
        Queue._look(self, "empty")
        return not _size(self)

    def _controlled_full(self: Any) -> bool:
        Queue._look(self, "full", self._state.bound())
        return _is_full(self)


def install(patches: Patches) -> None:
    if packages.is_watched("queue"):
        patches.put(queue, "time", time.monotonic)  # which it got before that was ours
        return
    for name, method in METHODS.items():
        patches.put(queue.Queue, name, method)
    if hasattr(_Plain, "shutdown"):  # of newer interpreters
        patches.put(queue.Queue, "shutdown", _opening(_Plain.shutdown))
    patches.put(queue, "SimpleQueue", SimpleQueue)


def adopt(self: Any) -> None:
    """Gives a queue what its operations need here, which one that was made before has not."""
    if not packages.is_watched("queue"):
        kind = type(self)
        self._state = State(kind._get is queue.Queue._get and kind._put is queue.Queue._put)
    self.mutex = Lock()
    for name in ("not_empty", "not_full", "all_tasks_done"):
        setattr(self, name, Condition(self.mutex))


def _opening(plain: Any) -> Any:
    """A method that only the queue of the library has."""

    def shutdown(self: Any, immediate: bool = False) -> None:
        _open_up()
        plain(self, immediate)

    return shutdown


def _open_up() -> None:
    now = accesses.active()
    if now is not None:
        now[1].open_up(now[0], "queue")


def _is_overridden(kind: type) -> bool:
    """Whether the program itself says what is done under the lock."""
    found = [getattr(getattr(kind, name), "__code__", None) for name in _UNDER_LOCK]
    return any(code is not None and port.is_user_file(code.co_filename) for code in found)


_UNDER_LOCK = ("_init", "_put", "_get", "_qsize")


def _compares_by_code(item: Any) -> bool:
    """Whether to find the place of an item in a queue with priorities runs code in Python."""
    if type(item) in (tuple, list):
        return any(_compares_by_code(each) for each in item)
    return any(
        class_has(type(item), name) and isinstance(getattr(type(item), name), FunctionType)
        for name in ("__lt__", "__eq__")
    )


def parts_of(self: Any, name: str, writes: bool) -> tuple[Access, ...]:
    """What a program touches that uses an attribute of a queue itself; empty: an attribute like others."""
    state: State | None = self.__dict__.get("_state")
    if state is None:
        return ()
    if name == "maxsize":
        if writes:
            _wait_on(self, state)
        return (state.bound(writes),)
    if name == "unfinished_tasks":
        return state.finish() if writes else state.unfinished()
    return ()


def _wait_on(self: Any, state: State) -> None:
    """Who waits to put something is not woken by more room, but by the next `get`: that is not modelled."""
    kernel = running.kernel
    if kernel is None or kernel.alone or not _is_full(self):
        return
    others = [task for task in kernel.tasks if task is not kernel.current]
    pending = [task.operation for task in others if task.ready is not None]
    if any(each is not None and each.kind == "put" and each.thing == state.name for each in pending):
        _open_up()


def _size(self: Any) -> int:
    is_own = type(self)._qsize is not _Plain._qsize
    found: int = _inside(running.kernel, self._qsize) if is_own else self._qsize()
    return found


def _is_full(self: Any) -> bool:
    return bool(0 < self.maxsize <= _size(self))


def _is_shut(self: Any) -> bool:
    return getattr(self, "is_shutdown", False)


def _check_open(self: Any) -> None:
    if _is_shut(self):
        raise queue.ShutDown  # type: ignore[attr-defined]


def _inside(kernel: Kernel | None, action: Any) -> Any:
    """Code of a subclass runs inside the step: nobody else can see what it does."""
    if kernel is None:
        return action()
    kernel.quiet += 1
    try:
        return action()
    finally:
        kernel.quiet -= 1


METHODS = {
    "__init__": Queue._controlled_init, "put": Queue._controlled_put, "get": Queue._controlled_get,
    "task_done": Queue._controlled_task_done, "join": Queue._controlled_join,
    "qsize": Queue._controlled_qsize, "empty": Queue._controlled_empty, "full": Queue._controlled_full,
}  # fmt: skip


class SimpleQueue(_Plain):  # type: ignore[misc]
    """Unbounded, and without `join`."""

    def __init__(self) -> None:
        super().__init__(0)

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        super().put(item)

    def put_nowait(self, item: Any) -> None:
        super().put(item)

    def get_nowait(self) -> Any:
        return self.get(False)
