"""Tasks of `trio` that wait for an open file under control: such a task goes on once the file is ready.

Trio gets it into its queue when its turn comes; until then only we know that it waits. A task that is
cancelled, or whose file is closed by another task, goes on with that instead. Files that lead outside are
waited for in trio's own way, and leave the search open.
"""

from __future__ import annotations

import sys
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.models.loops.turns import place_of_coroutine
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.world.trios.known import Run, run_with_files
from possibly.control.world.waiting.selecting import number
from possibly.control.world.waiting.wishes import Wish, wish_for
from possibly.probes.patching import Patches

DIRECTIONS = {"read_task": True, "write_task": False}
"""What trio calls a task that waits for a file -> whether it is to read."""


def _wait(plain: Any) -> Any:
    async def epoll_wait(self: Any, fd: Any, attribute: str) -> None:
        kernel, run = running.kernel, run_with_files(self)
        wish = wish_for(number(fd), DIRECTIONS[attribute]) if kernel is not None and run is not None else None
        if kernel is None or run is None or wish is None:
            await plain(self, fd, attribute)
            return
        await _granted(kernel, run, (number(fd), attribute), wish)

    return epoll_wait


async def _granted(kernel: Kernel, run: Run, key: tuple[int, str], wish: Wish) -> None:
    core = sys.modules["trio._core"]
    if key in run.waits:
        raise core.BusyResourceError("another task is already reading / writing this fd")
    task = core.current_task()
    mine = run.known[task]
    run.waits[key] = mine, task, wish
    _make_pending(run, mine, task, wish)

    def abort(_: Any) -> Any:
        run.waits.pop(key, None)
        return core.Abort.SUCCEEDED

    await core.wait_task_rescheduled(abort)


def _make_pending(run: Run, mine: Task, task: Any, wish: Wish) -> None:
    at = place_of_coroutine(task.coro)

    def operation() -> Operation:
        footprint = (Access(run.name, True), Access(mine.name, False), *wish.touched())
        return Operation("resume", mine.name, footprint, at)

    mine.operation = operation()
    mine.ready = lambda: run.can_go() and wish.is_granted()
    mine.refresh = operation


def _notify(plain: Any) -> Any:
    def notify_closing(self: Any, fd: Any) -> None:
        run = run_with_files(self) if running.kernel is not None else None
        if run is not None:
            core = sys.modules["trio._core"]
            error = sys.modules["outcome"].Error(core.ClosedResourceError("another task closed this fd"))
            for attribute in DIRECTIONS:
                _, task, _ = run.waits.pop((number(fd), attribute), (None, None, None))
                if task is not None:
                    run.runner.reschedule(task, error)
        plain(self, fd)

    return notify_closing


def _telling_who_listens(plain: Any) -> Any:
    """Trio asks a socket whether it listens, which the real one under a simulated one does not."""

    def getsockopt(self: Any, level: int, option: int, *given: Any) -> Any:
        listeners = sys.modules.get("possibly.control.world.listeners")
        bound = listeners.bound_to(self) if listeners is not None and running.kernel is not None else None
        library = sys.modules["socket"]
        if bound is not None and (level, option) == (library.SOL_SOCKET, library.SO_ACCEPTCONN):
            return int(bound.is_listening)
        return plain(self, level, option, *given)

    return getsockopt


CAPTURED = {
    "_accept": ("accept", "wait_readable"),
    "recv": ("recv", "wait_readable"),
    "recv_into": ("recv_into", "wait_readable"),
    "recvfrom": ("recvfrom", "wait_readable"),
    "recvfrom_into": ("recvfrom_into", "wait_readable"),
    "send": ("send", "wait_writable"),
}
"""Method of trio's sockets -> that of the library which it has captured, and how it waits."""


def _current(name: str, wait: str) -> Any:
    """The same with the method that the library has now: trio may be older than what stands in its place."""

    async def method(self: Any, *given: Any, **options: Any) -> Any:
        function = getattr(sys.modules["socket"].socket, name)
        waiting = getattr(sys.modules["trio._core"], wait)
        return await self._nonblocking_helper(waiting, function, *given, **options)

    method.__name__ = name
    return method


def install(patches: Patches) -> None:
    kind: Any = sys.modules["trio._core._run"].TheIOManager
    if hasattr(kind, "_epoll_wait"):
        patches.put(kind, "_epoll_wait", _wait(kind._epoll_wait))
        patches.put(kind, "notify_closing", _notify(kind.notify_closing))
    sockets: Any = sys.modules["socket"].socket
    patches.put(sockets, "getsockopt", _telling_who_listens(sockets.getsockopt))
    of_trio: Any = sys.modules["trio._socket"]._SocketType
    for method, (name, wait) in CAPTURED.items():
        patches.put(of_trio, method, _current(name, wait))
