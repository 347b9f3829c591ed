"""Putting the models in place of what they model, once, in the process that is forked for each execution."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from possibly.control.loading import callers, evaluated, library
from possibly.control.models import caches, exits, inputs, primitives, queues, threads
from possibly.probes.patching import Patches

_THREADING = threading.__file__
WHEN_IMPORTED = {
    "concurrent.futures.thread": "possibly.control.models.pools",
    "concurrent.futures": "possibly.control.models.futures",
    "asyncio": "possibly.control.models.loops.events",
    "datetime": "possibly.control.models.dates",
    "logging": "possibly.control.models.levels",
    "uvloop": "possibly.control.models.loops.foreign_loops",
    "twisted.internet.base": "possibly.control.models.loops.reactors",
    "trio": "possibly.control.world.trios.runs",
    "anyio.streams.memory": "possibly.control.models.loops.anyio_told",
    "anyio._backends._asyncio": "possibly.control.models.loops.anyio_told",
    "anyio._backends._trio": "possibly.control.world.trios.guests",
    "socket": "possibly.control.world.doors",
    "ssl": "possibly.control.world.secure_sockets",
    "multiprocessing": "possibly.control.world.processes.install",
    "concurrent.futures.process": "possibly.control.world.processes.pooling.executors",
    "joblib._parallel_backends": "possibly.control.world.processes.pooling.joblibs",
    "os": "possibly.control.world.processes.ways_in",
    "subprocess": "possibly.control.world.processes.programs",
    "signal": "possibly.control.world.signals",
    "fcntl": "possibly.control.world.processes.file_locks",
    "sqlite3": "possibly.control.world.databases",
}
"""Module of the program -> the module that has its `install`."""


class OwnModules(MetaPathFinder):
    """Models are imported as they are: pytest, whose plugin we are, would rewrite each in every process."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(fullname, path, target) if fullname.startswith("possibly.") else None


def install_all(patches: Patches) -> None:
    sys.meta_path.insert(0, OwnModules())
    for name in ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event", "Barrier"):
        patches.put(threading, name, _for_others(getattr(primitives, name), getattr(threading, name)))
    threads.install(patches)
    inputs.install(patches)
    queues.install(patches)
    caches.install(patches)
    exits.install(patches)
    evaluated.install(patches)
    library.install(patches)
    callers.measure()
    for module, name in WHEN_IMPORTED.items():
        patches.when_imported(module, _lazily(name))
    patches.catch_up()


def _lazily(name: str) -> Any:
    def install(patches: Patches) -> None:
        from importlib import import_module

        import_module(name).install(patches)

    return install


def _for_others(model: Any, plain: Any) -> Any:
    """A class that makes plain primitives for `threading` itself and models for everybody else."""

    class Chooser(type(model)):  # type: ignore[misc]
        def __call__(cls, *given: Any, **options: Any) -> Any:
            if cls is chosen:
                if sys._getframe(1).f_code.co_filename == _THREADING:
                    return plain(*given, **options)
                found = model.__new__(model)
                found.__init__(*given, **options)
                return found
            return super().__call__(*given, **options)

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, model) if cls is chosen else super().__instancecheck__(instance)

    chosen = Chooser(model.__name__, (model,), {"__module__": "threading"})
    return chosen
