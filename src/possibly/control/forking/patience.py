"""How long a process that does not answer is waited for.

Law: how fast or how busy the machine is decides nothing. A process that computes, or that the system does not
let compute because others do, is waited for. It stands still if, together with all that it has started, it
used no processor time for so many seconds and was never seen ready to run or waiting for a disk: it waits
for something that is not under control. One that computes without an end is given up after so much time of a
processor, which does not pass while others have it. Seconds in which nobody could look do not count.

Where the system does not tell of its processes (`/proc`), seconds of the clock have to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from enum import Enum

STILL = 20.0
"""Seconds of a standstill."""
BUSY = 6.0
"""So many times as much of processor time may be used without an end."""
LOOK = 0.25
"""Seconds between two looks."""
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_clock = time.monotonic
"""The real one: that of the module may be the program's (`inputs`)."""


LONG = 1.0
"""Seconds after which an execution that has not ended is worth a word."""
OVERDUE = 5
"""And so many times as long as any before it: where all take long, the last is not what is in the way."""


class TimeIsUp(Exception):
    """The time that the user gave is over."""

    def __init__(self, place: str = "") -> None:
        super().__init__(place)
        self.place = place
        """Where the execution stands that should have ended long ago."""


class Pace(Enum):
    WORKS = "works"
    STANDS = "stands still"
    ENDLESS = "computes without an end"


class Watch:
    """Of one process and all that it has started, from now on.

    `whole`: together with the others of its group, and not for ever.
    """

    def __init__(self, process: int, patience: float, whole: bool = True) -> None:
        self.process = process
        self.patience = patience
        self.whole = whole
        self._looked = _clock()
        self._still = 0.0
        self._first = self._used = self._look()[0]

    def pace(self) -> Pace:
        """How it goes on; asked every `LOOK` seconds."""
        now = _clock()
        used, runs = self._look()
        if runs or used != self._used:
            self._still = 0.0
        else:
            self._still += min(now - self._looked, 2 * LOOK)
        self._looked, self._used = now, used
        if self._still >= self.patience:
            return Pace.STANDS
        is_endless = self.whole and used - self._first >= BUSY * self.patience
        return Pace.ENDLESS if is_endless else Pace.WORKS

    def _look(self) -> tuple[float, bool]:
        """Seconds of processor time used so far, and whether more could be used now."""
        group = members(self.process) if self.whole else []
        used, runs = used_by({self.process, *group, *descendants(self.process)})
        return sum(used.values()), runs


class Patience:
    """With several processes, from now on: until one has computed for so many seconds, or all stand still."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._first: dict[int, float] = {}
        self._used: dict[int, float] = {}
        self._still = 0.0
        self._looked = _clock()

    def is_over(self, processes: Iterable[int]) -> bool:
        now = _clock()
        used, runs = used_by(processes)
        self._first = {**used, **self._first}
        self._still = 0.0 if runs or used != self._used else self._still + min(now - self._looked, 2 * LOOK)
        self._looked, self._used = now, used
        return self._still >= self.seconds or any(
            used[process] - self._first[process] >= self.seconds for process in used
        )


def used_by(processes: Iterable[int]) -> tuple[dict[int, float], bool]:
    """Seconds of processor time that each has used so far, and whether one of them could use more now."""
    used, runs = dict[int, float](), False
    for process in processes:
        told = _told(f"/proc/{process}/stat")
        if told:
            used[process] = (int(told[11]) + int(told[12])) / _TICKS
            runs = runs or any(state in "RDTt" for state in _states(process))
    return used, runs


def members(group: int) -> list[int]:
    """The processes of a group; where the system does not tell, the one that it is named after."""
    found = [process for process in _processes() if _told(f"/proc/{process}/stat")[2:3] == [str(group)]]
    return found or [group]


def descendants(process: int) -> set[int]:
    """What it has started, and what that has: whoever waits for these waits for what they compute."""
    parents = {each: int(told[1]) for each in _processes() if (told := _told(f"/proc/{each}/stat"))[1:]}
    found, new = set[int](), {process}
    while new:
        found |= new
        new = {each for each, parent in parents.items() if parent in new} - found
    return found - {process}


def _processes() -> Iterator[int]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    yield from (int(name) for name in names if name.isdigit())


def _states(process: int) -> Iterator[str]:
    """Of all threads of a process."""
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return
    for thread in threads:
        told = _told(f"/proc/{process}/task/{thread}/stat")
        if told:
            yield told[0]


def _told(path: str) -> list[str]:
    """What the system says of a process, from its state on; nothing if it is gone."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()
    except OSError:
        return []
