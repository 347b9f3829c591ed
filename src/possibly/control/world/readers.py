"""`add_reader` and `add_writer` of event loops on files under control, and what is built upon them.

Whenever the file is ready, and for as long as it is, the callback may come, in a turn of its own. Files that
lead outside are the loop's own affair, and leave the search open.
"""

from __future__ import annotations

from asyncio import events, selector_events
from typing import Any

from possibly.control.execution import Operation
from possibly.control.runtime import kernel as running
from possibly.control.runtime.calls import tell_of_callback
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.world import libraries
from possibly.control.world.happenings import hosted, withdraw
from possibly.control.world.waiting.selecting import number
from possibly.control.world.waiting.wishes import Wish, wish_for
from possibly.probes.patching import Patches

WATCHED = "_possibly_files"
"""Of a loop: open file, whether to read -> the turn that comes when it is ready, and the callback."""
Key = tuple[int, bool]


def _watched_by(loop: Any) -> dict[Key, tuple[Task, Any]]:
    found: dict[Key, tuple[Task, Any]] = loop.__dict__.setdefault(WATCHED, {})
    return found


def _added(plain: Any, reads: bool) -> Any:
    def add(self: Any, fd: Any, callback: Any, *given: Any) -> Any:
        kernel = running.kernel
        wish = wish_for(number(fd), reads) if kernel is not None and not kernel.ending else None
        if kernel is None or wish is None:
            return plain(self, fd, callback, *given)
        self._check_closed()
        handle = events.Handle(callback, given, self, None)
        _forget(kernel, self, (number(fd), reads))
        _wait(kernel, self, (number(fd), reads), wish, handle)
        return handle

    return add


def _wait(kernel: Kernel, loop: Any, key: Key, wish: Wish, handle: Any) -> None:
    watched = _watched_by(loop)

    def come() -> None:
        for access in wish.touched():
            kernel.add(access)
        libraries.runs(handle._callback)
        tell_of_callback(handle._callback, handle._args)
        handle._run()
        if watched.get(key, (None, None))[1] is handle:
            _wait(kernel, loop, key, wish, handle)

    operation = Operation("ready", wish.place.name, wish.touched(), "")
    watched[key] = hosted(kernel, loop, "a file is ready", operation, come, wish.is_granted), handle


def _forget(kernel: Kernel, loop: Any, key: Key) -> bool:
    task, _ = _watched_by(loop).pop(key, (None, None))
    if task is not None and not task.ended and task is not kernel.current:
        withdraw(kernel, loop, task)
    return task is not None


def _removed(plain: Any, reads: bool) -> Any:
    def remove(self: Any, fd: Any) -> Any:
        kernel = running.kernel
        if kernel is not None and _forget(kernel, self, (number(fd), reads)):
            return True
        return plain(self, fd)

    return remove


def _closed(plain: Any) -> Any:
    def close(self: Any) -> None:
        kernel = running.kernel
        if kernel is not None:
            for key in tuple(_watched_by(self)):
                _forget(kernel, self, key)
        plain(self)

    return close


def install(patches: Patches) -> None:
    kind: Any = selector_events.BaseSelectorEventLoop
    for name, wrap, reads in (
        ("_add_reader", _added, True),
        ("_add_writer", _added, False),
        ("_remove_reader", _removed, True),
        ("_remove_writer", _removed, False),
    ):
        patches.put(kind, name, wrap(getattr(kind, name), reads))
    patches.put(kind, "close", _closed(kind.close))
