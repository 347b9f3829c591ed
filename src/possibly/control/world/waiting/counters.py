"""`os.eventfd` under control: a counter for which threads wait; each read and each write of it is a step.

What differs from the real thing: a count has no upper bound that a writer would wait for, and who asks the
system whether the file is ready (`select`, event loops) is told of the real counter, in which nothing is. One
that processes share is named, and leaves the search open.
"""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import dataclass
from typing import Any

from possibly.control.forking.outside import HELPS
from possibly.control.models.locks import label, name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import writing
from possibly.control.runtime.kernel import Kernel
from possibly.control.world.processes import channel
from possibly.probes.patching import Patches


@dataclass
class Counter:
    name: str
    count: int
    by_one: bool
    """A read takes one of it, rather than all."""
    waits: bool
    process: Any
    """In which it was made."""


known: dict[int, Counter] = {}


def install(patches: Patches) -> None:
    if hasattr(os, "eventfd"):
        for name, wrap in (("eventfd", _made), ("eventfd_read", _read), ("eventfd_write", _written)):
            patches.put(os, name, wrap(getattr(os, name)))


def _made(plain: Any) -> Any:
    def eventfd(initval: int, flags: int = os.EFD_CLOEXEC) -> int:
        found: int = plain(initval, flags)
        kernel = running.kernel
        if kernel is not None and not kernel.ending:
            name = name_for("eventfd")
            by_one, waits = bool(flags & os.EFD_SEMAPHORE), not flags & os.EFD_NONBLOCK
            known[found] = Counter(name, initval, by_one, waits, channel.upward)
            label(name, "eventfd", 2)
        return found

    return eventfd


def _read(plain: Any) -> Any:
    def eventfd_read(fd: int) -> int:
        found = _counter(fd)
        if found is None:
            number: int = plain(fd)
            return number
        kernel, counter = found
        ready = (lambda: counter.count > 0) if counter.waits else None
        kernel.visible("get", counter.name, writing(counter.name), None, ready)
        if not counter.count:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        taken = 1 if counter.by_one else counter.count
        counter.count -= taken
        return taken

    return eventfd_read


def _written(plain: Any) -> Any:
    def eventfd_write(fd: int, value: int) -> None:
        found = _counter(fd)
        if found is None:
            plain(fd, value)
            return
        kernel, counter = found
        kernel.visible("put", counter.name, writing(counter.name))
        if not counter.count and value:
            kernel.opened(("get", counter.name))
        counter.count += value

    return eventfd_write


def _counter(fd: int) -> tuple[Kernel, Counter] | None:
    kernel, counter = running.kernel, known.get(fd)
    if kernel is None or counter is None or kernel.ending:
        return None
    if counter.process is not channel.upward:
        kernel.uncontrolled["a counter that processes share (os.eventfd)"] = HELPS
    return kernel, counter


def as_file(name: str, fd: Any, given: Any = b"") -> Any:
    """What `os.read` or `os.write` is for such a file; None for any other."""
    if name not in ("read", "write") or fd not in known or running.kernel is None:
        return None
    if name == "read":
        return os.eventfd_read(fd).to_bytes(8, sys.byteorder)
    os.eventfd_write(fd, int.from_bytes(given, sys.byteorder))
    return 8
