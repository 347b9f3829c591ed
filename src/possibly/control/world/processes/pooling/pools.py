"""Pools of processes: `multiprocessing.Pool` and `ProcessPoolExecutor`.

Workers are forked when the pool is made; each takes the next piece of work as soon as it is free. The result
is handed over by the worker's deputy in the first process.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor as PlainExecutor
from concurrent.futures import Future
from multiprocessing import get_context
from typing import Any

from possibly.control.world.processes import channel
from possibly.control.world.processes.queues import SimpleQueue
from possibly.control.world.processes.shared import Shared, apart, makers

FEW = 2
"""Workers of a pool that does not say how many it has."""


class Results:
    """In the first process: the results that are still to come."""

    def __init__(self) -> None:
        self.waiting: dict[int, Any] = {}

    def done(self, number: int, is_error: bool, data: bytes) -> None:
        future = self.waiting.pop(number, None)
        if future is not None and not future.cancelled():
            value = pickle.loads(data)
            future.set_exception(value) if is_error else future.set_result(value)

    def begin(self, number: int) -> bool:
        future = self.waiting.get(number)
        return future is None or bool(future.set_running_or_notify_cancel())


makers["results"] = Results


class _Results(Shared):
    word = "results"


def _work(tasks: SimpleQueue, results: _Results, initializer: Any, given: tuple[Any, ...]) -> None:
    if initializer is not None:
        initializer(*given)
    while (piece := tasks.get()) is not None:
        number, function, arguments, options = piece
        if not results._call("begin", number):
            continue
        try:
            answer = False, function(*arguments, **options)
        except Exception as error:  # noqa: BLE001 - it is raised where the result is asked for
            answer = True, error
        results._call("done", number, answer[0], pickle.dumps(answer[1]))


class Workers:
    """Processes that take pieces of work."""

    def __init__(
        self,
        count: int | None,
        initializer: Any = None,
        given: Iterable[Any] = (),
        context: Any = None,
    ) -> None:
        self.count = count or FEW
        if channel.upward is not None:
            raise RuntimeError("a forked process has no pools under control")
        self._tasks, self._results = SimpleQueue(), _Results()
        self._numbers = itertools.count()
        self.is_closed = False
        arguments = (self._tasks, self._results, initializer, tuple(given))
        made: Any = context or get_context()
        self.processes = [made.Process(target=_work, args=arguments, daemon=True) for _ in range(self.count)]
        for process in self.processes:
            process.start()

    def submit(
        self, function: Callable[..., Any], given: tuple[Any, ...], options: dict[str, Any]
    ) -> Future[Any]:
        if self.is_closed:
            raise ValueError("Pool not running")
        future: Future[Any] = _future()
        number = next(self._numbers)
        from possibly.control.world.processes.shared import objects

        objects[self._results._number].waiting[number] = future
        self._tasks.put((number, function, given, options))
        return future

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            for _ in self.processes:
                self._tasks.put(None)

    def terminate(self) -> None:
        self.is_closed = True
        for process in self.processes:
            process.terminate()

    def join(self) -> None:
        for process in self.processes:
            process.join()


def _future() -> Any:
    from concurrent import futures

    return futures.Future()


class AsyncResult:
    """Of `Pool`: one result, or those of all pieces. Whoever waits for it finds the callback done."""

    def __init__(self, futures: list[Any], is_one: bool, callback: Any = None, failed: Any = None) -> None:
        self._futures, self._is_one = futures, is_one
        self._left = len(futures)
        self._told: Any = None
        if futures and (callback is not None or failed is not None):
            self._told = _event()
            for each in futures:
                each.add_done_callback(lambda _: self._tell(callback, failed))

    def _tell(self, callback: Any, failed: Any) -> None:
        self._left -= 1
        if self._left:
            return
        apart()
        errors = [error for each in self._futures if (error := each.exception()) is not None]
        apart()
        if errors and failed is not None:
            failed(errors[0])
        elif not errors and callback is not None:
            callback(self._results())
        self._told.set()

    def _results(self) -> Any:
        found = [each.result() for each in self._futures]
        return found[0] if self._is_one else found

    def get(self, timeout: float | None = None) -> Any:
        if self._told is not None and not self._told.wait(timeout):
            raise _late()
        errors = [self._error_of(each, timeout) for each in self._futures]  # of all, as the real one waits
        failed = next((each for each in errors if each is not None), None)
        if failed is not None:
            raise failed
        return self._results()

    def _error_of(self, future: Any, timeout: float | None) -> BaseException | None:
        from concurrent.futures import TimeoutError as NotDone

        try:
            found: BaseException | None = future.exception(timeout)
        except NotDone as error:
            raise _late() from error
        return found

    def wait(self, timeout: float | None = None) -> None:
        from concurrent.futures import wait

        if self._told is not None:
            self._told.wait(timeout)
        else:
            wait(self._futures, timeout)

    def ready(self) -> bool:
        if self._told is not None:
            return bool(self._told.is_set())
        return all(each.done() for each in self._futures)

    def successful(self) -> bool:
        if not self.ready():
            raise ValueError(f"{self!r} not ready")
        return all(each.exception() is None for each in self._futures)


def _event() -> Any:
    import threading

    return threading.Event()


def _late() -> Exception:
    from multiprocessing import TimeoutError as Late

    return Late()


class Pool(Workers):
    """In place of `multiprocessing.pool.Pool`."""

    def __init__(
        self, processes: int | None = None, initializer: Any = None, initargs: Iterable[Any] = (),
        maxtasksperchild: int | None = None, context: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(processes, initializer, initargs, context)

    def apply(self, func: Any, args: Any = (), kwds: Any = None) -> Any:
        return self.apply_async(func, args, kwds).get()

    def apply_async(
        self, func: Any, args: Any = (), kwds: Any = None, callback: Any = None, error_callback: Any = None
    ) -> AsyncResult:
        return AsyncResult([self.submit(func, tuple(args), dict(kwds or {}))], True, callback, error_callback)

    def map(self, func: Any, iterable: Any, chunksize: int | None = None) -> Any:
        return self.map_async(func, iterable).get()

    def map_async(
        self,
        func: Any,
        iterable: Any,
        chunksize: Any = None,
        callback: Any = None,
        error_callback: Any = None,
    ) -> AsyncResult:
        return AsyncResult(
            [self.submit(func, (each,), {}) for each in iterable], False, callback, error_callback
        )

    def starmap(self, func: Any, iterable: Any, chunksize: int | None = None) -> Any:
        return self.starmap_async(func, iterable).get()

    def starmap_async(
        self,
        func: Any,
        iterable: Any,
        chunksize: Any = None,
        callback: Any = None,
        error_callback: Any = None,
    ) -> AsyncResult:
        futures = [self.submit(func, tuple(each), {}) for each in iterable]
        return AsyncResult(futures, False, callback, error_callback)

    def imap(self, func: Any, iterable: Any, chunksize: int = 1) -> Iterator[Any]:
        return _results([self.submit(func, (each,), {}) for each in iterable])

    def imap_unordered(self, func: Any, iterable: Any, chunksize: int = 1) -> Iterator[Any]:
        from concurrent.futures import as_completed

        futures = [self.submit(func, (each,), {}) for each in iterable]
        return (each.result() for each in as_completed(futures))

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.terminate()


def _results(futures: list[Any]) -> Iterator[Any]:
    for each in futures:
        yield each.result()


class Executor(PlainExecutor):
    """In place of `ProcessPoolExecutor`."""

    def __init__(
        self, max_workers: int | None = None, mp_context: Any = None, initializer: Any = None,
        initargs: tuple[Any, ...] = (), **_: Any,
    ) -> None:  # fmt: skip
        self._workers = Workers(max_workers, initializer, initargs, mp_context)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        if self._workers.is_closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        return self._workers.submit(fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._workers.close()
        if wait:
            self._workers.join()
