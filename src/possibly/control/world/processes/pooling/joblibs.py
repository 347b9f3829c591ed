"""The processes of `joblib`, which it has from loky: under control they are forked, and it is said.

Those of its backend `multiprocessing` have queues of their own, and leave the verdict open.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

from possibly.control.execution import Outcome
from possibly.control.runtime import kernel as running
from possibly.control.world.processes.pooling.pools import Executor
from possibly.probes.patching import Patches

FORKED = "processes of joblib find the program as it is when they are first needed"
STRANGE = "what joblib sends to its processes and is not found there by its name, which is not under control"
BY_NAME = "functions and classes at the top of a module are"
OWN_QUEUES = "joblib's backend 'multiprocessing', whose queues are not under control"
UNDER_CONTROL = "backend='loky' and backend='threading' are"
_present: tuple[Any, Any] | None = None


class Workers(Executor):
    """In place of `joblib.executor.MemmappingExecutor`."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count
        self._temp_folder_manager = Folders()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        kernel = running.kernel
        try:
            pickle.dumps((fn, args, kwargs))
        except Exception:  # noqa: BLE001 - whatever an object of the program raises
            assert kernel is not None
            kernel.uncontrolled[STRANGE] = BY_NAME
            kernel.finish(Outcome.CUT_OFF, None)
        return super().submit(fn, *args, **kwargs)

    def terminate(self, kill_workers: bool = False) -> None:
        self._workers.terminate() if kill_workers else self.shutdown()


def _pool(plain: Any) -> Any:
    def made(*given: Any, **options: Any) -> Any:
        kernel = running.kernel
        if kernel is not None:
            kernel.uncontrolled[OWN_QUEUES] = UNDER_CONTROL
            kernel.finish(Outcome.CUT_OFF, None)
        return plain(*given, **options)

    return made


class Folders:
    """Of large arrays, which are sent as they are."""

    def set_current_context(self, context_id: Any) -> None:
        pass

    def register_new_context(self, context_id: Any) -> None:
        pass

    def _clean_temporary_resources(self, **_: Any) -> None:
        pass


def _executor(plain: Any) -> Any:
    def get_memmapping_executor(n_jobs: int, **options: Any) -> Any:
        global _present
        kernel = running.kernel
        if kernel is None:
            return plain(n_jobs, **options)
        kernel.assumed[FORKED] = None
        if _present is None or _present[0] is not kernel or _present[1].count != n_jobs:
            _present = kernel, Workers(n_jobs)
        return _present[1]

    return get_memmapping_executor


def install(patches: Patches) -> None:
    for name in ("joblib.executor", "joblib._parallel_backends"):
        module: Any = sys.modules.get(name)
        if module is not None:
            patches.put(module, "get_memmapping_executor", _executor(module.get_memmapping_executor))
    backends: Any = sys.modules["joblib._parallel_backends"]
    patches.put(backends, "MemmappingPool", _pool(backends.MemmappingPool))
