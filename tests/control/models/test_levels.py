"""Loggers remember which levels are enabled: who asked first is not to be told, unless a level is set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

LOGGING = """\
import logging, threading
out = []
class Kept(logging.Handler):
    def emit(self, record): out.append(record.getMessage())
log = logging.getLogger("shop")
log.addHandler(Kept())
log.propagate = False
log.setLevel(logging.INFO)
def say(*words):
    for word in words: log.{how}(word)
def silence(): log.setLevel(logging.ERROR)
tasks = [threading.Thread(target=say, args=("a", "b")), {other}]
for each in tasks: each.start()
for each in tasks: each.join()
{after}
"""
QUIET = 'threading.Thread(target=say, args=("c", "d"))'
SILENT = "threading.Thread(target=silence)"


def test_who_asks_first_for_a_level_is_no_choice(tmp_path: Path) -> None:
    found = explored(tmp_path, LOGGING.format(how="debug", other=QUIET, after="assert out == []"))
    assert found.complete, found.open
    assert found.executions - found.restarts <= 2


@pytest.mark.parametrize("seen", [[], ["a"], ["a", "b"]])
def test_a_level_that_is_set_beside_others_comes_before_between_or_after_them(
    seen: list[str], tmp_path: Path
) -> None:
    after = f"assert out != {seen!r}"
    assert explored(tmp_path, LOGGING.format(how="info", other=SILENT, after=after)).holds is False
