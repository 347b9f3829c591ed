"""The three uses of section 5, and the command as a user runs it."""

from __future__ import annotations

import importlib.util
import json
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from possibly.views.cli.main import main

FOLDER = Path(__file__).parents[3] / "examples" / "paths"


def simulator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("simulate", FOLDER / "simulate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checked(
    capsys: pytest.CaptureFixture[str], path: Path, *options: str
) -> tuple[int, list[dict[str, Any]]]:
    status = main(["check", str(path), *options, "--json"])
    return status, json.loads(capsys.readouterr().out)["properties"]


def written(folder: Path, lines: list[dict[str, Any]]) -> Path:
    path = folder / "run.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return path


@pytest.mark.parametrize("seed", range(30))
def test_the_race_is_found_whatever_the_interleaving(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate = simulator()
    spec = ("--spec", str(FOLDER / "races.spec"))
    status, (race, seen) = checked(capsys, written(tmp_path, simulate.trace("queue", seed=seed)), *spec)
    assert (status, race["verdict"], seen["verdict"]) == (1, "violated", "matched")
    assert race["matches"] == seen["matches"]
    status, (race, seen) = checked(capsys, written(tmp_path, simulate.trace("queue", True, seed)), *spec)
    assert (status, race["verdict"], seen["verdict"]) == (0, "holds", "absent")


def test_the_deadlock_of_the_philosophers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = ("--spec", str(FOLDER / "locking.spec"))
    status, (waits,) = checked(capsys, FOLDER / "deadlock.jsonl", *spec)
    assert status == 0, "a watch has no influence on the status"
    assert "deadlock: Phil2 waits for fork0 held by Phil0" in waits["output"][-1]
    for seed in range(10):
        lines = simulator().trace("philosophers", True, seed)
        _, (waits,) = checked(capsys, written(tmp_path, lines), *spec)
        assert "output" not in waits


def real_run(folder: Path, spec: str, program: Path, *words: str) -> str:
    """The report of a program that was recorded and checked."""
    command = [sys.executable, "-m", "possibly", "run", "--spec", str(FOLDER / spec), str(program), *words]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert "Traceback" not in found.stderr
    return found.stdout


def test_the_race_in_a_real_program(tmp_path: Path) -> None:
    """Figure 5-1 with threads and semaphores of Python, whose order is recorded without a rule."""
    programs = FOLDER.parent / "producer-consumer"
    assert "VIOLATED  race" in real_run(tmp_path, "races.spec", programs / "wrong.py")
    assert "HOLDS     race" in real_run(tmp_path, "races.spec", programs / "right.py")


def test_philosophers_with_real_threads(tmp_path: Path) -> None:
    program = FOLDER / "philosophers.py"
    ordered = real_run(tmp_path, "deadlock.spec", program, "ordered")
    assert "done" in ordered and "MATCHED   waits" in ordered and "deadlock:" not in ordered
    stuck = real_run(tmp_path, "starvation.spec", program, "polite")
    assert "no progress since" in stuck and "again in state 1 1 1" in stuck


def test_the_starving_philosophers(capsys: pytest.CaptureFixture[str]) -> None:
    _, (stuck,) = checked(capsys, FOLDER / "starvation.jsonl", "--spec", str(FOLDER / "starvation.spec"))
    assert stuck["output"][0] == "Phil1:3: no progress since Phil0:3: again in state 1 1 1"


def run_of(folder: Path, *labels: str) -> Path:
    header = {
        "format": "possibly-trace",
        "version": 1,
        "processes": [{"name": "p", "init": {}}],
        "shared": {},
    }
    return written(folder, [header, *({"p": "p", "label": label} for label in labels)])


def test_expect_names_the_first_event_that_does_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    option = "--expect=open; (read + write)*; close"
    assert checked(capsys, run_of(tmp_path, "open", "read", "close"), option)[0] == 0
    status, (found,) = checked(capsys, run_of(tmp_path, "open", "close", "read"), option)
    assert (status, found["verdict"], found["event"]) == (1, "violated", "p:3")
    assert (found["class"], found["engine"], found["expected"]) == ("sequential", "automaton", [])
    _, (found,) = checked(capsys, run_of(tmp_path, "open", "read"), option)
    assert (found["verdict"], found["event"]) == ("violated", None)
    assert {"event": "close", "after": ["p:2"]} in found["expected"]


def test_the_report_says_it_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run_of(tmp_path, "open", "close", "read")
    assert main(["check", str(path), "--expect", "open; (read & write); close", "--explain"]) == 1
    out = capsys.readouterr().out
    assert "warning: expect1: no event of the trace is called write" in out
    assert (
        "  The first event that does not fit is p:2 after p:1. Expected there: read after p:1, write after\n"
        "  p:1.\n" in out
    )
    assert "The order so far: p:1." in out
    assert "the expression is safe: & stands inside open; (read & write); close, and there is no @" in out
    assert "0 --(open .)--> 1" in out
    assert main(["check", str(path), "--expect", "open; close; read; close"]) == 1
    assert "All 3 events fit, but events are missing at the end: close after p:3." in capsys.readouterr().out


def test_the_model_of_an_unbounded_expression_is_a_net(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_of(tmp_path, "a", "b", "c")
    assert main(["check", str(path), "--expect", "(a; b)@; c", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "Class extended, engine net-with-zero-tests" in out
    assert "its semantic model is a Petri net with zero tests" in out
    assert "--(silent, if p3 is empty)-->" in out


def test_never_lists_its_occurrences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, (found,) = checked(capsys, run_of(tmp_path, "a", "b", "a", "b"), "--never", "a; b")
    assert status == 1
    assert found["matches"] == [{"events": ["p:1", "p:2"]}, {"events": ["p:3", "p:4"]}]
    assert main(["check", str(run_of(tmp_path, "a", "b")), "--never", "a; b"]) == 1
    assert "1 occurrence: {p:1, p:2}" in capsys.readouterr().out


def test_a_limit_makes_it_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run_of(tmp_path, *"ab" * 20)
    status, (found,) = checked(capsys, path, "--never", "b; a; c", "--max-cuts", "10")
    assert (status, found["verdict"]) == (3, "unknown")
    status, (found,) = checked(capsys, path, "--never", "a; b", "--max-cuts", "10")
    assert (status, found["verdict"], found["complete"]) == (1, "violated", False)


@pytest.mark.parametrize(
    ("option", "formula", "message"),
    [
        ("--expect", "open; (read", "--expect:1:7: this ( is never closed"),
        ("--watch", "open { fly() }", "unknown function `fly`"),
        ("--never", "[turm == 1]", "no event ever sets turm"),
    ],
)
def test_bad_expressions_are_one_sentence(
    option: str, formula: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(run_of(tmp_path, "open")), option, formula]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "title", "drawn"),
    [
        ("open; (read + write)*; close", "finite state automaton", 'q0 -> q1 [label="(open .)"];'),
        ("a & b", "safe net", "shape=circle"),
        ("(a; b)@", "Petri net", "shape=circle"),
        ("(a; b)@; c", "Petri net with zero tests", 'label="= 0"'),
    ],
)
def test_the_semantic_model_as_a_picture(
    text: str, title: str, drawn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_of(tmp_path, "open", "close")
    target = tmp_path / "model.dot"
    assert main(["view", str(path), "--watch", text, "--model", "watch1", "-o", str(target)]) == 0
    found = target.read_text()
    assert found.startswith(f'digraph "watch1: {title}') and drawn in found
    assert (
        main(["view", str(path), "--watch", text, "--model", "watch1", "--svg", str(tmp_path / "m.svg")]) == 0
    )
    assert (tmp_path / "m.svg").read_text().startswith("<svg")
    assert main(["view", str(path), "--watch", text, "--model", "other"]) == 2
    assert "no path expression is called 'other'" in capsys.readouterr().err


def test_explain_says_how_to_draw_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_of(tmp_path, "open", "close")
    assert main(["check", "run.jsonl", "--expect", "open; close", "--never", "a & b", "--explain"]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  Draw it: ")]
    assert (
        told[1] == "  Draw it: possibly view run.jsonl --expect 'open; close' --never 'a & b' --model never1"
    )
    for line in told:
        assert main([*shlex.split(line.partition(": possibly ")[2]), "--svg", "model.svg"]) == 0
        assert (tmp_path / "model.svg").read_text().startswith("<svg")


def test_the_predecessor_automaton_as_a_picture(tmp_path: Path) -> None:
    """Figure 4-6."""
    path, target = run_of(tmp_path, "a"), tmp_path / "figure.dot"
    text = "a; (b & (c; d)); e"
    assert main(["view", str(path), "--watch", text, "--automaton", "watch1", "-o", str(target)]) == 0
    found = target.read_text()
    assert 'label="(b a)"' in found and 'label="(e b d)"' in found and "doublecircle" in found


def test_the_partial_order_so_far_as_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = run_of(tmp_path, "open", "read", "open"), tmp_path / "so-far.dot"
    arguments = ["--expect", "open; (read + write)*; close", "--partial", "expect1", "-o", str(target)]
    assert main(["view", str(path), *arguments]) == 0
    found = target.read_text()
    assert "e0 -> e1;" in found and "does not fit" in found and "color=red" in found
    assert "expected: close" in found
    assert main(["view", str(path), "--never", "open & read", "--partial", "never1"]) == 2
    assert "the partial order so far is that of an expect" in capsys.readouterr().err
