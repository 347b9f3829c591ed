"""`ProcessPoolExecutor`, with processes that are under control."""

from __future__ import annotations

import sys
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.world.processes.pooling.pools import Executor
from possibly.probes.patching import Patches


def install(patches: Patches) -> None:
    module: Any = sys.modules["concurrent.futures.process"]
    plain = module.ProcessPoolExecutor

    def chosen(*given: Any, **options: Any) -> Any:
        return (Executor if running.kernel is not None else plain)(*given, **options)

    for holder in (module, sys.modules["concurrent.futures"]):
        if holder.__dict__.get("ProcessPoolExecutor") is plain:  # the package has it once it was asked for
            patches.put(holder, "ProcessPoolExecutor", chosen)
