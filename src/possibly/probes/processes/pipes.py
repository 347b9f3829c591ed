"""`multiprocessing`: Pipe, Queue, JoinableQueue, SimpleQueue, and the calls of pools.

Each object travels with its message. Bytes in a pipe carry a mark in front; only connections between
processes of the run do (those that a program opens by address do not, except to a manager). An item of a
Queue is carried in a wrapper, since a thread of the library moves it into the pipe. The library's own traffic
is not recorded.
"""

from __future__ import annotations

import io
import os
import sys
from _thread import _local
from typing import Any

from possibly.probes import exits, port
from possibly.probes.patching import Patches
from possibly.probes.processes import cells
from possibly.probes.thread_pools import name_of

MARK = b"\x00possibly\x00"
_END = b"\x00"


class Carried:
    """An object with the name of its message."""

    __slots__ = ("starter", "token", "value")

    def __init__(self, token: str, value: Any, starter: Any = None) -> None:
        self.token = token
        self.value = value
        self.starter = starter
        """What begins to record where it is unpickled, if that is a process that a package started."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.starter, self.token, self.value)


def _arrived(started: Any, token: str, value: Any) -> Any:
    """What was carried, with its name; where nobody listened until now, as it was sent."""
    if port.listener is port.QUIET:
        return value
    return received(Carried(token, value)) if started else Carried(token, value)


class Call:
    """A function that is called in another process on behalf of this one.

    It is a process of its own (`is_alone` says otherwise): the one that happened to do it does others too,
    which have nothing to do with it. It comes after what that process did before its first call.
    """

    __slots__ = ("_carries", "_function", "_is_alone", "_token")

    def __init__(self, function: Any, token: str, carries: bool, is_alone: bool) -> None:
        self._function = function
        self._token = token
        self._carries = carries
        self._is_alone = is_alone

    def __reduce__(self) -> tuple[Any, ...]:
        return Call, (self._function, self._token, self._carries, self._is_alone)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        begun = 0 if self._is_alone else _begun()
        worker, job = port.me(), port.new_process(name_of(self._function)) if begun else 0
        if job:
            port.become(job)
            port.after("learn", begun)
        port.after("start", self._token)
        end = port.token() if self._carries else self._token
        try:
            found = self._function(*arguments, **options)
        finally:
            port.before("leave", end)
            if job:
                port.before("end", job)
                port.become(worker)
            exits.flush()  # a pool may end its workers by a signal at any time
        return Carried(end, found) if self._carries else found


def called(function: Any, is_alone: bool, carries: bool = False) -> Call:
    """The function, to be called elsewhere: what the running process did so far happens before.

    It is alone where it comes before or after all others, as that of a pool of one process.
    """
    token = port.token()
    port.before("spawn", token)
    return Call(function, token, carries, is_alone)


def _begun() -> int:
    """Of this process: what it had done when it was first called."""
    if os.getpid() not in _first:
        _first[os.getpid()] = found = port.number()
        port.before("resolve", found)
    return _first[os.getpid()]


_first: dict[int, int] = {}


# ---- connections --------------------------------------------------------------------------------


def install(patches: Patches) -> None:
    from multiprocessing import connection

    kind: Any = connection.Connection
    patches.put(kind, "_send_bytes", _told_send(kind._send_bytes))
    patches.put(kind, "_recv_bytes", _told_receive(kind._recv_bytes))
    patches.put(connection, "Client", _plain_connection(connection.Client))
    patches.put(connection.Listener, "accept", _plain_connection(connection.Listener.accept))


def _told_send(plain: Any) -> Any:
    def _send_bytes(self: Any, buf: Any) -> None:
        if self.__dict__.get("_possibly_plain") or port.listener is port.QUIET or _is_inner():
            plain(self, buf)
            return
        token = port.token()
        port.before("put", token)
        plain(self, MARK + token.encode() + _END + bytes(buf))

    return _send_bytes


_PASSED_THROUGH = ("multiprocessing.connection", "multiprocessing.queues", __name__)
_connecting = _local()


def _is_inner() -> bool:
    """Whether the library sends something of its own: the first frame outside of connections decides."""
    if getattr(_connecting, "now", False):
        return True
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") in _PASSED_THROUGH:
        frame = frame.f_back
    if frame is None:
        return True
    is_manager = frame.f_globals.get("__name__") == "multiprocessing.managers"
    return not is_manager and not port.is_user_file(frame.f_code.co_filename)


def _told_receive(plain: Any) -> Any:
    def _recv_bytes(self: Any, maxsize: int | None = None) -> io.BytesIO:
        longer = None if maxsize is None else maxsize + 128
        found: io.BytesIO = plain(self, longer)
        data = found.getvalue()
        if not data.startswith(MARK):
            return found
        token, _, rest = data[len(MARK) :].partition(_END)
        port.after("get", token.decode())
        stripped = io.BytesIO()
        stripped.write(rest)
        return stripped

    return _recv_bytes


def _plain_connection(plain: Any) -> Any:
    def connect(*arguments: Any, **options: Any) -> Any:
        _connecting.now = True
        try:
            found = plain(*arguments, **options)
        finally:
            _connecting.now = False
        if sys._getframe(1).f_globals.get("__name__") != "multiprocessing.managers":
            found._possibly_plain = True
        return found

    return connect


# ---- queues -------------------------------------------------------------------------------------


def install_queues(patches: Patches) -> None:
    from multiprocessing import queues

    kind: Any = queues.Queue
    patches.put(kind, "_reset", _unmarked(kind._reset))
    patches.put(kind, "put", _told_put(kind.put))
    patches.put(kind, "get", _told_get(kind.get))
    joinable: Any = queues.JoinableQueue
    for name in ("__init__", "__getstate__", "__setstate__", "put", "task_done", "join"):
        patches.put(joinable, name, _JOINABLE[name](getattr(joinable, name)))


def _unmarked(plain: Any) -> Any:
    def _reset(self: Any, *arguments: Any, **options: Any) -> None:
        plain(self, *arguments, **options)
        self._reader._possibly_plain = self._writer._possibly_plain = True

    return _reset


def _told_put(plain: Any) -> Any:
    def put(self: Any, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        if not _is_library(2):
            token = port.token()
            port.before("put", token)
            obj = Carried(token, obj, _starter())
        plain(self, obj, block, timeout)

    return put


def _starter() -> Any:
    """For what an installed package sends: its processes may be started in ways of its own."""
    is_users = port.is_user_file(sys._getframe(2).f_code.co_filename)
    return None if is_users else exits.starter("", "")


def _is_library(depth: int) -> bool:
    """Whether the library puts something of its own; `put_nowait` is the user's."""
    frame: Any = sys._getframe(depth)
    while frame.f_globals.get("__name__") == "multiprocessing.queues":
        frame = frame.f_back
    return port.is_library(frame.f_code.co_filename)


