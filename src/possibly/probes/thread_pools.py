"""`concurrent.futures.ThreadPoolExecutor`: a submitted call begins after its submit."""

from __future__ import annotations

from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches


def install(patches: Patches) -> None:
    from concurrent.futures import thread

    kind: Any = thread._WorkItem
    patches.put(kind, "__init__", _told_init(kind.__init__))
    patches.put(kind, "run", _told_run(kind.run))


def _told_init(plain: Any) -> Any:
    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *arguments, **options)
        self._possibly = port.number()
        port.before("spawn", self._possibly)

    return __init__


def _told_run(plain: Any) -> Any:
    def run(self: Any, *arguments: Any) -> None:
        port.after("start", self._possibly)
        plain(self, *arguments)

    return run
