"""Jobs on their way to the processes that run them.

A job goes as one message, which several processes may look at before one takes it. The system bounds what a
message may hold, and a schedule with its sources may be longer: then the message names a file that holds it,
which is there until the job has been answered.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque

LARGEST = 64 << 10
"""Bytes of a message. Each system allows three times as much, unless somebody has told it otherwise."""
_LENGTH = 4
"""Bytes that tell the length of the plan, which comes before the rest of the job."""
_ELSEWHERE = b"\xff" * _LENGTH
_open, _read, _close = os.open, os.read, os.close
"""As they are: meanwhile those of the module may be a program's."""


class Outbox:
    """The jobs that were handed over and not answered."""

    def __init__(self) -> None:
        self._files: deque[str] = deque()
        """For each of them, in the order in which they are answered; empty: there is none."""

    def message(self, head: bytes, plan: bytes, job: bytes) -> bytes:
        content = len(plan).to_bytes(_LENGTH, "little") + plan + job
        if len(content) < LARGEST:
            self._files.append("")
            return head + content
        number, path = tempfile.mkstemp(prefix="possibly-job-")
        with open(number, "wb") as file:
            file.write(content)
        self._files.append(path)
        return head + _ELSEWHERE + os.fsencode(path)

    def answered(self) -> None:
        """The first of them."""
        path = self._files.popleft()
        if path:
            os.unlink(path)

    def close(self) -> None:
        while self._files:
            self.answered()


def arrived(message: memoryview) -> tuple[memoryview, memoryview]:
    """Plan and job of a message without its head."""
    data = message
    if data[:_LENGTH] == _ELSEWHERE:
        data = memoryview(_content(bytes(data[_LENGTH:])))
    end = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    return data[_LENGTH:end], data[end:]


def _content(path: bytes) -> bytes:
    file = _open(path, os.O_RDONLY)
    try:
        parts = []
        while part := _read(file, 1 << 20):
            parts.append(part)
        return b"".join(parts)
    finally:
        _close(file)
