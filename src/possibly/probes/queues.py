"""`queue`: Queue, LifoQueue, PriorityQueue, SimpleQueue. A put is a message to the get that takes the item.

An item is followed by its place in a plain queue, by its identity in the others: one object put twice is not
told apart, the older one counts as taken first. `join` learns of every `task_done`.
"""

from __future__ import annotations

import queue
from _queue import SimpleQueue as _SimpleQueue
from _thread import get_ident
from collections import deque
from collections.abc import Callable
from itertools import repeat
from typing import Any

from possibly.compiled import built
from possibly.probes import port
from possibly.probes.patching import Patches

_line: Any = built("possibly.probes._line")


def install(patches: Patches) -> None:
    kind: Any = queue.Queue
    patches.put(kind, "__init__", _init(kind.__init__))
    if port.thorough:
        patches.put(kind, "put", _waiting_put(kind.put))
        patches.put(kind, "get", _waiting_get(kind.get))
    for name in ("qsize", "empty", "full"):
        patches.put(kind, name, (_looked if port.thorough else asked)(getattr(kind, name)))
    for name, wrap in (("task_done", _task_done), ("join", _join)):
        patches.put(kind, name, wrap(getattr(kind, name)))
    patches.put(queue, "SimpleQueue", SimpleQueue)


class Messages:
    """The messages that lie in a queue, in line or by item; used while the queue's own lock is held."""

    __slots__ = ("_by_item", "_identity", "_places", "done", "number")

    def __init__(self, maxsize: int, in_line: bool = False) -> None:
        self._identity: Callable[[object], int] = _no_identity if in_line else id
        self.number = port.number()
        self.done = port.number()
        self._places = _places(maxsize)
        self._by_item: dict[int, deque[int]] = {}

    def sent(self, item: object) -> None:
        message = port.number()
        port.before("put", message, (self.number, self._places.popleft() if self._places else 0))
        self._by_item.setdefault(self._identity(item), deque()).append(message)

    def received(self, item: object) -> None:
        line = self._by_item.get(self._identity(item))
        if line:
            message = line.popleft()
            port.after("get", message, self.number)
            self._places.append(message)
        if not line:
            self._by_item.pop(self._identity(item), None)


def _no_identity(item: object) -> int:
    return 0


def _places(maxsize: int) -> deque[int]:
    """The free places of a queue: the message that was taken out of each, 0 for one that was never used."""
    return deque(repeat(0, maxsize)) if maxsize > 0 else deque(maxlen=0)


def _init(plain: Any) -> Any:
    def __init__(self: Any, maxsize: int = 0) -> None:  # noqa: N807
        plain(self, maxsize)
        if port.called_by_library():
            return
        kind = type(self)
        in_line = kind._get is queue.Queue._get
        messages = self._possibly = Messages(maxsize)
        port.after("new", messages.number, kind.__name__)
        if in_line and kind._put is queue.Queue._put:
            self._put, self._get = _in_line(self, messages.number, maxsize)
        else:
            self._put = _told_put(self._put, messages)
            self._get = _told_get(self._get, messages)

    return __init__


def _in_line(owner: Any, number: int, maxsize: int) -> tuple[Any, Any]:
    """`_put` and `_get` of a plain queue, compiled if a compiler was there."""
    if port.thorough:
        return _thorough_line(owner, number, maxsize)
    if _line is None:
        return _plain_line(owner, number, maxsize)
    made = _line.Line(owner, vars(port), number, maxsize)
    return made.put, made.get


def _plain_line(owner: Any, number: int, maxsize: int) -> tuple[Any, Any]:
    """`_put` and `_get` of a plain queue, in few calls: much of some programs passes here.

    The messages stand in the line in which the items do. Items that the program took away by itself
    (`q.queue.clear()`) were the oldest.
    """
    line: deque[int] = deque()
    places = _places(maxsize)
    roomy = (number, 0)

    def _put(item: object) -> None:
        message = port.number()
        port.before("put", message, (number, places.popleft()) if places else roomy)
        line.append(message)
        owner.queue.append(item)

    def _get() -> object:
        items = owner.queue
        while len(line) > len(items):
            places.append(line.popleft())
        item = items.popleft()
        message = line.popleft()
        port.after("get", message, number)
        places.append(message)
        return item

    return _put, _get


def _thorough_line(owner: Any, number: int, maxsize: int) -> tuple[Any, Any]:
    """The same, and each put and get that waits without a limit says so."""
    line: deque[int] = deque()
    places = _places(maxsize)
    waiting: set[int] = set()
    owner._possibly_waiting = waiting

    def _put(item: object) -> None:
        message = port.number()
        detail = (number, places.popleft() if places else 0)
        port.before("put", message, (*detail, port.WAITS) if get_ident() in waiting else detail)
        line.append(message)
        owner.queue.append(item)

    def _get() -> object:
        items = owner.queue
        while len(line) > len(items):
            places.append(line.popleft())
        item = items.popleft()
        message = line.popleft()
        port.after("get", message, (number, port.WAITS) if get_ident() in waiting else number)
        places.append(message)
        return item

    return _put, _get


def _waiting_put(plain: Any) -> Any:
    def put(self: Any, item: object, block: bool = True, timeout: float | None = None) -> None:
        with _Waiting(self, block and timeout is None):
            plain(self, item, block, timeout)

    return put


def _waiting_get(plain: Any) -> Any:
    def get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        with _Waiting(self, block and timeout is None):
            return plain(self, block, timeout)

    return get


class _Waiting:
    """While a thread is inside, it waits for a queue; what it fails to get or to put is a look at it."""

    __slots__ = ("_is_for_ever", "_queue")

    def __init__(self, queue: Any, is_for_ever: bool) -> None:
        self._queue = queue
        self._is_for_ever = is_for_ever

    def __enter__(self) -> None:
        if self._is_for_ever:
            getattr(self._queue, "_possibly_waiting", _NOWHERE).add(get_ident())

    def __exit__(self, *raised: object) -> None:
        getattr(self._queue, "_possibly_waiting", _NOWHERE).discard(get_ident())
        if raised[0] is not None:
            _look(self._queue)


_NOWHERE: set[int] = set()


def _look(queue: Any) -> None:
    if hasattr(queue, "_possibly"):
        port.after("look", queue._possibly.number)


def _looked(plain: Any) -> Any:
    def look(self: Any) -> Any:
        _look(self)
        return plain(self)

    return look


def asked(plain: Any) -> Any:
    """A method by which the program asks a queue how much it holds: it sees what others did."""

    def ask(self: Any) -> Any:
        found = plain(self)
        if hasattr(self, "_possibly") and not port.called_by_library():
            port.after("asked", self._possibly.number)
        return found

    return ask


def _told_put(plain: Any, messages: Messages) -> Any:
    def _put(item: object) -> None:
        messages.sent(item)
        plain(item)

    return _put


def _told_get(plain: Any, messages: Messages) -> Any:
    def _get() -> object:
        item = plain()
        messages.received(item)
        return item

    return _get


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
        message, item = super().get(block, timeout)
        port.after("get", message, self.number)
        return item

    def get_nowait(self) -> Any:
        return self.get(False)

    def qsize(self) -> int:
        found = super().qsize()
        port.after("asked", self.number)
        return found

    def empty(self) -> bool:
        return self.qsize() == 0
