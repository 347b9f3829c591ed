"""The table of all probes: which module each belongs to, and whether the module is patched at once.

A new primitive to watch is a file beside this one and a row here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from possibly.probes.patching import Patches

AT_ONCE = ("locks", "threads", "queues", "exits")
"""Probes of modules that the interpreter has loaded anyway, or that are light."""
WHEN_IMPORTED = {
    "concurrent.futures": "futures.install",
    "concurrent.futures.thread": "thread_pools.install",
    "concurrent.futures.process": "processes.pipes.install_executors",
    "asyncio": "loops.events.install",
    "asyncio.streams": "loops.streams.install",
    "multiprocessing.process": "processes.start.install",
    "multiprocessing.spawn": "processes.start.install_spawn",
    "multiprocessing.connection": "processes.pipes.install",
    "multiprocessing.queues": "processes.pipes.install_queues",
    "multiprocessing.synchronize": "processes.locks.install",
    "multiprocessing.pool": "processes.pipes.install_pools",
    "subprocess": "processes.programs.install",
    "socket": "sockets.install",
    "mpi4py.MPI": "mpi.install",
    "trio": "libraries.trio.install",
    "anyio._backends._asyncio": "libraries.anyio.install",
    "anyio.streams.memory": "libraries.channels.install_anyio",
}
"""Module of the program -> probe file and its function."""


def install_all(patches: Patches) -> None:
    for probe in AT_ONCE:
        _installer(f"{probe}.install")(patches)
    for module, probe in WHEN_IMPORTED.items():
        patches.when_imported(module, _lazily(probe))


def _lazily(probe: str) -> Callable[[Patches], None]:
    return lambda patches: _installer(probe)(patches)


def _installer(probe: str) -> Callable[[Patches], None]:
    file, _, function = probe.rpartition(".")
    found: Callable[[Patches], None] = getattr(import_module(f"possibly.probes.{file}"), function)
    return found
