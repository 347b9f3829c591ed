"""`os.fork` and `os.pipe`, which lead to processes and pipes under control when the program uses one.

These are loaded then, and what goes with them is put in place: programs without them do not wait for it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from possibly.control.forking import outside
from possibly.control.runtime import kernel as running
from possibly.probes import port
from possibly.probes.patching import Patches

_is_open = False


def install(patches: Patches) -> None:
    for name in ("fork", "pipe"):
        patches.put(os, name, _way(name, getattr(os, name), patches))


def _way(name: str, plain: Any, patches: Patches) -> Any:
    def way() -> Any:
        kernel = running.kernel
        is_ours = outside.expected or not port.is_user_file(sys._getframe(1).f_code.co_filename)
        if kernel is None or kernel.ending or is_ours:
            return plain()
        return _taken(name, plain, patches)

    way.__module__, way.__name__ = "posix", name
    return way


def _taken(name: str, plain: Any, patches: Patches) -> Any:
    global _is_open
    import multiprocessing  # noqa: F401 - first: what is put in its place uses the same processes

    from possibly.control.world.processes import channel, forks, pipes

    if not _is_open:
        _is_open = True
        forks.install(patches)
    if name == "pipe":
        return pipes.piped(plain)
    return plain() if channel.upward is not None else forks.forked()
