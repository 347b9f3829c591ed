"""Queues and pipes between processes.

What a process puts into a `Queue` is sent by a thread of that process some time later, in order: until then
nobody else sees it, and two processes' items come in any order. `SimpleQueue` and pipes send at once. Whoever
sends more than a pipe of the system holds waits until enough of it is taken: so a process does not end before
somebody takes what it has put. A pipe ends when no process has its other end any more.
"""

from __future__ import annotations

import io
import pickle
import queue
import sys
import threading
from contextlib import suppress
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.models import primitives
from possibly.control.models.locks import label, name_for
from possibly.control.models.queues import State
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import reading, writing
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.places import place_of
from possibly.control.world.processes.holding import Held, ending, let_go, whose
from possibly.control.world.processes.shared import Shared, makers
from possibly.recorder.snapshot import snapshot

ROOM = 65_536
"""Bytes that a pipe of the system holds; one for both directions is a pair of sockets, which hold more."""
ROOM_OF_SOCKETS = 212_992
LONGEST_TOLD = 1_000
"""Bytes of a value that a report tells."""


class _Plain(pickle.Unpickler):
    """Reads values that no code of the program makes."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name}")


def tell_data(kernel: Kernel, data: bytes) -> None:
    """The value that goes through, for the report of the running step, if it is a plain one."""
    if len(data) <= LONGEST_TOLD:
        with suppress(Exception):  # whatever a program sends as bytes
            kernel.tell({"value": snapshot(_Plain(io.BytesIO(data)).load())})


# ---- in the first process ---------------------------------------------------------------------------


class Line:
    """What has been sent and not received."""

    def __init__(self, room: int = ROOM, kind: str = "queue") -> None:
        self.items: list[bytes] = []
        self.room = room
        self.state = State(True)
        self.filling = f"{self.state.name}.filling"
        """What is written when there is room again."""
        label(self.state.name, kind)
        if running.kernel is not None:
            running.kernel.labels[self.filling] = "room in the pipe"

    def has_room(self) -> bool:
        return sum(map(len, self.items)) <= self.room

    def wait_for_room(self, kernel: Kernel, *more: Access) -> None:
        """What was put does not fit: its sender goes on when enough has been taken."""
        touched = (Access(self.filling, False), *more)
        kernel.visible("write", self.filling, touched, None, self.has_room)

    def take(self, kernel: Kernel) -> bytes:
        """Inside a step that touches what `State.get` says."""
        was_full = not self.has_room()
        self.state.taken += 1
        found = self.items.pop(0)
        tell_data(kernel, found)
        if was_full:
            kernel.add(Access(self.filling, True))
            kernel.opened(("write", self.filling))
        return found

    def put(self, kernel: Kernel, data: bytes) -> None:
        """Inside a step that touches what `State.put` says."""
        kernel.opened(("get", f"{self.state.name}#{self.state.puts}"))
        tell_data(kernel, data)
        self.items.append(data)
        self.state.puts += 1

    def get(self, kernel: Kernel, block: bool, timeout: float | None) -> bytes:
        state = self.state
        at = place_of(sys._getframe())
        ready = (lambda: bool(self.items)) if block else None
        refresh = lambda: Operation("get", state.name, state.get(0), at)  # noqa: E731
        found = kernel.visible("get", state.name, state.get(0), at, ready, timeout, None, refresh)
        if not found or not self.items:
            kernel.did(tuple(Access(each.thing, False) for each in state.get(0)))
            raise queue.Empty
        kernel.did(state.get(0))
        return self.take(kernel)

    def look(self, kernel: Kernel, kind: str) -> bool:
        kernel.visible(kind, self.state.name, self.state.look())
        return not self.items


class Feeder:
    """What one process has put and not sent; a thread sends it."""

    def __init__(self, line: Line) -> None:
        self.name = name_for("feeder")
        process = running.kernel.current.label if running.kernel is not None else ""
        if running.kernel is not None:
            running.kernel.labels[self.name] = f"the buffer of {process}"
        self.line = line
        self.waiting: list[bytes] = []
        self.puts = self.sent = 0
        threading.Thread(target=self._send, name=f"the sender of {process}", daemon=True).start()

    def item(self, number: int) -> str:
        return f"{self.name}#{number}"

    def put(self, kernel: Kernel, data: bytes, counted: str) -> None:
        thing = self.item(self.puts)
        kernel.visible("put", thing, (Access(thing, True), Access(counted, False)))
        kernel.opened(("send", thing))
        tell_data(kernel, data)
        self.puts += 1
        self.waiting.append(data)

    def _send(self) -> None:
        kernel, state = running.kernel, self.line.state
        assert kernel is not None

        def touched() -> tuple[Access, ...]:
            return (*state.put(0), Access(self.item(self.sent), False), Access(self.name, True))

        while True:
            refresh = lambda: Operation("send", state.name, touched(), "")  # noqa: E731
            ready = lambda: bool(self.waiting)  # noqa: E731
            kernel.visible("send", state.name, touched(), "", ready, None, None, refresh)
            kernel.did(touched())
            self.sent += 1
            self.line.put(kernel, self.waiting[0])
            if not self.line.has_room():
                self.line.wait_for_room(kernel, Access(self.name, True))
            self.waiting.pop(0)
            kernel.opened(("join queue", self.name))

    def wait(self, kernel: Kernel) -> None:
        """Until all is sent."""
        if self.waiting:
            kernel.visible("join queue", self.name, reading(self.name), None, lambda: not self.waiting)


class Items:
    """A queue."""

    def __init__(self, size: int, at_once: bool = False) -> None:
        self.line = Line()
        self.feeders: dict[Any, Feeder] = {}
        self.at_once = at_once
        self.room = primitives.Semaphore(size) if size > 0 else None
        self.size = size
        self.count = 0
        self.unfinished = 0
        self.name = name_for("unfinished")
        self.left: set[Any] = set()
        ending.append(self.flush)

    def put(self, data: bytes, block: bool, timeout: float | None) -> None:
        kernel = running.kernel
        assert kernel is not None
        if self.room is not None and not self.room.acquire(block, timeout if block else None):
            raise queue.Full
        self.unfinished += 1
        self.count += 1
        if self.at_once:
            counted = Access(self.name, False)
            kernel.visible("put", self.line.state.name, (*self.line.state.put(0), counted))
            kernel.did((*self.line.state.put(0), counted))
            self.line.put(kernel, data)
            if not self.line.has_room():
                self.line.wait_for_room(kernel)
            return
        process = whose()
        feeder = self.feeders.get(process)
        if feeder is None:
            feeder = self.feeders[process] = Feeder(self.line)
        feeder.put(kernel, data, self.name)

    def get(self, block: bool, timeout: float | None) -> bytes:
        kernel = running.kernel
        assert kernel is not None
        found = self.line.get(kernel, block, timeout)
        self.count -= 1
        if self.room is not None:
            self.room.release()
        return found

    def empty(self) -> bool:
        assert running.kernel is not None
        return self.line.look(running.kernel, "empty")

    def qsize(self) -> int:
        kernel = running.kernel
        assert kernel is not None
        kernel.visible("qsize", self.name, (Access(self.name, True), *self.line.state.look()))
        return self.count

    def full(self) -> bool:
        return 0 < self.size <= self.qsize()

    def task_done(self) -> None:
        kernel = running.kernel
        assert kernel is not None
        kernel.visible("task_done", self.name, writing(self.name))
        if self.unfinished <= 0:
            raise ValueError("task_done() called too many times")
        self.unfinished -= 1
        if not self.unfinished:
            kernel.opened(("join queue", self.name))

    def join(self) -> None:
        kernel = running.kernel
        assert kernel is not None
        kernel.visible("join queue", self.name, writing(self.name), None, lambda: self.unfinished == 0)

    def flush(self) -> None:
        """The process that asks waits until all that it has put is sent."""
        feeder = self.feeders.get(whose())
        if feeder is not None and whose() not in self.left and running.kernel is not None:
            feeder.wait(running.kernel)

    def leave(self) -> None:
        self.left.add(whose())


class Way:
    """One direction of a pipe."""

    def __init__(self, room: int) -> None:
        self.line = Line(room, "pipe")
        self.name = name_for("pipe")
        self.writers, self.readers = Held(f"{self.name}.writers"), Held(f"{self.name}.readers")

    def send(self, data: bytes) -> None:
        kernel = running.kernel
        assert kernel is not None
        is_read = Access(self.readers.things[0], False)
        kernel.visible("put", self.line.state.name, (*self.line.state.put(0), is_read))
        if not self.readers:
            raise BrokenPipeError(32, "Broken pipe")
        kernel.did((*self.line.state.put(0), is_read))
        self.line.put(kernel, data)
        if not self.line.has_room():
            self.line.wait_for_room(kernel)

    def receive(self) -> bytes:
        kernel = running.kernel
        assert kernel is not None
        state = self.line.state

        def touched() -> tuple[Access, ...]:
            return (*state.get(0), Access(self.writers.things[0], False))

        at = place_of(sys._getframe())
        refresh = lambda: Operation("get", state.name, touched(), at)  # noqa: E731
        ready = lambda: bool(self.line.items) or not self.writers  # noqa: E731
        kernel.visible("get", state.name, touched(), at, ready, None, None, refresh)
        if not self.line.items:
            kernel.did(tuple(Access(each.thing, False) for each in touched()))
            raise EOFError
        kernel.did(touched())
        return self.line.take(kernel)

    def poll(self, timeout: float | None) -> bool:
        kernel = running.kernel
        assert kernel is not None

        def ready() -> bool:
            return bool(self.line.items) or not self.writers

        touched = (*self.line.state.look(), Access(self.writers.things[0], False))
        now = timeout is not None and timeout <= 0
        kernel.visible(
            "poll", self.line.state.name, touched, None, None if now else ready, None if now else timeout
        )
        return ready()

    def close(self, writes: bool) -> None:
        let_go(whose(), self.writers if writes else self.readers)


makers.update({"queue": Items, "way": Way})


# ---- as processes have them -------------------------------------------------------------------------


class Queue(Shared):
    word = "queue"
    at_once = False

    def __init__(self, maxsize: int = 0) -> None:
        super().__init__(maxsize, self.at_once)
        self._closed = False

    def put(self, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        if self._closed:
            raise ValueError(f"Queue {self!r} is closed")
        self._call("put", pickle.dumps(obj), block, timeout)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        return pickle.loads(self._call("get", block, timeout))

    def put_nowait(self, obj: Any) -> None:
        self.put(obj, False)

    def get_nowait(self) -> Any:
        return self.get(False)

    def empty(self) -> bool:
        found: bool = self._call("empty")
        return found

    def full(self) -> bool:
        found: bool = self._call("full")
        return found

    def qsize(self) -> int:
        found: int = self._call("qsize")
        return found

    def close(self) -> None:
        self._closed = True

    def join_thread(self) -> None:
        self._call("flush")

    def cancel_join_thread(self) -> None:
        self._call("leave")


class JoinableQueue(Queue):
    def task_done(self) -> None:
        self._call("task_done")

    def join(self) -> None:
        self._call("join")


class SimpleQueue(Queue):
    at_once = True

    def __init__(self) -> None:
        super().__init__(0)


class OneWay(Shared):
    word = "way"


class Connection:
    """One end of a pipe."""

    def __init__(self, back: OneWay | None, there: OneWay | None) -> None:
        self._back, self._there = back, there
        self.closed = False

    @property
    def readable(self) -> bool:
        return self._back is not None

    @property
    def writable(self) -> bool:
        return self._there is not None

    def _open(self, way: OneWay | None, what: str) -> OneWay:
        if self.closed:
            raise OSError("handle is closed")
        if way is None:
            raise OSError(f"connection is {what}-only")
        return way

    def send(self, obj: Any) -> None:
        self._open(self._there, "read")._call("send", pickle.dumps(obj))

    def recv(self) -> Any:
        return pickle.loads(self._open(self._back, "write")._call("receive"))

    def send_bytes(self, buf: Any, offset: int = 0, size: int | None = None) -> None:
        data = bytes(buf)[offset:]
        self._open(self._there, "read")._call("send", data if size is None else data[:size])

    def recv_bytes(self, maxlength: int | None = None) -> bytes:
        found: bytes = self._open(self._back, "write")._call("receive")
        return found

    def poll(self, timeout: float | None = 0.0) -> bool:
        found: bool = self._open(self._back, "write")._call("poll", timeout)
        return found

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            if self._back is not None:
                self._back._call("close", False)
            if self._there is not None:
                self._there._call("close", True)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def pipe(duplex: bool = True) -> tuple[Connection, Connection]:
    one = OneWay(ROOM_OF_SOCKETS if duplex else ROOM)
    if not duplex:
        reader, writer = Connection(one, None), Connection(None, one)
        return reader, writer
    other = OneWay(ROOM_OF_SOCKETS)
    return Connection(one, other), Connection(other, one)
