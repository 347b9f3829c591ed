"""`ThreadPoolExecutor`: its own code, with one freedom taken where nobody can tell.

A pool starts a thread for each call until it has as many as it may, and that thread begins with that call.
The standard library would first look whether a thread is idle, and any thread may take any call; what calls
can do to each other is the same, up to which thread runs them. Later calls are taken from the queue by
whichever thread comes first; the word that ends a thread stays there for the next one. If code that a pool
runs asks which thread it is in, or keeps something for its thread (`threading.local`), the library's own way
is followed step by step (`memory.WORKERS`).
"""

from __future__ import annotations

import queue
import sys
import threading
import weakref
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.loading.callers import tell_of_calls
from possibly.control.models import told
from possibly.control.models.locks import Lock
from possibly.control.models.queues import SimpleQueue
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.memory import WORKERS
from possibly.control.runtime.places import place_of
from possibly.probes.patching import Patches


def install(patches: Patches) -> None:
    from concurrent.futures import thread

    kind: Any = thread.ThreadPoolExecutor
    patches.put(kind, "__init__", _init(kind.__init__))
    patches.put(kind, "submit", _submit(kind.submit, thread))
    told.put(patches, kind, told.POOLS)
    patches.put(thread, "_global_shutdown_lock", _ShutdownLock())
    tell_of_calls(thread._WorkItem.run)


class _ShutdownLock(Lock):
    """The library's lock for all pools; it may be made before the program begins, by whoever imports pools.

    So it asks at each use whether it is quiet: a program without pools has no step of this lock.
    """

    family = "lock@concurrent.futures"

    def _settle(self) -> None:
        pass

    @property
    def quiet(self) -> bool:  # type: ignore[override]
        memory = accesses.memory
        return memory is None or self.family not in memory.visible


class _InLine(list[Any]):
    """The threads of a pool in the order of their start: a set would give them by their addresses."""

    def add(self, thread: Any) -> None:
        self.append(thread)


class _Uncounted:
    """Idle threads need not be counted: `submit` starts all that the pool may have before it looks."""

    def acquire(self, timeout: float | None = None) -> bool:
        return True

    def release(self) -> None:
        pass


class _Calls(SimpleQueue):
    """The calls that wait for a thread, and at last None: it ends each thread that comes to it.

    In the library whoever takes that puts it back for the next one. Here it stays, so that it makes no
    difference which thread ends first.
    """

    def __init__(self) -> None:
        super().__init__()
        self._leaving: set[str] = set()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        kernel = running.kernel
        if item is not None or kernel is None or kernel.current.name not in self._leaving:
            super().put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        kernel, state = running.kernel, self._state
        if kernel is None or not block:
            return super().get(block, timeout)
        at = place_of(sys._getframe(1))
        kernel.visible(
            "get", state.name, self._taking(), at, lambda: bool(self.queue), None, None,
            lambda: Operation("get", state.name, self._taking(), at),
        )  # fmt: skip
        kernel.did(self._taking())
        if self.queue[0] is None:
            self._leaving.add(kernel.current.name)
            kernel.tell({"value": None})
            return None
        state.taken += 1
        return self.queue.popleft()

    def get_nowait(self) -> Any:
        """A thread of the pool that looks whether it is idle is taken to be: it waits for a call then, and
        gets one that is there at once."""
        if running.kernel is not None and sys._getframe(1).f_code.co_name == "_worker":
            raise queue.Empty
        return super().get_nowait()

    def _taking(self) -> tuple[Access, ...]:
        found: tuple[Access, ...] = self._state.get(0)
        stays = bool(self.queue) and self.queue[0] is None
        return tuple(Access(each.thing, False) for each in found) if stays else found


def _init(plain: Any) -> Any:
    def __init__(self: Any, *given: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *given, **options)
        _equip(self)

    return __init__


def _equip(pool: Any) -> None:
    pool._threads = _InLine()
    if not _is_told_apart():
        pool._idle_semaphore = _Uncounted()
        pool._work_queue = _Calls()


EARLIER: list[Any] = []
"""Pools that were made before there were models; none of their threads is in an execution."""


def renew_earlier() -> None:
    """At the beginning of an execution: those pools as they are when they are made under control."""
    for pool in EARLIER:
        pool._shutdown_lock = threading.Lock()
        pool._idle_semaphore, pool._work_queue = threading.Semaphore(0), SimpleQueue()
        _equip(pool)


def _submit(plain: Any, library: Any) -> Any:
    def submit(self: Any, fn: Any, /, *given: Any, **options: Any) -> Any:
        kernel = running.kernel
        if kernel is None or len(self._threads) >= self._max_workers or _is_told_apart():
            return plain(self, fn, *given, **options)
        with self._shutdown_lock:  # whoever shuts the pool down waits until the thread is started
            if self._broken:
                raise library.BrokenThreadPool(self._broken)
            if self._shutdown:
                raise RuntimeError("cannot schedule new futures after shutdown")
            future = library._base.Future()
            item = _item(library, self, future, fn, given, options)
            _start_worker(self, item, library)
        return future

    return submit


def _is_told_apart() -> bool:
    memory = accesses.memory
    return memory is not None and WORKERS in memory.visible


def _item(library: Any, pool: Any, future: Any, fn: Any, given: Any, options: Any) -> Any:
    """What a worker runs; its shape differs between versions of Python."""
    if hasattr(pool, "_resolve_work_item_task"):
        return library._WorkItem(future, pool._resolve_work_item_task(fn, given, options))
    return library._WorkItem(future, fn, given, options)


def _start_worker(pool: Any, item: Any, library: Any) -> None:
    name = f"{pool._thread_name_prefix or pool}_{len(pool._threads)}"
    reference = weakref.ref(pool)
    arguments = _worker_arguments(pool, reference)

    def work() -> None:
        kernel, memory = running.kernel, accesses.memory
        if kernel is not None and memory is not None:
            memory.workers.add(kernel.current.name)
        if _has_begun(pool, library):
            item.run()
            library._worker(*arguments)
        else:
            item.future.set_exception(library.BrokenThreadPool(pool._broken))

    started = threading.Thread(name=name, target=work)
    pool._threads.add(started)
    library._threads_queues[started] = pool._work_queue
    started.start()


def _has_begun(pool: Any, library: Any) -> bool:
    """Calls the function that every thread of the pool begins with; if that fails, so does the pool."""
    begin = getattr(pool, "_initializer", None)
    try:
        if begin is not None:
            begin(*pool._initargs)
    except BaseException:
        library._base.LOGGER.critical("Exception in initializer:", exc_info=True)
        pool._initializer_failed()
        return False
    return True


def _worker_arguments(pool: Any, reference: Any) -> tuple[Any, ...]:
    if hasattr(pool, "_create_worker_context"):
        return reference, pool._create_worker_context(), pool._work_queue
    return reference, pool._work_queue, None, ()