def _told_get(plain: Any) -> Any:
    def get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        return received(plain(self, block, timeout))

    return get


def received(value: Any) -> Any:
    if type(value) is Carried:
        port.after("get", value.token)
        return value.value
    return value


def _told_joinable(plain: Any) -> Any:
    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *arguments, **options)
        self._possibly_done = cells.new()

    return __init__


def _told_getstate(plain: Any) -> Any:
    def __getstate__(self: Any) -> Any:  # noqa: N807
        return (self.__dict__.get("_possibly_done"), plain(self))

    return __getstate__


def _told_setstate(plain: Any) -> Any:
    def __setstate__(self: Any, state: Any) -> None:  # noqa: N807
        self._possibly_done, state = state
        plain(self, state)

    return __setstate__


def _told_task_done(plain: Any) -> Any:
    def task_done(self: Any) -> None:
        with self._cond:  # it may be acquired again inside
            name = self.__dict__.get("_possibly_done")
            if name is not None and not self._unfinished_tasks._semlock._is_zero():
                cells.add(name)
                port.before("leave", name)
            plain(self)

    return task_done


def _told_join(plain: Any) -> Any:
    def join(self: Any) -> None:
        with self._cond:
            if not self._unfinished_tasks._semlock._is_zero():
                self._cond.wait()
            name = self.__dict__.get("_possibly_done")
            if name is not None:
                port.after("passed", name, cells.value(name))

    return join


