"""What loggers remember of levels, as a model: who asks first and who asks again cannot be told apart.

A logger keeps for each level whether it is enabled, until somebody sets a level anywhere, which clears what
all loggers keep. As long as nobody does that beside other tasks, whoever comes second would compute the same:
to look up and to store are then readings of one thing. The first execution in which it is cleared beside
others is found out as such: from then on, and in a search that begins anew, storing is a change like any
other. (A level that is stored as an attribute, past `setLevel`, is not seen by a logger that remembers, with
us as without.)
"""

from __future__ import annotations

import sys
from typing import Any

from possibly.control.execution import Access
from possibly.control.models import lines
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import Memory
from possibly.control.runtime.places import place_of
from possibly.probes.patching import Patches

CHANGED = "levels of loggers change"
"""The word for: what loggers remember is cleared while there are several tasks."""


def install(patches: Patches) -> None:
    import logging

    plain: Any = logging.Logger.__init__

    def made(logger: Any, *given: Any, **options: Any) -> None:
        plain(logger, *given, **options)
        logger._cache = Levels(logger.name)

    patches.put(logging.Logger, "__init__", made)
    for each in (logging.root, *logging.root.manager.loggerDict.values()):
        if isinstance(each, logging.Logger):
            patches.put(each, "_cache", Levels(each.name))
    lines.install(patches)


def _now() -> tuple[Kernel, Memory] | None:
    """The execution that is under way; none once its tasks are at an end, and all is put back."""
    found = accesses.active()
    return None if found is None or found[0].ending else found


class Levels:
    """Which levels of a logger are enabled."""

    possibly_tells = True

    def __init__(self, name: str) -> None:
        self._thing = f"levels of logger {name}"
        self._enabled: dict[int, bool] = {}

    def __getitem__(self, level: int) -> bool:
        self._tell(False)
        return self._enabled[level]

    def __setitem__(self, level: int, is_enabled: bool) -> None:
        now = _now()
        self._tell(now is not None and CHANGED in now[1].visible)
        self._enabled[level] = is_enabled

    def clear(self) -> None:
        now = _now()
        if now is not None:
            now[1].find_out(now[0], CHANGED)
        self._tell(True)
        self._enabled.clear()

    def _tell(self, writes: bool) -> None:
        now = _now()
        if now is not None:
            touched = (Access(self._thing, writes),)
            now[1].access(now[0], self._thing, self._thing, touched, place_of(sys._getframe(2)))
