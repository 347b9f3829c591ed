"""`anyio` on `asyncio`: its worker threads, task groups and locks; all else `asyncio` tells itself."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from possibly.probes.libraries import locks
from possibly.probes.libraries.jobs import Job
from possibly.probes.loops.tasks import learn_future
from possibly.probes.patching import Patches


class Work:
    """The queue of a worker thread: what it gets is a job until it says that it is done."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain
        self._job: Job | None = None

    def put_nowait(self, item: Any) -> None:
        self._plain.put_nowait(None if item is None else (Job(item[1]), item))

    def get(self) -> Any:
        found = self._plain.get()
        if found is None:
            return None
        self._job, item = found
        self._job.begin()
        return item

    def task_done(self) -> None:
        if self._job is not None:
            self._job.end()
            self._job = None
        self._plain.task_done()


def install(patches: Patches) -> None:
    backend: Any = sys.modules["anyio._backends._asyncio"]
    _told_threads(patches, backend.WorkerThread)
    _told_groups(patches, backend.TaskGroup)
    locks.install(patches, backend.Lock, backend.Semaphore, backend.CapacityLimiter)
    _told_events(patches, sys.modules["anyio._core._synchronization"])


def _told_groups(patches: Patches, kind: Any) -> None:
    """Who leaves a group comes after all that ran in it."""
    spawn, leave = kind._spawn, kind.__aexit__

    def _spawn(self: Any, *given: Any, **options: Any) -> Any:
        known = set(self._tasks)
        found = spawn(self, *given, **options)
        self.__dict__.setdefault("_possibly_tasks", []).extend(self._tasks - known)
        return found

    async def __aexit__(self: Any, *error: Any) -> Any:  # noqa: N807
        try:
            return await leave(self, *error)
        finally:
            for task in self.__dict__.get("_possibly_tasks", ()):
                learn_future(task)

    patches.put(kind, "_spawn", _spawn)
    patches.put(kind, "__aexit__", __aexit__)


def _told_events(patches: Patches, module: Any) -> None:
    """One that is made before a loop runs becomes one of the loop when it is set, not when it is asked."""
    kind = module.EventAdapter
    plain = kind.set

    def told_set(self: Any) -> None:
        with suppress(Exception):  # no loop runs
            _ = self._event
        plain(self)

    patches.put(kind, "set", told_set)


def _told_threads(patches: Patches, kind: Any) -> None:
    plain = kind.__init__

    def __init__(self: Any, *given: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *given, **options)
        self.queue = Work(self.queue)

    patches.put(kind, "__init__", __init__)
