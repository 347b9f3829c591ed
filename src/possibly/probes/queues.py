"""`queue`: Queue, LifoQueue, PriorityQueue, SimpleQueue. A put is a message to the get that takes the item.

An item is followed by its place in a plain queue, by its identity in the others: equal objects put twice are
not told apart, the older one counts as taken first. `join` learns of every `task_done`.
"""

from __future__ import annotations

import queue
from _queue import SimpleQueue as _SimpleQueue
from collections import deque
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches


def install(patches: Patches) -> None:
    kind: Any = queue.Queue
    for name, wrap in (("__init__", _init), ("put", _put), ("get", _get)):
        patches.put(kind, name, wrap(getattr(kind, name)))
    for name, wrap in (("task_done", _task_done), ("join", _join)):
        patches.put(kind, name, wrap(getattr(kind, name)))
    patches.put(queue, "SimpleQueue", SimpleQueue)


class _Messages:
    """The messages that lie in a queue; used while the queue's own lock is held."""

    __slots__ = ("_bounded", "_by_item", "_freed", "_line", "_places", "done", "number")

    def __init__(self, in_line: bool, maxsize: int) -> None:
        self.number = port.number()
        self.done = port.number()
        self._places = maxsize
        self._bounded = maxsize > 0
        self._freed: deque[int] = deque()
        """Messages that were taken out of a full queue's places, which later puts use again."""
        self._line: deque[int] | None = deque() if in_line else None
        self._by_item: dict[int, deque[int]] = {}

    def sent(self, item: object) -> None:
        message = port.number()
        port.before("put", message, (self.number, self._room()))
        if self._line is not None:
            self._line.append(message)
        else:
            self._by_item.setdefault(id(item), deque()).append(message)

    def _room(self) -> int:
        """The message whose place this one takes, 0 for a place that was never used."""
        if self._places > 0:
            self._places -= 1
            return 0
        return self._freed.popleft() if self._freed else 0

    def received(self, item: object) -> None:
        line = self._line if self._line is not None else self._by_item.get(id(item))
        if line:
            message = line.popleft()
            port.after("get", message, self.number)
            if self._bounded:
                self._freed.append(message)
        if line is not self._line and not line:
            self._by_item.pop(id(item), None)


def _init(plain: Any) -> Any:
    def __init__(self: Any, maxsize: int = 0) -> None:  # noqa: N807
        plain(self, maxsize)
        if port.called_by_library():
            return
        kind = type(self)
        messages = self._possibly = _Messages(kind._get is queue.Queue._get, maxsize)
        port.after("new", messages.number, kind.__name__)
        self._put = _told_put(self._put, messages)
        self._get = _told_get(self._get, messages)

    return __init__


def _told_put(plain: Any, messages: _Messages) -> Any:
    def _put(item: object) -> None:
        messages.sent(item)
        plain(item)

    return _put


def _told_get(plain: Any, messages: _Messages) -> Any:
    def _get() -> object:
        item = plain()
        messages.received(item)
        return item

    return _get


def _put(plain: Any) -> Any:
    def put(self: Any, item: object, block: bool = True, timeout: float | None = None) -> None:
        if port.waits:
            port.before("send", 0)
        plain(self, item, block, timeout)

    return put


def _get(plain: Any) -> Any:
    def get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        if port.waits:
            port.before("receive", 0)
        return plain(self, block, timeout)

    return get


def _task_done(plain: Any) -> Any:
    def task_done(self: Any) -> None:
        if hasattr(self, "_possibly") and self.unfinished_tasks > 0:
            port.before("leave", self._possibly.done)
        plain(self)

    return task_done


def _join(plain: Any) -> Any:
    def join(self: Any) -> None:
        plain(self)
        if hasattr(self, "_possibly"):
            port.after("passed", self._possibly.done)

    return join


class SimpleQueue(_SimpleQueue):  # type: ignore[type-arg]
    """Each item travels with the number of its message."""

    __slots__ = ("number",)

    def __new__(cls) -> Any:
        return _SimpleQueue() if port.called_by_library() else super().__new__(cls)

    def __init__(self) -> None:
        self.number = port.number()
        port.after("new", self.number, "SimpleQueue")

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        message = port.number()
        port.before("put", message, (self.number, 0))
        super().put((message, item))

    def put_nowait(self, item: Any) -> None:
        self.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        if port.waits:
            port.before("receive", 0)
        message, item = super().get(block, timeout)
        port.after("get", message, self.number)
        return item

    def get_nowait(self) -> Any:
        return self.get(False)