_JOINABLE = {
    "__init__": _told_joinable, "__getstate__": _told_getstate, "__setstate__": _told_setstate,
    "put": _told_put, "task_done": _told_task_done, "join": _told_join,
}  # fmt: skip


# ---- pools --------------------------------------------------------------------------------------


def install_pools(patches: Patches) -> None:
    from multiprocessing import pool

    kind: Any = pool.Pool
    plain_init, plain_apply, plain_map = kind._setup_queues, kind.apply_async, kind._map_async

    def _setup_queues(self: Any) -> None:
        plain_init(self)
        for each in (self._inqueue, self._outqueue):
            for end in ("_reader", "_writer"):
                if hasattr(each, end):
                    getattr(each, end)._possibly_plain = True

    def apply_async(self: Any, func: Any, args: Any = (), kwds: Any = {}, *rest: Any, **more: Any) -> Any:  # noqa: B006
        call = called(func, self._processes == 1)
        return _expects(plain_apply(self, call, args, kwds, *rest, **more), call, 1)

    def _map_async(self: Any, func: Any, iterable: Any, *rest: Any, **more: Any) -> Any:
        items = list(iterable)
        call = called(func, self._processes == 1 or _size_of_chunks(self, len(items), *rest, **more) != 1)
        return _expects(plain_map(self, call, items, *rest, **more), call, len(items))

    patches.put(kind, "_setup_queues", _setup_queues)
    patches.put(kind, "apply_async", apply_async)
    patches.put(kind, "_map_async", _map_async)
    for name in ("imap", "imap_unordered"):
        patches.put(kind, name, _told_imap(getattr(kind, name)))
    result: Any = pool.ApplyResult
    patches.put(result, "get", _told_outcome(result.get, of_library=True))
    patches.put(result, "wait", _told_outcome(result.wait, of_library=False))
    iterator: Any = pool.IMapIterator
    patches.put(iterator, "next", _told_next(iterator.next))
    patches.put(iterator, "__next__", _told_next(iterator.__next__))


def _size_of_chunks(
    pool: Any, count: int, mapper: Any = None, chunksize: int | None = None, *_: Any, **__: Any
) -> int:
    """Of a map: what is in one chunk is done in turn, by one process."""
    return chunksize or -(-count // (4 * len(pool._pool)))


def _expects(result: Any, call: Call, count: int) -> Any:
    result._possibly_call = (call._token, count)
    return result


def _told_outcome(plain: Any, of_library: bool) -> Any:
    """`map` asks for its result itself; `get` waits itself."""

    def outcome(self: Any, timeout: float | None = None) -> Any:
        try:
            return plain(self, timeout)
        finally:
            told = of_library or not port.called_by_library()
            if told and self.ready() and "_possibly_call" in self.__dict__:
                port.after("passed", *self._possibly_call)

    return outcome


def _told_imap(plain: Any) -> Any:
    def imap(self: Any, func: Any, iterable: Any, chunksize: int = 1) -> Any:
        is_alone = self._processes == 1 or chunksize != 1
        return plain(self, called(func, is_alone, carries=True), iterable, chunksize)

    return imap


def _told_next(plain: Any) -> Any:
    def next(self: Any, timeout: float | None = None) -> Any:  # noqa: A001
        return _unwrapped(plain(self, timeout) if timeout is not None else plain(self))

    return next


def _unwrapped(value: Any) -> Any:
    if type(value) is Carried:
        port.after("passed", value.token, 1)
        return value.value
    if type(value) is list and value and all(type(each) is Carried for each in value):
        return [_unwrapped(each) for each in value]
    return value


def install_executors(patches: Patches) -> None:
    from concurrent.futures import process

    kind: Any = process.ProcessPoolExecutor
    plain, init = kind.submit, kind.__init__

    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        init(self, *arguments, **options)
        for end in (self._result_queue._reader, self._result_queue._writer):
            end._possibly_plain = True

    def submit(self: Any, fn: Any, /, *arguments: Any, **options: Any) -> Any:
        call = called(fn, self._max_workers == 1)
        found = plain(self, call, *arguments, **options)
        found._possibly_call = call._token
        return found

    patches.put(kind, "__init__", __init__)
    patches.put(kind, "submit", submit)
