"""`possibly serializable`: statuses, the cycle in words, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.views.cli.main import main

Capture = pytest.CaptureFixture[str]
EXAMPLE = str(Path(__file__).parents[2] / "examples" / "histories" / "lists.edn")


def test_a_write_skew_is_told(capsys: Capture) -> None:
    assert main(["serializable", EXAMPLE]) == 1
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"NOT SERIALIZABLE  {EXAMPLE}: 4 transactions"
    assert lines == [
        "  G2: T1 -> T2 -> T1",
        "",
        "  T1  read 1 -> [1], append to 2: 1  line 2",
        "  T2  read 2 -> nil, append to 1: 2  line 3",
        "",
        "  T1 comes before T2 (rw): it appended to key 1 what had not been read yet",
        "  T2 comes before T1 (rw): it appended to key 2 what had not been read yet",
    ]


def test_snapshots_allow_it(capsys: Capture) -> None:
    assert main(["serializable", EXAMPLE, "--level", "snapshot", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["transactions"], found["cycle"]) == ("holds", 4, [])


def test_json_has_the_cycle(capsys: Capture) -> None:
    assert main(["serializable", EXAMPLE, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(each["first"], each["second"], each["kind"]) for each in found["cycle"]] == [
        (1, 2, "rw"),
        (2, 1, "rw"),
    ]
    assert found["cycle"][0]["acts"] == [["r", 1, [1]], ["append", 2, 1]]


def test_bad_input_is_one_sentence(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "h.edn"
    path.write_text("{:process 0, :type :invoke, :f :txn, :value 7}")
    assert main(["serializable", str(path)]) == 2
    assert f"{path}:1: txn is no list of reads and writes" in capsys.readouterr().err
