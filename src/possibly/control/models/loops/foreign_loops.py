"""`uvloop`: its loops are in C, where no turn is seen; those of asyncio take their place, and it is said."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.probes.patching import Patches

REPLACED = "the loop of asyncio does what that of uvloop would do"


class Loop(asyncio.SelectorEventLoop):
    """Takes the place of `uvloop.Loop`, by which all loops of that library are made."""

    def __init__(self) -> None:
        super().__init__()
        if running.kernel is not None:
            running.kernel.assumed[REPLACED] = None


def install(patches: Patches) -> None:
    library: Any = sys.modules["uvloop"]
    patches.put(library, "Loop", Loop)
