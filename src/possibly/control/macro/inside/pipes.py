"""`multiprocessing` pipes and queues under a controller, which also carries the objects, pickled.

A pipe and a SimpleQueue are written to at once; a Queue some time after the put, by a thread of the library,
so that two processes that put one after the other may still be received in the other order, as its
documentation says. An end of a pipe that is closed is not noticed by the other.
"""

from __future__ import annotations

import queue as plain_queue
from typing import Any

from possibly.control.macro.inside import gate
from possibly.control.macro.model import Operation, Receive
from possibly.probes.patching import Patches
from possibly.recorder.snapshot import snapshot


def send(channel: str, value: Any, word: str, order: str = "causal", capacity: int = 0) -> None:
    from multiprocessing.reduction import ForkingPickler

    payload = bytes(ForkingPickler.dumps(value))
    here = gate.here()
    told = (snapshot(value),)
    operation = Operation(
        "send", f"{word} {channel}", channel=channel, order=order, capacity=capacity, value=told
    )
    here.arrive(operation, payload)
    here.leave()


def receive(channels: tuple[str, ...], word: str, optional: bool = False, peeks: bool = False) -> Any:
    """The object; or, if it only looks, the channel in which there is one; None: there is nothing."""
    here, channels = gate.here(), tuple(sorted(channels))
    posted = Receive(here.receive_name(), here.name, channels, peeks=peeks, optional=optional)
    text = f"{word} {' or '.join(channels)}"
    completion, payloads = here.arrive(Operation("receive", text, receive=posted))
    here.leave()
    if completion.nothing:
        return None
    channel, payload = payloads[-1]
    if peeks:
        return channel
    from multiprocessing.reduction import ForkingPickler

    return (ForkingPickler.loads(payload),)


# ---- pipes --------------------------------------------------------------------------------------


def install(patches: Patches) -> None:
    from multiprocessing import connection, reduction

    kind: Any = connection.Connection
    patches.put(connection, "Pipe", _pipe(connection.Pipe))
    patches.put(connection, "wait", _wait(connection.wait))
    for name, wrap in _CONNECTION.items():
        patches.put(kind, name, wrap(getattr(kind, name)))
    plain_reduce: Any = connection.reduce_connection  # type: ignore[attr-defined]
    reduction.register(kind, lambda end: _reduced(plain_reduce, end))


def _pipe(plain: Any) -> Any:
    def pipe(duplex: bool = True) -> tuple[Any, Any]:
        first, second = plain(duplex)
        if not gate.by_context():
            name = gate.channel_name("pipe")
            # Of a pipe that is not duplex the first end receives and the second sends.
            first._possibly = (f"{name}.a", f"{name}.b")
            second._possibly = (f"{name}.b", f"{name}.a")
        return first, second

    return pipe


def _reduced(plain: Any, end: Any) -> Any:
    """An end that is handed to another process keeps its name."""
    rebuild, arguments = plain(end)
    ends = getattr(end, "_possibly", None)
    return (rebuild, arguments) if ends is None else (rebuilt, (rebuild, arguments, ends))


def rebuilt(rebuild: Any, arguments: tuple[Any, ...], ends: tuple[str, str]) -> Any:
    found = rebuild(*arguments)
    found._possibly = ends
    return found


def _sending(plain: Any) -> Any:
    def send_object(self: Any, obj: Any, *rest: Any) -> None:
        ends = getattr(self, "_possibly", None)
        if ends is None:
            plain(self, obj, *rest)
        else:
            send(ends[0], obj, "send through")

    return send_object


def _receiving(plain: Any) -> Any:
    def receive_object(self: Any, *rest: Any) -> Any:
        ends = getattr(self, "_possibly", None)
        return plain(self, *rest) if ends is None else receive((ends[1],), "receive from")[0]

    return receive_object


def _polling(plain: Any) -> Any:
    def poll(self: Any, timeout: float | None = 0.0) -> bool:
        ends = getattr(self, "_possibly", None)
        if ends is None:
            found: bool = plain(self, timeout)
            return found
        return receive((ends[1],), "poll", optional=timeout is not None, peeks=True) is not None

    return poll


