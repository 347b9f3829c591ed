"""`trio`: its tasks as processes, what one task wakes another by, nurseries, and calls to and from threads.

Trio tells its instruments when a task is spawned, scheduled, goes on and ends. Who is scheduled by another
task, or by a call from a thread, goes on after that; a deadline that is up comes from nobody. Locks and their
kin are in `locks`.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Generator
from typing import Any

from possibly.probes import port
from possibly.probes.libraries import channels, locks
from possibly.probes.libraries.jobs import Job
from possibly.probes.loops import callbacks
from possibly.probes.patching import Patches

_children: weakref.WeakKeyDictionary[Any, list[int]] = weakref.WeakKeyDictionary()
"""Nursery -> the processes that were started in it."""


class Tasks:
    """An instrument of one run; the names of its methods are trio's."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._thread = port.me()
        self._numbers: dict[Any, int] = {}
        self._started: set[Any] = set()
        self._causes: dict[Any, int] = {}
        """Task -> who scheduled it."""

    def current(self) -> int:
        return self._numbers.get(getattr(self._context, "task", None), 0)

    def task_spawned(self, task: Any) -> None:
        if task.name.startswith("<"):  # trio's own, which only call others
            return
        number = self._numbers[task] = port.new_process(task.name.rpartition(".")[2])
        port.before("spawn", number)
        if task.parent_nursery is not None:
            _children.setdefault(task.parent_nursery, []).append(number)

    def task_scheduled(self, task: Any) -> None:
        if task not in self._started or locks.is_handing_over():
            return
        if port.me() not in (self._thread, self._numbers[task]):
            cause = self._causes[task] = port.number()
            port.before("resolve", cause)

    def before_task_step(self, task: Any) -> None:
        number = self._numbers.get(task)
        if number and task not in self._started:
            self._started.add(task)
            port.after("start", number)
        cause = self._causes.pop(task, 0)
        if cause:
            port.after("learn", cause)

    def task_exited(self, task: Any) -> None:
        if task in self._started:
            port.before("end", self._numbers[task])
            self._started.discard(task)

    def over(self) -> None:
        port.set_task_finder(None)
        for number in self._numbers.values():
            port.after("join", number)


def _is_in_asyncio() -> bool:
    """Whether the host of a guest run is an asyncio loop, whose own tasks run in this thread too."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


def _told_run(plain: Any, context: Any) -> Any:
    def unrolled_run(runner: Any, *given: Any, **options: Any) -> Generator[Any, Any, None]:
        if getattr(runner, "is_guest", False) and _is_in_asyncio():
            yield from plain(runner, *given, **options)
            return
        tasks = Tasks(context)
        runner.instruments.add_instrument(tasks)
        port.set_task_finder(tasks.current)
        try:
            yield from plain(runner, *given, **options)
        finally:
            tasks.over()

    return unrolled_run


def _told_end(plain: Any) -> Any:
    async def _nested_child_finished(self: Any, *given: Any) -> Any:
        try:
            return await plain(self, *given)
        finally:
            for child in _children.pop(self, ()):
                port.after("join", child)

    return _nested_child_finished


def _told_call(plain: Any) -> Any:
    def run_sync_soon(self: Any, function: Any, *given: Any, **options: Any) -> None:
        plain(self, callbacks.Scheduled(function), *given, **options)

    return run_sync_soon


def _told_thread(plain: Any) -> Any:
    def start_thread_soon(self: Any, fn: Any, deliver: Any, name: Any = None) -> None:
        job = Job(fn)

        def told() -> Any:
            job.begin()
            return fn()

        def delivered(outcome: Any) -> None:
            try:
                deliver(outcome)
            finally:
                job.end()

        plain(self, told, delivered, name)

    return start_thread_soon


def install(patches: Patches) -> None:
    core: Any = sys.modules["trio._core._run"]
    patches.put(core, "unrolled_run", _told_run(core.unrolled_run, core.GLOBAL_RUN_CONTEXT))
    nursery: Any = core.Nursery
    patches.put(nursery, "_nested_child_finished", _told_end(nursery._nested_child_finished))
    entry: Any = sys.modules["trio._core._entry_queue"].EntryQueue
    patches.put(entry, "run_sync_soon", _told_call(entry.run_sync_soon))
    threads: Any = sys.modules["trio._core._thread_cache"].ThreadCache
    patches.put(threads, "start_thread_soon", _told_thread(threads.start_thread_soon))
    both: Any = sys.modules["trio._channel"]
    channels.install(patches, both.MemorySendChannel, both.MemoryReceiveChannel)
    sync: Any = sys.modules["trio._sync"]
    locks.install(patches, sync._LockImpl, sync.Semaphore, sync.CapacityLimiter)
    locks.install_events(patches, sync.Event, sync.Condition)
