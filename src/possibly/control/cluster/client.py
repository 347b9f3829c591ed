"""The user's side of a cluster: executions are handed over as futures of Dask, and waited for as files."""

from __future__ import annotations

import logging
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn, TypeVar

from possibly import hashing
from possibly.control.cluster.branch import Branch, Grown
from possibly.control.cluster.helper import ABSENT, Order, Place, executed, surroundings
from possibly.control.execution import Execution, Scheduler
from possibly.control.forking.execution import Job
from possibly.control.forking.patience import TimeIsUp
from possibly.control.forking.zygote import ControlledProgram
from possibly.errors import PossiblyError, UsageError

_Answer = TypeVar("_Answer")
LOCAL = "local"
RETRIES = 10
"""So often an execution is tried again whose worker died."""
CONNECTING = "30s"
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,
}
"""What Dask watches of itself, seldom or not at all: many times a second it costs an eighth of a core."""


class Cluster:
    """A connection to a scheduler of Dask; `local` starts one here, with a worker for each core."""

    def __init__(self, address: str, words: tuple[str, ...]) -> None:
        distributed = _distributed()
        self._words = words
        self._own: Any = None
        if address == LOCAL:
            self._own = local_cluster(os.cpu_count() or 1)
        try:
            self.client: Any = distributed.Client(self._own or address, timeout=CONNECTING)
        except (OSError, ValueError) as error:
            raise PossiblyError(f"no cluster at {address}: {error}") from None
        self.begun = time.monotonic()
        self._check_alike()

    @property
    def threads(self) -> int:
        """How many executions can run at a time."""
        return sum(self.client.nthreads().values())

    @property
    def workers(self) -> int:
        return len(self.client.nthreads())

    def _check_alike(self) -> None:
        """Other programs or packages are other executions: what differs is named."""
        if not self.threads:
            raise PossiblyError("the cluster has no workers")
        here = surroundings(self._words, os.getcwd())
        for worker, there in self.client.run(surroundings, self._words, os.getcwd()).items():
            if differing := differences(here, there):
                raise UsageError(
                    f"worker {worker} of the cluster is not like this machine ({differing})",
                    hint="install the same packages and the same program, at the same path, on all machines",
                )

    def host(self, program: ControlledProgram) -> Away:
        """What runs executions of the program, for `ControlledProgram.elsewhere`."""
        return Away(self.client, program, self._place(program))

    def _place(self, program: ControlledProgram) -> bytes:
        options = tuple(program.options.items())
        return pickle.dumps(Place(os.getcwd(), self._words, options, hashing.known))

    def submit(self, program: ControlledProgram, branches: tuple[Branch, ...]) -> Any:
        """A future: what some worker finds in these branches of the tree."""
        order = order_of(program, Job(), branches, False)
        return self.client.submit(executed, self._place(program), order, pure=False, retries=RETRIES)

    def answer(self, future: Any) -> list[Grown | None] | TimeIsUp:
        found: list[Grown | None] | TimeIsUp = pickle.loads(future.result())
        return found

    def answers(
        self, question: Callable[[str], _Answer], paths: Sequence[str]
    ) -> Iterator[tuple[str, _Answer]]:
        """What is answered about each path, as the answers come; they travel pickled."""
        futures = self.client.map(partial(_pickled, question), paths, pure=False, retries=RETRIES)
        of = dict(zip((future.key for future in futures), paths, strict=True))
        for future in _distributed().as_completed(futures):
            yield of[future.key], pickle.loads(future.result())

    def missing(self) -> NoReturn:
        raise PossiblyError(
            "the cluster has no workers any more", hint="--resume FILE keeps what is explored"
        )

    def close(self) -> None:
        self.client.close()
        if self._own is not None:
            self._own.close()


def local_cluster(workers: int) -> Any:
    """A cluster of Dask on this machine that leaves the cores to the program."""
    distributed = _distributed()
    import dask

    with dask.config.set(QUIET):
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.ERROR,
        )


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """What is not the same on a worker, in words."""
    return "; ".join(
        f"{what}: {here.get(what, ABSENT)} here, {there.get(what, ABSENT)} there"
        for what in sorted({*here, *there})
        if here.get(what, ABSENT) != there.get(what, ABSENT)
    )


def order_of(
    program: ControlledProgram, job: Job, plan: Scheduler | tuple[Branch, ...], fresh: bool
) -> bytes:
    """What a worker is asked for, as it travels."""
    seconds = None if program.until is None else max(program.until - time.monotonic(), 0.0)
    return pickle.dumps(Order(job, pickle.dumps(plan), fresh, program.knowledge(), seconds))


def _pickled(question: Callable[[str], Any], path: str) -> bytes:
    return pickle.dumps(question(path))


class Away:
    """Executions somewhere in a cluster, answered in the order in which they were begun."""

    def __init__(self, client: Any, program: ControlledProgram, place: bytes) -> None:
        self._client = client
        self._program = program
        self._place = place
        self._futures: deque[Any] = deque()
        self._readable, self._written = os.pipe()

    def begin(self, job: Job, scheduler: Scheduler, fresh: bool = True) -> None:
        order = order_of(self._program, job, scheduler, fresh)
        future = self._client.submit(executed, self._place, order, pure=False, retries=RETRIES)
        future.add_done_callback(self._tell)
        self._futures.append(future)

    def _tell(self, _: object) -> None:
        with suppress(OSError):  # nobody waits any more
            os.write(self._written, b".")

    def fileno(self) -> int:
        return self._readable

    def answer(self, until: float | None = None) -> tuple[Execution, dict[str, Any]]:
        """Of the execution that was begun first; `TimeIsUp` if it has not come by then."""
        future = self._futures.popleft()
        try:
            left = None if until is None else max(until - time.monotonic(), 0.0) + 1.0
            answer = pickle.loads(future.result(timeout=left))
        except TimeoutError:
            raise TimeIsUp("") from None
        os.read(self._readable, 1)
        if isinstance(answer, TimeIsUp):
            raise answer
        execution, extra = answer
        return execution, extra

    def close(self) -> None:
        for future in self._futures:
            future.cancel()
        self._futures.clear()
        os.close(self._written)
        os.close(self._readable)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise UsageError("a cluster needs Dask distributed", hint="pip install 'possibly[cluster]'") from None
    return distributed
