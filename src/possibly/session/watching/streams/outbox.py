"""A sender's lines on disk until the server has them: they outlive the server, the network and the sender.

Two files a sender, `NAME.lines` and `NAME.sent`: the lines as they were told, and how many of them the server
has acknowledged, with where that is in the file. Whoever writes holds a lock on the lines; files that nobody
holds were left behind by a program that was killed, or that ended while the server was away, and the next
program that connects to the same stream takes them along.

Law: lines are numbered from the first on, for ever. What is acknowledged is forgotten from time to time: the
lines are cut off first, then the new place is written, so a place beyond the end of the file means its
beginning.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from possibly.session.watching.streams.messages import MOST_BYTES, StreamAddress

FOLDER = "POSSIBLY_OUTBOX"
"""The variable of the environment that names another folder than the usual one."""
FORGET = 16 << 20
"""Bytes of acknowledged lines that are kept."""
MOST = 4 << 30
"""Bytes of lines that wait; beyond, nothing more is taken, and that is told."""


def folder_of(address: StreamAddress) -> Path:
    base = os.environ.get(FOLDER)
    if base is None:
        home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
        base = os.path.join(home, "possibly", "outbox")
    found = Path(base) / f"{address.scheme}-{address.host}-{address.port}-{address.name}".replace(":", "_")
    found.mkdir(mode=0o700, parents=True, exist_ok=True)
    return found


class Outbox:
    """The lines of one sender. One thread writes, another one sends."""

    def __init__(self, folder: Path, sender: str, descriptor: int) -> None:
        self.sender = sender
        self._path, self._note = folder / f"{sender}.lines", folder / f"{sender}.sent"
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self.first, self._offset = self._noted()
        self._size = os.fstat(descriptor).st_size
        if self._offset > self._size:
            self._offset = 0

    @staticmethod
    def new(folder: Path) -> Outbox:
        sender = secrets.token_hex(8)
        descriptor = os.open(
            folder / f"{sender}.lines", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600
        )
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return Outbox(folder, sender, descriptor)

    @staticmethod
    def left_behind(folder: Path) -> Iterator[Outbox]:
        """Those that nobody holds any more; they are ours now."""
        for path in sorted(folder.glob("*.lines")):
            with suppress(OSError):
                descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    os.close(descriptor)
                    continue
                yield Outbox(folder, path.stem, descriptor)

    def _noted(self) -> tuple[int, int]:
        """How many lines were acknowledged, and where that is."""
        try:
            found = json.loads(self._note.read_bytes())
            return int(found["lines"]), int(found["offset"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0

    # ---- writing --------------------------------------------------------------------------------

    def put(self, lines: bytes) -> bool:
        """Whole lines; whether there was room."""
        with self._lock:
            if self._size - self._offset > MOST:
                return False
            os.write(self._descriptor, lines)
            self._size += len(lines)
        return True

    # ---- sending --------------------------------------------------------------------------------

    @property
    def waits(self) -> int:
        """Bytes that the server has not acknowledged."""
        return self._size - self._offset

    def next(self) -> bytes:
        """The next whole lines that wait, as many as fit into a message; at least one if there is one."""
        size = MOST_BYTES
        while True:
            found = os.pread(self._descriptor, size, self._offset)
            end = found.rfind(b"\n") + 1
            if end or len(found) < size:
                return found[:end]
            size *= 2

    def acknowledged(self, lines: bytes) -> None:
        """The server has them."""
        with self._lock:
            self.first += lines.count(b"\n")
            self._offset += len(lines)
            if self._offset == self._size and self._size > FORGET:
                os.ftruncate(self._descriptor, 0)
                self._offset = self._size = 0
            self._write_note()

    def _write_note(self) -> None:
        fresh = self._note.with_suffix(".new")
        fresh.write_text(json.dumps({"lines": self.first, "offset": self._offset}))
        fresh.replace(self._note)

    def close(self, *, is_done: bool) -> None:
        """Done: the server has everything, and nothing is left here."""
        if is_done:
            for path in (self._path, self._note):
                path.unlink(missing_ok=True)
        os.close(self._descriptor)
