"""The sending end of a durable stream: lines go to the outbox at once, and a thread takes them to the server.

Here belongs a small thing for programs to hold: it must never harm them. A server that is away is told on
standard error once; lines wait on disk. Outboxes that dead programs left behind are taken along first, each
under its own name and with its own numbers.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any

from possibly.errors import PossiblyError
from possibly.session.watching.streams.messages import StreamAddress, StreamAwayError, Target
from possibly.session.watching.streams.outbox import Outbox, folder_of
from possibly.session.watching.streams.servers import target_of

PAUSE = 0.02
"""Seconds in which lines gather for one message."""
AGAIN = 0.5
"""Seconds after which a server that was away is tried again."""
PATIENCE = 10.0
"""Seconds that closing waits for the server."""


class Publisher:
    """Takes whole lines and sees to it that they reach the stream, in this life or the next."""

    has_token = False
    is_open = True

    def __init__(self, text: str, *, patience: float = PATIENCE) -> None:
        self._address = StreamAddress.of(text)
        self._patience = patience
        folder = folder_of(self._address)
        self._orphans = list(Outbox.left_behind(folder))
        self._outbox = Outbox.new(folder)
        self._target: Target | None = None
        self._closing: float | None = None
        """When to give up, once it is being closed."""
        self._wake = threading.Event()
        self._is_away = self._is_full = False
        self._try_at = 0.0
        self._thread = threading.Thread(target=self._run, name="possibly-publisher", daemon=True)
        self._thread.start()

    def put(self, lines: bytes) -> None:
        if not self._outbox.put(lines) and not self._is_full:
            self._is_full = True
            print("possibly: the outbox is full, events are lost", file=sys.stderr)

    def answers(self, count: int) -> Iterator[Mapping[str, Any]]:
        """A stream answers nobody."""
        return iter(())

    def close(self) -> None:
        self._closing = monotonic() + self._patience
        self._wake.set()
        self._thread.join()

    # ---- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        is_done = False
        while not is_done:
            self._wake.wait(PAUSE)
            is_over = self._closing is not None and monotonic() > self._closing
            is_done = self._send() or is_over
        if self._target is not None:
            self._target.close()

    def _send(self) -> bool:
        """Everything that waits; whether all is sent and nothing more will come."""
        is_closing = self._closing is not None
        try:
            self._connect()
            if self._target is None:
                return False
            while self._orphans:
                self._empty(self._orphans[0], self._target, is_last=True)
                self._orphans.pop(0).close(is_done=True)
            self._empty(self._outbox, self._target, is_last=is_closing and not self._is_full)
        except StreamAwayError as error:
            self._away(error)
            return False
        except PossiblyError as error:
            print(f"possibly: {error}", file=sys.stderr)
            return True
        if is_closing:
            self._outbox.close(is_done=True)
        return is_closing

    def _connect(self) -> None:
        if self._target is None and monotonic() >= self._try_at:
            self._target = target_of(self._address)
            self._is_away = False

    def _away(self, error: StreamAwayError) -> None:
        if not self._is_away:
            print(f"possibly: {error}; events wait on disk", file=sys.stderr)
        self._is_away, self._try_at = True, monotonic() + AGAIN
        if self._target is not None:
            self._target.close()
            self._target = None

    def _empty(self, outbox: Outbox, target: Target, *, is_last: bool) -> None:
        while lines := outbox.next():
            target.publish(outbox.sender, outbox.first, lines, False)
            outbox.acknowledged(lines)
        if is_last:
            target.publish(outbox.sender, outbox.first, b"", True)
