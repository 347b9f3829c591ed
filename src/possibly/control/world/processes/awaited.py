"""Processes that an event loop waits for (`asyncio.create_subprocess_exec`): what its turns know of them.

The process and its pipes are those of `subprocess`. Whether it has ended, and which of its pipes have, is a
thing of its own, which the turn that hears of it writes and whoever asks reads. A thread waits for the end of
such a process, as asyncio has it where the system has nothing better: one under control has no file that the
system could tell the loop of.
"""

from __future__ import annotations

import inspect
from asyncio import base_subprocess, unix_events
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.probes.patching import Patches

NAME = "_possibly_name"
USED = {
    "_wait": False,
    "get_returncode": False,
    "_check_proc": False,
    "_process_exited": True,
    "_pipe_connection_lost": True,
    "_call_connection_lost": True,
    "close": True,
}
"""Method of the loop's process -> whether it changes what is known of it."""


def _touch(process: Any, writes: bool) -> None:
    kernel = running.kernel
    if kernel is None or kernel.ending or not kernel.in_step:
        return
    if NAME not in process.__dict__:
        process.__dict__[NAME] = name_for("process")
    kernel.add(Access(process.__dict__[NAME], writes))


def _told(plain: Any, writes: bool) -> Any:
    if inspect.iscoroutinefunction(plain):

        async def coroutine(self: Any, *given: Any) -> Any:
            _touch(self, writes)
            found = await plain(self, *given)
            _touch(self, writes)
            return found

        return coroutine

    def method(self: Any, *given: Any) -> Any:
        _touch(self, writes)
        return plain(self, *given)

    return method


def install(patches: Patches) -> None:
    kind: Any = base_subprocess.BaseSubprocessTransport
    for name, writes in USED.items():
        patches.put(kind, name, _told(getattr(kind, name), writes))
    if hasattr(unix_events, "can_use_pidfd"):
        patches.put(unix_events, "can_use_pidfd", lambda: False)
