"""A word that becomes too much is turned off, by how often and how large, and never turned on again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from possibly.recorder.entries import LEFT_OUT, READ, WRITE
from possibly.recorder.log import Log
from possibly.recorder.switching import PER_UNIT, Switches


def switches(folder: Path, most: int) -> tuple[Log, Switches, dict[str, int]]:
    log = Log(str(folder), "program", unasked=("x", "y"))
    sites = {name: log.site("p.py", 1, None, name, None) for name in ("x", "bank.y", "asked")}
    return log, Switches(log, most), sites


def test_what_happens_too_often_is_left_out(tmp_path: Path) -> None:
    log, switch, sites = switches(tmp_path, 3)
    entries: list[Any] = [(READ, 1, sites["x"])] * 4 + [
        (WRITE, 1, sites["bank.y"], 0),
        (READ, 1, sites["asked"]),
    ]
    left_out = (LEFT_OUT, sites["x"])
    assert switch.sifted(entries) == [*[left_out] * 4, *entries[4:], left_out] and log.live == [False, True]
    assert switch.sifted([(READ, 1, sites["x"])]) == [(LEFT_OUT, sites["x"])]
    log.close()


def test_a_large_container_weighs_more(tmp_path: Path) -> None:
    log, switch, sites = switches(tmp_path, 3)
    switch.sifted([(WRITE, 1, sites["bank.y"], list(range(3 * PER_UNIT)))])
    assert log.live == [True, False]
    log.close()


def test_what_was_asked_for_stays(tmp_path: Path) -> None:
    log, switch, sites = switches(tmp_path, 3)
    entries = [(READ, 1, sites["asked"])] * 100
    assert switch.sifted(entries) == entries and log.live == [True, True]
    log.close()
