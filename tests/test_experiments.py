"""The experiments: what is measured is there, and what was measured is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from experiments import spin
from experiments.__main__ import of_others
from experiments.measure import measured
from experiments.protocols import FOLDER, PROTOCOLS, sizes
from experiments.tables import write_page
from possibly.logic.specification import read_specification

COMMITTED = Path(__file__).parents[1] / "docs" / "experiments"


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)
def test_every_property_of_a_protocol_is_measured(protocol: object) -> None:
    from experiments.protocols import Protocol

    assert isinstance(protocol, Protocol)
    text = (FOLDER / protocol.name / "protocol.spec").read_text(encoding="utf-8")
    assert {each.name for each in read_specification(text).properties} == set(protocol.printed)
    assert [size.count for size in sizes(protocol, full=False)] == [3, 5, 10, 25]


def test_every_protocol_is_measured() -> None:
    assert {each.name for each in FOLDER.iterdir() if each.is_dir()} == {each.name for each in PROTOCOLS}


def test_what_was_measured_of_other_protocols_stays(tmp_path: Path) -> None:
    rows = [{"protocol": "bakery", "count": 3}, {"protocol": "giop", "count": 5}]
    table = tmp_path / "table.json"
    assert of_others(table, ["giop"]) == []
    table.write_text(json.dumps({"rows": rows}))
    assert of_others(table, ["giop"]) == rows[:1]
    assert of_others(table, []) == []


def test_a_command_is_measured(tmp_path: Path) -> None:
    found = measured([sys.executable, "-c", "print(sum(range(10**6)))"], tmp_path, 60)
    assert (found.status, found.output) == (0, "499999500000\n")
    assert found.seconds > 0 and found.megabytes > 1


def test_a_command_without_end_is_ended(tmp_path: Path) -> None:
    assert measured([sys.executable, "-c", "while True: pass"], tmp_path, 1).status != 0


def test_the_committed_page_is_that_of_the_committed_table(tmp_path: Path) -> None:
    table = json.loads((COMMITTED / "table.json").read_text(encoding="utf-8"))
    write_page(table, tmp_path)
    assert (tmp_path / "README.md").read_text() == (COMMITTED / "README.md").read_text()
    for row in table["rows"]:
        assert row.get("verdict") != "violated"
        assert row.get("spin", {}).get("verdict", row.get("verdict")) == row.get("verdict")


@pytest.mark.skipif(not spin.is_here(), reason="spin and gcc are not installed")
def test_spin_is_asked_the_same_question(tmp_path: Path) -> None:
    trace = FOLDER.parent / "mutex" / "run.jsonl"
    found = spin.asked(trace, ["--ctl", "AG(!(P1.critical & P2.critical))"], tmp_path, 60)
    assert found["verdict"] == "violated", found
    unsaid = spin.asked(trace, ["--ctl", "AG(EF(P1.critical))"], tmp_path, 60)
    assert "no formula of LTL" in str(unsaid["why"])