_CONNECTION = {
    "send": _sending,
    "send_bytes": _sending,
    "recv": _receiving,
    "recv_bytes": _receiving,
    "poll": _polling,
}


def _wait(plain: Any) -> Any:
    def wait(object_list: Any, timeout: float | None = None) -> list[Any]:
        objects = list(object_list)
        if not objects or not all(hasattr(each, "_possibly") for each in objects):
            if not gate.by_library():
                gate.told("multiprocessing.connection.wait for other things than pipes")
            found: list[Any] = plain(objects, timeout)
            return found
        ends = {each._possibly[1]: each for each in objects}
        ready = receive(tuple(ends), "wait for", optional=timeout is not None, peeks=True)
        return [] if ready is None else [ends[ready]]

    return wait


# ---- queues -------------------------------------------------------------------------------------


def install_queues(patches: Patches) -> None:
    from multiprocessing import queues

    for kind, maker in ((queues.Queue, _queue), (queues.SimpleQueue, _simple_queue)):
        maker(patches, kind)
        patches.put(kind, "__init__", _named(kind.__init__))
        patches.put(kind, "__getstate__", _getstate(kind.__getstate__))
        patches.put(kind, "__setstate__", _setstate(kind.__setstate__))
    patches.put(queues.JoinableQueue, "put", queues.Queue.put)
    for name in ("join", "task_done"):
        patches.put(queues.JoinableQueue, name, _unjoined(name))


def _named(plain: Any) -> Any:
    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *arguments, **options)
        # It is made by the context's method, which the user calls.
        if not gate.by_context():
            self._possibly = gate.channel_name("queue")

    return __init__


def _getstate(plain: Any) -> Any:
    return lambda self: (plain(self), getattr(self, "_possibly", None))


def _setstate(plain: Any) -> Any:
    def __setstate__(self: Any, state: Any) -> None:  # noqa: N807
        plain(self, state[0])
        if state[1] is not None:
            self._possibly = state[1]

    return __setstate__


def _queue(patches: Patches, kind: Any) -> None:
    from multiprocessing.synchronize import SEM_VALUE_MAX  # type: ignore[attr-defined]

    plain_put, plain_get = kind.put, kind.get

    def put(self: Any, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        channel = getattr(self, "_possibly", None)
        if channel is None:
            plain_put(self, obj, block, timeout)
            return
        size = 0 if self._maxsize == SEM_VALUE_MAX else self._maxsize
        if size and (not block or timeout is not None):
            gate.told("a put with a time limit waits without one")
        send(channel, obj, "put into", order="causal" if size else "later", capacity=size)

    def get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        channel = getattr(self, "_possibly", None)
        if channel is None:
            return plain_get(self, block, timeout)
        found = receive((channel,), "get from", optional=not block or timeout is not None)
        if found is None:
            raise plain_queue.Empty
        return found[0]

    patches.put(kind, "put", put)
    patches.put(kind, "get", get)
    for name in ("qsize", "empty", "full"):
        patches.put(kind, name, _noted(getattr(kind, name), name))


def _simple_queue(patches: Patches, kind: Any) -> None:
    plain_put, plain_get = kind.put, kind.get

    def put(self: Any, obj: Any) -> None:
        channel = getattr(self, "_possibly", None)
        if channel is None:
            plain_put(self, obj)
        else:
            send(channel, obj, "put into")

    def get(self: Any) -> Any:
        channel = getattr(self, "_possibly", None)
        return plain_get(self) if channel is None else receive((channel,), "get from")[0]

    patches.put(kind, "put", put)
    patches.put(kind, "get", get)
    patches.put(kind, "empty", _noted(kind.empty, "empty"))


def _unjoined(name: str) -> Any:
    """The items are counted where they are, and they are with the controller."""

    def unjoined(self: Any) -> None:
        gate.refuse(f"{name}() of a JoinableQueue")

    return unjoined


def _noted(plain: Any, name: str) -> Any:
    def noted(self: Any) -> Any:
        if getattr(self, "_possibly", None) is not None:
            gate.told(f"{name}() of a queue")
        return plain(self)

    return noted
