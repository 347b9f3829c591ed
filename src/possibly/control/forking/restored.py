"""State of libraries that an execution may change and that is put back when its process is used again.

Law: for each module named here, all that the names which `repeatable` allows can change of it is taken down
before the first execution and put back after each. Nothing is imported for this.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from typing import Any

from possibly.control.models import exits

Restore = Callable[[], None]


def kept() -> list[Restore]:
    """Functions that put back what is now, one a module that is there."""
    found: list[Restore] = [_exits()]
    for name, keep in (("logging", _logging), ("asyncio", _asyncio), ("tempfile", _tempfile)):
        module = sys.modules.get(name)
        if module is not None:
            found.append(keep(module))
    return found


def _exits() -> Restore:
    """What is called at the end: packages that were there before the program have said so only once."""
    wanted = exits.wanted()

    def restore() -> None:
        exits.want(wanted)

    return restore


def _logging(logging: Any) -> Restore:
    """Loggers, their levels and handlers: those made by an execution are forgotten."""
    manager = logging.Logger.manager
    loggers = dict(manager.loggerDict)
    states = [(vars(logger), dict(vars(logger))) for logger in (logging.root, *loggers.values())]
    lists = [(each, list(each)) for _, state in states for each in state.values() if type(each) is list]
    lists.append((logging._handlerList, list(logging._handlerList)))
    disabled = manager.disable

    def restore() -> None:
        manager.loggerDict.clear()
        manager.loggerDict.update(loggers)
        for now, state in states:
            now.clear()
            now.update(state)
            now.get("_cache", {}).clear()
        for each, values in lists:
            each[:] = values
        manager.disable = disabled

    return restore


def _tempfile(tempfile: Any) -> Restore:
    """The names that are found next, and where."""
    folder, names = tempfile.tempdir, tempfile._name_sequence

    def restore() -> None:
        tempfile.tempdir, tempfile._name_sequence = folder, names

    return restore


def _asyncio(asyncio: Any) -> Restore:
    """Names of tasks are counted from the beginning; the loop of an execution is nobody's any more."""
    from possibly.control.models.loops import coroutines, timers

    def restore() -> None:
        coroutines.numbers = count(1)
        asyncio.events._event_loop_policy = None
        coroutines.states.clear()
        coroutines.known_tasks.clear()
        timers.timers.clear()

    return restore
