"""The recorded programs: the kept run that looked correct, the violation in it, and the corrected program.

Which order a live run shows is chance, that its violation is found is not; so what was observed is asserted
of the kept run only.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from possibly.trace import Trace, load
from possibly.trace.recorded import recorded_of
from possibly.views.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
RANKS = ("--mpi", "3")
needs_mpi = pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not there")
PROGRAMS = [
    # (folder, specification, options, what is violated)
    ("ring-buffer", "ring.spec", (), ["overlap"]),
    ("producer-consumer", "queue.spec", (), ["exclusive"]),
    ("bank", "bank.spec", (), ["one_at_a_time"]),
    ("stampede", "stampede.spec", (), ["alone"]),
    ("pipeline", "pipeline.spec", (), ["complete"]),
    pytest.param("master-worker", "master.spec", RANKS, ["one_at_a_time"], marks=needs_mpi),
]


@pytest.mark.parametrize(("folder", "spec", "options", "violated"), PROGRAMS)
def test_the_kept_run_looked_correct(
    folder: str, spec: str, options: tuple[str, ...], violated: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    run, specification = str(EXAMPLES / folder / "run.jsonl"), str(EXAMPLES / folder / spec)
    assert main(["check", "--json", run, "--spec", specification]) == 1
    found = json.loads(capfd.readouterr().out)["properties"]
    assert [each["name"] for each in found if each["verdict"] == "violated"] == violated
    assert all(each["observed"] for each in found)
    assert main(["check", run, "--spec", specification]) == 1
    quoted = (EXAMPLES / folder / "wrong.py").read_text().splitlines()
    shown = capfd.readouterr().out
    assert any(line.strip() in shown for line in quoted[3:] if len(line.strip()) > 12), "the user's own lines"


@pytest.mark.parametrize(("folder", "spec", "options", "violated"), PROGRAMS)
def test_the_violation_is_found_in_any_run_and_not_in_the_corrected_program(
    folder: str, spec: str, options: tuple[str, ...], violated: list[str], tmp_path: Path
) -> None:
    source, output = EXAMPLES / folder, str(tmp_path / "run.jsonl")
    words = ["run", *options, "--spec", str(source / spec), "-o", output]
    assert main([*words, str(source / "wrong.py")]) == 1
    assert acts(load(output)) == acts(load(source / "run.jsonl")), "the kept run is one of this program"
    assert main([*words, str(source / "right.py")]) == 0


def acts(trace: Trace) -> dict[str, list[tuple[str, str]]]:
    """What each process did, in its order, and at which line, but for what was told for its order alone."""
    recorded = recorded_of(trace.header)
    aside = recorded.for_order if recorded is not None else frozenset()
    found: dict[str, list[tuple[str, str]]] = {process.name: [] for process in trace.processes}
    for number in range(len(trace)):
        event = trace.event(number)
        if aside.intersection((*event.read, *event.write)):
            continue
        found[event.process].append((event.kind, (event.at or "").rpartition("/")[2]))
    return found


@pytest.mark.parametrize(("program", "status"), [("wrong.py", 1), ("right.py", 0)])
def test_races_of_the_bank(program: str, status: int, tmp_path: Path) -> None:
    words = ["run", "--races", "-o", str(tmp_path / "run.jsonl"), str(EXAMPLES / "bank" / program)]
    assert main(words) == status
