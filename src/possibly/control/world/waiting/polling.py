"""`select.poll` and `select.epoll` that the program uses itself: waiting for a file is one operation.

What is registered is known here and to the real object. If one of the files leads outside, that is asked;
else waiting is a step like that of a selector (`selecting`). The table of what is registered is a thing,
which registering changes and waiting looks at, so that a file that another task adds wakes who waits.
"""

from __future__ import annotations

import os
import select
import sys
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import label, name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import visible, writing
from possibly.control.runtime.kernel import Kernel
from possibly.control.world.waiting import outward, selecting
from possibly.probes.patching import Patches

IN, OUT, ERROR, HANG_UP = select.POLLIN, select.POLLOUT, select.POLLERR, select.POLLHUP
INVALID = select.POLLNVAL
ALL = IN | select.POLLPRI | OUT
ENDED = getattr(select, "EPOLLRDHUP", 0)
ONCE, ON_CHANGE = getattr(select, "EPOLLONESHOT", 0), getattr(select, "EPOLLET", 0)
EDGES = "an epoll that tells of changes only (EPOLLET), which is not under control"


class Polled:
    """What both have in common."""

    forgets_closed = False
    """Whether a file that is closed is registered no more."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain
        self._masks: dict[int, int] = {}
        self._name = name_for("poll")
        label(self._name, "poll")

    def register(self, fd: Any, eventmask: int = ALL) -> None:
        self._change()
        self._plain.register(fd, eventmask)
        self._keep(fd, eventmask)

    def modify(self, fd: Any, eventmask: int) -> None:
        self._change()
        self._plain.modify(fd, eventmask)
        self._keep(fd, eventmask)

    def unregister(self, fd: Any) -> None:
        self._change()
        self._masks.pop(selecting.number(fd), None)
        self._plain.unregister(fd)

    def _change(self) -> None:
        kernel = running.kernel
        if kernel is not None and not kernel.ending:
            kernel.visible("register", self._name, writing(self._name))

    def _keep(self, fd: Any, mask: int) -> None:
        self._masks[selecting.number(fd)] = mask
        if mask & ON_CHANGE and running.kernel is not None:
            running.kernel.uncontrolled[EDGES] = "register without EPOLLET"

    def _waited(self, seconds: float | None) -> list[tuple[int, int]] | None:
        """Which files are ready for what; None if one of them leads outside."""
        kernel = running.kernel
        if kernel is None or kernel.ending:
            return None
        if selecting.asked is not None:
            return self._asked(seconds)
        if any(not self._is_inside(file) for file in self._masks):
            return None
        now = seconds is not None and seconds <= 0
        ready = None if now else lambda: bool(self._ready())
        visible(kernel, "select", self._name, self._touched, ready, None if now else seconds)
        return self._ready()

    def _asked(self, seconds: float | None) -> list[tuple[int, int]] | None:
        """In a started process, which asks the first one."""
        masks = list(self._masks.items())
        wanted = [(file, bool(mask & IN), bool(mask & OUT)) for file, mask in masks]
        found = None if selecting.asked is None else selecting.asked(wanted, seconds)
        if found is None:
            return None
        words = {1: IN, 2: OUT, 3: IN | OUT}
        return [(masks[index][0], words[events]) for index, events in found]

    def _is_inside(self, file: int) -> bool:
        return file in selecting.places() or _is_closed(file)

    def _touched(self) -> tuple[Access, ...]:
        places = selecting.places()
        looked = [Access(self._name, False)]
        for file, mask in self._masks.items():
            if file in places:
                looked += selecting.touched_by_looking(places[file], True, bool(mask & OUT))
                looked += [Access(end, False) for end in getattr(places[file], "ends", {}).values()]
        return tuple(dict.fromkeys(looked))

    def _ready(self) -> list[tuple[int, int]]:
        places = selecting.places()
        found = []
        for file, mask in self._masks.items():
            events = self._events(file, mask, places)
            if events:
                found.append((file, events))
        return found

    def _events(self, file: int, mask: int, places: dict[int, Any]) -> int:
        if file not in places:
            return 0 if self.forgets_closed else INVALID
        place, direction = places[file], _direction(file)
        mask &= direction | ENDED
        events = IN if mask & IN and place.is_readable() else 0
        events |= OUT if mask & OUT and place.is_writable() else 0
        if direction != IN | OUT:
            return _of_pipe(place, events, direction)
        is_over = getattr(place, "is_over", False)
        events |= ENDED if mask & ENDED and is_over else 0
        return events | (HANG_UP if is_over and getattr(place, "has_ended", False) else 0)


def _direction(file: int) -> int:
    pipes = sys.modules.get("possibly.control.world.processes.pipes")
    if pipes is None or file not in pipes.numbers:
        return IN | OUT
    return OUT if pipes.numbers[file][1] else IN


def _of_pipe(pipe: Any, events: int, direction: int) -> int:
    """An end of a pipe tells that there is nobody at the other end, whether it is asked or not."""
    if direction == IN and not pipe.held[True]:
        return HANG_UP | (events if pipe.data else 0)
    return events | ERROR if direction == OUT and not pipe.held[False] else events


def _is_closed(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return True
    return False


class Poll(Polled):
    """`select.poll()`: milliseconds, and a file that is closed is told of."""

    def poll(self, timeout: float | None = None) -> list[tuple[int, int]]:
        seconds = None if timeout is None or timeout < 0 else timeout / 1000
        found = self._waited(seconds)
        if found is not None:
            return found
        look = lambda left: self._plain.poll(None if left is None else left * 1000)  # noqa: E731
        return _outside(running.kernel, look, seconds)


class Epoll(Polled):
    """`select.epoll()`: seconds, and a file that is closed is forgotten."""

    forgets_closed = True

    def poll(self, timeout: float | None = None, maxevents: int = -1) -> list[tuple[int, int]]:
        seconds = None if timeout is None or timeout < 0 else timeout
        found = self._waited(seconds)
        if found is None:
            look = lambda left: self._plain.poll(left, maxevents)  # noqa: E731
            return _outside(running.kernel, look, seconds)
        found = found[:maxevents] if maxevents > 0 else found
        for file, _ in found:
            if self._masks[file] & ONCE:
                self._masks[file] = 0
        return found

    def close(self) -> None:
        self._plain.close()

    @property
    def closed(self) -> bool:
        found: bool = self._plain.closed
        return found

    def fileno(self) -> int:
        found: int = self._plain.fileno()
        return found

    def __enter__(self) -> Epoll:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _outside(kernel: Kernel | None, look: Any, seconds: float | None) -> list[tuple[int, int]]:
    if kernel is None or kernel.ending:
        found: list[tuple[int, int]] = look(seconds)
        return found
    waited: list[tuple[int, int]] = outward.waited(kernel, look, seconds)
    return waited


def install(patches: Patches) -> None:
    for name, kind in (("poll", Poll), ("epoll", Epoll)):
        plain = getattr(select, name, None)
        if plain is not None:
            patches.put(select, name, _for_program(plain, kind))


def _for_program(plain: Any, kind: Any) -> Any:
    """What trio and selectors wait with is their own affair (`trios`, `selecting`)."""

    def made(*given: Any, **options: Any) -> Any:
        real = plain(*given, **options)
        caller = str(sys._getframe(1).f_globals.get("__name__"))
        return real if caller == "selectors" or caller.startswith("trio._core.") else kind(real)

    return made
