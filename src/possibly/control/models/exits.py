"""Functions that the program wants called at its end (`atexit`): they are, when all threads have ended."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from typing import Any

from possibly.control.endings import failures
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.places import place_of
from possibly.probes import port
from possibly.probes.patching import Patches

Wanted = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
_wanted: list[Wanted] = []


def install(patches: Patches) -> None:
    patches.put(atexit, "register", _register(atexit.register))
    patches.put(atexit, "unregister", _unregister(atexit.unregister))
    patches.put(atexit, "_ncallbacks", _count(atexit._ncallbacks))
    patches.put(atexit, "_clear", _clear(atexit._clear))


def _touch(writes: bool) -> None:
    now = accesses.active()
    if now is not None:
        now[1].access(now[0], LAST, LAST, touching(LAST, writes), place_of(sys._getframe()))


LAST = "the functions that are called at the end"


def _count(plain: Any) -> Any:
    def count() -> int:
        _touch(False)
        return int(plain()) + len(_wanted)

    return count


def _clear(plain: Any) -> Any:
    def clear() -> None:
        _touch(True)
        _wanted.clear()

    return clear


def _register(plain: Any) -> Any:
    def register(function: Any, *given: Any, **options: Any) -> Any:
        if not port.is_user_file(sys._getframe(1).f_code.co_filename):
            return plain(function, *given, **options)
        _touch(True)
        _wanted.append((function, given, options))
        now = accesses.active()
        if now is not None:
            now[1].want_last_words(now[0])
        return function

    return register


def _unregister(plain: Any) -> Any:
    def unregister(function: Any) -> None:
        _touch(True)
        _wanted[:] = [each for each in _wanted if each[0] != function]
        plain(function)

    return unregister


def forget() -> None:
    """A program that begins anew has wanted nothing yet."""
    _wanted.clear()


def wanted() -> list[Wanted]:
    """What would be called now."""
    return list(_wanted)


def want(functions: list[Wanted]) -> None:
    """From now on these are, as when they were `wanted`."""
    _wanted[:] = functions


def run() -> None:
    """The last one first; one that fails does not keep the others from being called."""
    while _wanted:
        function, given, options = _wanted.pop()
        try:
            function(*given, **options)
        except SystemExit:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its failure
            failures.note(failures.failure_of(error))
