"""`twisted`: its reactors wait for the real clock and real files; the one on asyncio is under control."""

from __future__ import annotations

import sys
from typing import Any

from possibly.control.execution import Outcome
from possibly.control.runtime import kernel as running
from possibly.probes.patching import Patches

REACTOR = "the reactor of twisted, which is not under control"
ON_ASYNCIO = (
    "the one on the loop of asyncio is: `from twisted.internet import asyncioreactor` and "
    "`asyncioreactor.install()` before anything else of twisted is imported"
)


def _main_loop(plain: Any) -> Any:
    def mainLoop(self: Any) -> Any:  # noqa: N802 - its name there
        kernel = running.kernel
        if kernel is not None and not kernel.ending:
            kernel.uncontrolled[REACTOR] = ON_ASYNCIO
            kernel.finish(Outcome.CUT_OFF, None)
        return plain(self)

    return mainLoop


def install(patches: Patches) -> None:
    library: Any = sys.modules["twisted.internet.base"]
    for kind in vars(library).values():
        if isinstance(kind, type) and "mainLoop" in vars(kind):
            patches.put(kind, "mainLoop", _main_loop(vars(kind)["mainLoop"]))
