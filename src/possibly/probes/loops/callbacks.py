"""`asyncio`: functions that a loop calls outside of its tasks, each a process of its own.

A callback begins after whoever asked for it (`call_soon`, `call_later`, `call_soon_threadsafe`,
`add_done_callback`). Nothing orders two callbacks, but that those which one process asks for by `call_soon`
come one after the other. The thread of the loop comes after all that it called. Functions of the standard
library's own belong to the thread of the loop, and tell nothing.
"""

from __future__ import annotations

import sys
import weakref
from _thread import get_ident
from typing import Any

from possibly.probes import port
from possibly.probes.stated import plain_function, stated
from possibly.probes.thread_pools import name_of

running: set[int] = set()
"""Threads in which a callback of the program runs."""
_turns: dict[int, int] = {}
_loops: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_newest: dict[tuple[int, int], int] = {}
"""(loop, process) -> the callback that the process asked for last by `call_soon`."""


def tell_turn(how: str | None = None) -> None:
    """What runs now is not interrupted by others of its loop before it is told of their turns."""
    from asyncio import _get_running_loop  # not above: asyncio may be about to be imported

    loop: Any = _get_running_loop()
    number = _loops.get(loop, 0) if loop is not None else 0
    if loop is not None and not number:
        number = _loops[loop] = port.number()
        port.after("new", number, "Loop")
    if number:
        _turns[get_ident()] = turns_here() + 1
        port.after("turn", number, how)


def turns_here() -> int:
    """How many turns were told of in this thread."""
    return _turns.get(get_ident(), 0)


class Scheduled:
    """A function of the program that a loop calls; it is that function to whoever asks."""

    __slots__ = ("_earlier", "_function", "_process")

    def __init__(self, function: Any, earlier: int = 0) -> None:
        self._function = function
        self._earlier = earlier
        self._process = port.new_process(name_of(function))
        port.before("spawn", self._process)

    @property
    def process(self) -> int:
        return self._process

    def __call__(self, *arguments: Any) -> Any:
        thread, ident = port.me(), get_ident()
        was_running = ident in running
        running.add(ident)
        port.become(self._process)
        try:
            self._begin(*arguments)
            return self._function(*arguments)
        finally:
            port.before("end", self._process)
            port.become(thread)
            if not was_running:
                running.discard(ident)
            port.after("join", self._process)

    def _begin(self, *_: Any) -> None:
        port.after("start", self._process)
        tell_turn()
        if self._earlier:
            port.after("join", self._earlier)

    def __eq__(self, other: object) -> bool:
        return bool(self._function == (other._function if isinstance(other, Scheduled) else other))

    def __hash__(self) -> int:
        return hash(self._function)

    def __repr__(self) -> str:
        return repr(self._function)


def scheduled(function: Any, loop: Any = None) -> Any:
    """The function as a process, if it is to be told of; `loop`: it comes after those asked for before."""
    if isinstance(function, Scheduled) or not is_told(function, 3):
        return function
    if loop is None:
        return Scheduled(function)
    key = id(loop), port.me()
    found = Scheduled(function, _newest.get(key, 0))
    _newest[key] = found.process
    return found


def is_told(function: Any, depth: int = 2) -> bool:
    """Whether the function is not the standard library's own, or one of its that somebody else asked for.

    Packages resolve futures in their callbacks, so theirs are processes too. `depth`: how many frames above
    this one whoever asked is.
    """
    if type(function).__module__ == "_asyncio":
        return False
    code = stated(plain_function(function), "__code__")
    if code is not None and not port.is_library(code.co_filename) and not code.co_filename.startswith("<"):
        return True
    return not port.is_library(sys._getframe(depth).f_code.co_filename)


def forget(loop: Any) -> None:
    """The loop does not run any more."""
    for key in [key for key in _newest if key[0] == id(loop)]:
        del _newest[key]
