"""`queue.Queue` and `queue.SimpleQueue` under a controller: who takes which item is decided outside.

Items stay in this interpreter, by the names of their messages. A get with a time limit waits until nothing
else can go on: only then it finds the queue empty. Other kinds of queue order their items by themselves and
are left alone, which is noted.
"""

from __future__ import annotations

import queue
from typing import Any

from possibly.control.macro.inside import gate
from possibly.control.macro.model import Operation, Receive
from possibly.probes.patching import Patches
from possibly.recorder.snapshot import snapshot

_items: dict[str, Any] = {}
"""Messages that were put and not taken."""


def install(patches: Patches) -> None:
    kind: Any = queue.Queue
    for name, wrap in (("__init__", _init), ("put", _put), ("get", _get)):
        patches.put(kind, name, wrap(getattr(kind, name)))
    for name in ("qsize", "empty", "full", "join"):
        patches.put(kind, name, _noted(getattr(kind, name), name))
    patches.put(queue, "SimpleQueue", _simple_queue(queue.SimpleQueue))


def put(channel: str, item: Any, capacity: int = 0) -> None:
    here = gate.here()
    _items[f"{here.name}#{here.sends + 1}"] = item
    value = (snapshot(item),)
    here.arrive(Operation("send", f"put into {channel}", channel=channel, capacity=capacity, value=value))
    here.leave()


def get(channel: str, optional: bool) -> Any:
    here = gate.here()
    receive = Receive(here.receive_name(), here.name, (channel,), optional=optional)
    completion, _ = here.arrive(Operation("receive", f"get from {channel}", receive=receive))
    here.leave()
    if completion.nothing:
        raise queue.Empty
    return _items.pop(completion.deliveries[-1][1])


def _init(plain: Any) -> Any:
    def __init__(self: Any, maxsize: int = 0) -> None:  # noqa: N807
        plain(self, maxsize)
        if gate.by_library():
            return
        if type(self)._get is not queue.Queue._get:
            gate.told(f"{type(self).__name__} orders its items by itself")
            return
        self._possibly_channel = gate.channel_name("queue")

    return __init__


def _put(plain: Any) -> Any:
    def put_item(self: Any, item: Any, block: bool = True, timeout: float | None = None) -> None:
        channel = self.__dict__.get("_possibly_channel")
        if channel is None:
            plain(self, item, block, timeout)
            return
        if self.maxsize > 0 and (not block or timeout is not None):
            gate.told("a put with a time limit waits without one")
        put(channel, item, max(self.maxsize, 0))
        with self.mutex:
            self.unfinished_tasks += 1

    return put_item


def _get(plain: Any) -> Any:
    def get_item(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        channel = self.__dict__.get("_possibly_channel")
        if channel is None:
            return plain(self, block, timeout)
        return get(channel, optional=not block or timeout is not None)

    return get_item


def _noted(plain: Any, name: str) -> Any:
    def noted(self: Any) -> Any:
        if "_possibly_channel" in self.__dict__ and not gate.by_library():
            gate.told(f"{name}() of a queue")
        return plain(self)

    return noted


def _simple_queue(plain: Any) -> Any:
    class SimpleQueue:
        """Made anew, since the library's own cannot be changed."""

        def __new__(cls) -> Any:
            return plain() if gate.by_library() else super().__new__(cls)

        def __init__(self) -> None:
            self._channel = gate.channel_name("queue")

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            put(self._channel, item)

        def put_nowait(self, item: Any) -> None:
            put(self._channel, item)

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            return get(self._channel, optional=not block or timeout is not None)

        def get_nowait(self) -> Any:
            return get(self._channel, optional=True)

    return SimpleQueue
