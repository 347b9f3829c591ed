"""The protocols of the thesis: recorded from the programs, each property answered, each fault found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

FOLDER = Path(__file__).parents[2] / "examples" / "protocols"

BROKEN = {
    "philosophers": {"exclusion"},
    "primary-secondary": {"invariant"},
    "ricart-agrawala": {"exclusion"},
    "bakery": {"exclusion"},
    "cache-coherence": {"one_writer", "no_reader"},
    "giop": {"exactly_once", "at_most_once"},
    "atm-ring": {"renewed", "acknowledged"},
    "leader-election": {"highest"},
}
"""What the fault of each twin breaks in some order of its events."""
ALSO_BROKEN = {
    "philosophers": {"exclusion"},
    "primary-secondary": {"invariant"},
    "ricart-agrawala": {"exclusion"},
    "bakery": {"exclusion"},
    "cache-coherence": {"no_reader"},
    "giop": {"exactly_once"},
    "atm-ring": {"renewed"},
    "leader-election": {"one_leader"},
}
"""The same of the second twin."""
WATCHED = {"bakery": ["--watch", "number", "--watch", "choosing"]}


def verdicts(name: str, program: str, folder: Path) -> dict[str, str]:
    """The program is run and recorded; the verdicts on its run."""
    trace = folder / "run.jsonl"
    properties = ["--spec", str(FOLDER / name / "protocol.spec")]
    words = [*WATCHED.get(name, []), *properties, "-o", str(trace), "--json"]
    command = [sys.executable, "-m", "possibly", "run", *words, str(FOLDER / name / program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    return {each["name"]: each["verdict"] for each in report["properties"]}


def test_every_protocol_is_listed() -> None:
    assert {each.name for each in FOLDER.iterdir() if each.is_dir()} == set(BROKEN)
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in BROKEN:
        assert f"({name}/README.md)" in page and (FOLDER / name / "README.md").is_file()


@pytest.mark.parametrize("name", BROKEN)
def test_the_protocol_keeps_its_properties(name: str, tmp_path: Path) -> None:
    found = verdicts(name, "right.py", tmp_path)
    assert found and set(found.values()) == {"holds"}, found


@pytest.mark.parametrize("program", ["wrong.py", "also_wrong.py"])
@pytest.mark.parametrize("name", BROKEN)
def test_the_fault_is_found(name: str, program: str, tmp_path: Path) -> None:
    broken = (BROKEN if program == "wrong.py" else ALSO_BROKEN)[name]
    found = verdicts(name, program, tmp_path)
    assert {each for each, verdict in found.items() if verdict == "violated"} == broken
    assert "unknown" not in found.values()


def test_nobody_starves_in_orders_that_go_on_for_ever(tmp_path: Path) -> None:
    trace = tmp_path / "run.jsonl"
    watched = ["--watch", "eat", "--watch", "hungry", "-o", str(trace)]
    possibly = [sys.executable, "-m", "possibly"]
    folder = FOLDER / "philosophers"
    subprocess.run(
        [*possibly, "run", *watched, str(folder / "right.py"), "2", "2"], check=True, timeout=PATIENCE
    )
    asked = ["--spec", str(folder / "protocol.spec"), "--only", "starvation"]
    looped = subprocess.run(
        [*possibly, "check", str(trace), *asked, "--loops", "weak"], check=False, timeout=PATIENCE
    )
    assert looped.returncode == 0
