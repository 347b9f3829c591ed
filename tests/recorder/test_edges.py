"""The table of primitives, the one of actions, and the manual agree."""

from __future__ import annotations

import re
from pathlib import Path

from possibly.recorder.edges import ACTIONS, PRIMITIVES, Edges, table
from possibly.recorder.packing import TOLD_AFTER, TOLD_BEFORE

ROOT = Path(__file__).parents[2]


def test_the_manual_shows_the_table() -> None:
    text = (ROOT / "docs" / "recording.md").read_text(encoding="utf-8")
    assert table() in text


def test_every_action_is_told_once() -> None:
    assert set(ACTIONS) == TOLD_BEFORE | TOLD_AFTER
    assert not TOLD_BEFORE & TOLD_AFTER


def test_every_action_of_a_probe_is_known() -> None:
    words = set()
    for path in (ROOT / "src" / "possibly" / "probes").rglob("*.py"):
        words |= set(re.findall(r'port\.(?:before|after)\(\s*"(\w+)"', path.read_text(encoding="utf-8")))
    assert words and words <= set(ACTIONS)


def test_libraries_of_the_table() -> None:
    assert {row.library for row in PRIMITIVES} == {
        "threading", "queue", "concurrent.futures", "asyncio", "multiprocessing", "subprocess", "mpi4py",
        "socket", "possibly",
    }  # fmt: skip


def test_units_are_taken_in_the_order_in_which_they_were_given() -> None:
    edges = Edges()
    edges.units("s", 1)
    give, take = ACTIONS["give"], ACTIONS["take"]
    edges.effect(give, "s", 2, "P:1", "P", "")
    found = [edges.effect(take, "s", None, f"Q:{n}", "Q", "")[0] for n in range(3)]
    assert found == [[], ["P:1"], ["P:1"]]
