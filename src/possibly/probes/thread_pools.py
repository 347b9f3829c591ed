"""`concurrent.futures.ThreadPoolExecutor`: each job is a process, which begins after its submit.

Two jobs of one thread have nothing to do with each other: another thread of the pool might have done the
second one, at the same time. So a job is a process of its own, called by its function; the thread that did it
comes after it, and it comes after what the pool's initializer did in that thread. The jobs of a pool with one
thread only come one after the other, as if they took a lock.
"""

from __future__ import annotations

from _thread import _local
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches
from possibly.probes.stated import plain_function, stated, stated_text

_here = _local()
"""Of a thread: `initialised`, what an initializer did; `is_alone` in its pool; `job`, its last one."""


def install(patches: Patches) -> None:
    from concurrent.futures import thread

    kind: Any = thread._WorkItem
    patches.put(kind, "__init__", _told_init(kind.__init__))
    patches.put(kind, "run", _told_run(kind.run))
    patches.put(thread, "_worker", _told_worker(thread._worker))


def _told_init(plain: Any) -> Any:
    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *arguments, **options)
        self._possibly = port.new_process(name_of(self.fn))
        port.before("spawn", self._possibly)

    return __init__


def name_of(function: Any) -> str:
    """What a job or callback is called: by its function, whatever that is wrapped in."""
    function = plain_function(function)
    name = stated_text(function, "__name__")
    if name == "run" and stated(function, "__self__") is not None:
        return "job"  # the context that `to_thread` calls in
    return name or type(function).__name__


def _told_run(plain: Any) -> Any:
    def run(self: Any, *arguments: Any) -> None:
        job, thread = self.__dict__.get("_possibly", 0), port.me()
        if not job:
            plain(self, *arguments)
            return
        port.become(job)
        try:
            port.after("start", job)
            if getattr(_here, "initialised", 0):
                port.after("learn", _here.initialised)
            if getattr(_here, "is_alone", False):
                port.after("join", _here.job)
                _here.job = job
            plain(self, *arguments)
            port.before("end", job)
        finally:
            port.become(thread)
            port.after("join", job)

    return run


def _told_worker(plain: Any) -> Any:
    def _worker(executor: Any, work: Any, initializer: Any, arguments: Any) -> None:
        def told(*given: Any) -> None:
            initializer(*given)
            _here.initialised = port.number()
            port.before("resolve", _here.initialised)

        pool = executor()
        _here.is_alone, _here.job = getattr(pool, "_max_workers", 0) == 1, 0
        del pool
        plain(executor, work, told if initializer is not None else None, arguments)

    return _worker
