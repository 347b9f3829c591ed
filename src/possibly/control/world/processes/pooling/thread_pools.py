"""`multiprocessing.pool.ThreadPool`, and `Pool` of `multiprocessing.dummy`, which is the same.

The real one has three threads of its own beside its workers, which look every tenth of a second what there is
to do. Here the workers are those of a `ThreadPoolExecutor`, under control. Two departures: work that is not
over when the program ends is waited for, and a piece of `map` is one item, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.world.processes.pooling.pools import FEW, Pool
from possibly.probes.patching import Patches


class ThreadPool(Pool):
    """In place of `multiprocessing.pool.ThreadPool`."""

    def __init__(
        self, processes: int | None = None, initializer: Any = None, initargs: Iterable[Any] = ()
    ) -> None:
        from concurrent.futures import ThreadPoolExecutor

        if processes is not None and processes < 1:
            raise ValueError("Number of processes must be at least 1")
        self.count = processes or FEW
        self.is_closed = False
        self._threads = ThreadPoolExecutor(self.count, "", initializer, tuple(initargs))

    def submit(self, function: Callable[..., Any], given: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if self.is_closed:
            raise ValueError("Pool not running")
        return self._threads.submit(function, *given, **options)

    def close(self) -> None:
        self.is_closed = True
        self._threads.shutdown(wait=False)

    def terminate(self) -> None:
        """What has not begun is given up; what runs goes on."""
        self.is_closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        if not self.is_closed:
            raise ValueError("Pool is still running")
        self._threads.shutdown(wait=True)


def install(module: Any, patches: Patches) -> None:
    plain = module.ThreadPool

    class Chosen(ThreadPool):
        def __new__(cls, *given: Any, **options: Any) -> Any:
            if running.kernel is None:
                return plain(*given, **options)
            return super().__new__(cls)

    Chosen.__name__ = Chosen.__qualname__ = "ThreadPool"
    Chosen.__module__ = plain.__module__
    patches.put(module, "ThreadPool", Chosen)
