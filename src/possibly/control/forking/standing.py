"""Where a process stands that does not go on: the place in the user's code, told by the process itself.

The interpreter writes the stacks of all threads into a file when it gets a signal, whatever it is doing then
(`faulthandler`): also in C code that never returns. The file is in memory and shared by all processes that
are forked after `listen`.
"""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import time

from possibly.control.runtime.places import shown

SIGNAL = signal.SIGUSR2
WAITED = 0.5
"""Seconds that an answer is waited for; without one, no place is told."""
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in ', re.MULTILINE)
_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_clock = time.monotonic


class Standing:
    """Asks processes where they stand."""

    def __init__(self) -> None:
        self._file = os.memfd_create("stacks") if hasattr(os, "memfd_create") else -1

    def listen(self) -> None:
        """This process, and all that are forked from it, will answer."""
        if self._file >= 0:
            faulthandler.register(SIGNAL, file=self._file, all_threads=True)

    def place_of(self, process: int) -> str:
        """The line of the user's code at which a process that listens stands; empty if it does not say."""
        if self._file < 0:
            return ""
        begin = os.fstat(self._file).st_size
        try:
            os.kill(process, SIGNAL)
        except OSError:
            return ""
        return place_in(self._answer(begin))

    def _answer(self, begin: int) -> str:
        end = _clock() + WAITED
        size = begin
        while _clock() < end:
            time.sleep(0.02)
            before, size = size, os.fstat(self._file).st_size
            if size > begin and size == before:
                break
        return os.pread(self._file, size - begin, begin).decode("utf-8", "replace")

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def place_in(stacks: str) -> str:
    """The innermost line of the user's; rather of a thread that is not in code of ours, where tasks wait."""
    found: list[tuple[bool, str]] = []
    for stack in stacks.split("\n\n"):
        frames = _FRAME.findall(stack)
        place = next((f"{name}:{line}" for file, line in frames if (name := shown(file))), "")
        if place:
            found.append((frames[0][0].startswith(_OURS), place))
    return min(found, default=(False, ""))[1]
