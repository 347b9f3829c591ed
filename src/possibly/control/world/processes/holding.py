"""Which process has what: ends of pipes and sockets, which are gone when the last process lets go of them.

A process that is forked has all that its parent has. One that ends lets go of everything at once, in one
step; others can tell only of what nobody has any more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.runtime import kernel as running
from possibly.control.runtime.places import place_of
from possibly.control.world.processes import channel

living: list[Any] = []
"""Processes that the program has started, in that order."""
children: dict[int, Any] = {}
"""Number -> process that this one has forked, until it has been waited for."""
ending: list[Callable[[], None]] = []
"""What a process that ends waits for, in the first process: functions of its deputy."""
_all: list[Held] = []


def whose() -> Any:
    """The process that the running task of the first process acts for; None for the first itself."""
    assert running.kernel is not None
    task = running.kernel.current
    return next((each for each in living if each.task is task), None)


def sent(pid: int, number: int) -> bool:
    """Whether a signal has come to a process that the program has started; not if it is another's."""
    if channel.upward is not None:
        return bool(channel.ask("kill", pid, int(number)))
    found = next((each for each in living if each.pid == pid), None)
    if found is not None:
        found.receive(int(number))
    return found is not None


def _nothing() -> None:
    """Nobody needs to be told."""


class Held:
    """Something that processes have."""

    def __init__(self, *things: str, gone: Callable[[], None] = _nothing) -> None:
        self.things = things
        """What is written when nobody has it any more; the first is its name."""
        self.by = {whose()}
        self.gone = gone
        """Is called in the step in which the last process lets go of it."""
        _all.append(self)

    def __bool__(self) -> bool:
        return bool(self.by)


def inherit(parent: Any, child: Any) -> None:
    for each in _all:
        if parent in each.by:
            each.by.add(child)


def let_go(process: Any, *held: Held, within: bool = False) -> None:
    """The process has these no more, by a step of its own or within the running one."""
    kernel = running.kernel
    mine = [each for each in held if process in each.by]
    if kernel is None or not mine:
        return
    if not within:
        at, name = place_of(sys._getframe()), mine[0].things[0]
        refresh = lambda: Operation("close", name, _touched(mine), at)  # noqa: E731
        kernel.visible("close", name, _touched(mine), at, None, None, None, refresh)
    touched = _touched(mine)
    if not within:
        kernel.did(touched)
    for access in touched:
        kernel.add(access)
    for each in mine:
        each.by.discard(process)
        if not each.by:
            _all.remove(each)
            each.gone()


def _touched(mine: list[Held]) -> tuple[Access, ...]:
    """What is touched if one process lets go of all these now: that nobody has it is by all who let go."""
    counted = [Access(f"{each.things[0]}.count", True) for each in mine]
    last = [Access(thing, True) for each in mine if len(each.by) == 1 for thing in each.things]
    return (*counted, *last)


def touched_at_end(process: Any) -> tuple[Access, ...]:
    """What is touched if the process ends now."""
    return _touched([each for each in _all if process in each.by])


def leave(process: Any, within: bool = False) -> None:
    """The process has ended."""
    let_go(process, *_all, within=within)


def keep_only(process: Any, kept: list[Held]) -> None:
    """The process lets go of all but these."""
    let_go(process, *(each for each in _all if each not in kept))
