"""Whoever looks at what is new may end the recording, whichever thread that is."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from possibly.probes import port
from possibly.recorder.looking import Entry, LookingLog
from tests.waiting import PATIENCE


class Ending(LookingLog):
    """Ends while it looks, in the flusher or in another thread while the flusher wants to look as well."""

    def __init__(self, folder: str, by_flusher: bool) -> None:
        super().__init__(folder, "one", "")
        self.by_flusher = by_flusher
        self.flushes, self.ended = threading.Event(), threading.Event()

    def look_at_new(self) -> None:
        if not self.by_flusher:
            assert self.flushes.wait(PATIENCE)
        self.entries.clear()
        self.finish()
        self.ended.set()

    def _take(self) -> tuple[list[Entry], bytes]:
        self.flushes.set()
        self.look()
        return [], b""


@pytest.mark.parametrize("by_flusher", [False, True])
def test_it_ends_from_where_it_looks(by_flusher: bool, tmp_path: Path) -> None:
    log = Ending(str(tmp_path), by_flusher)
    log.append((0, port.me(), 0, "", "", None, 0.0))
    log.start()
    if not by_flusher:
        threading.Thread(target=log.look, daemon=True).start()
    assert log.ended.wait(PATIENCE)
