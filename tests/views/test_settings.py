"""`[tool.possibly]`: defaults of every command, overridden by the command line; errors that name the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.views.cli.main import arguments_of, main
from tests.views.conftest import TRUE

Capture = pytest.CaptureFixture[str]


def configure(text: str, folder: Path = Path()) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.possibly]\n{text}\n", encoding="utf-8")


def test_the_specification_is_found_from_a_folder_below(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    Path("mutex.spec").write_text("ctl mutex = AG(!(P1.cs & P2.cs))\n", encoding="utf-8")
    configure('spec = "mutex.spec"')
    below = run.parent / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert main(["check", "../run.jsonl", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["properties"][0]["name"] == "mutex"
    assert arguments_of(["view", "../run.jsonl"]).spec == str(Path("../mutex.spec"))


def test_a_formula_stands_in_for_it(run: Path, capsys: Capture) -> None:
    configure('spec = "gone.spec"')
    assert main(["check", str(run), "--ctl", TRUE]) == 0
    assert main(["check", str(run)]) == 2
    assert "gone.spec" in capsys.readouterr().err


def test_lists_add_up_and_numbers_give_way(run: Path) -> None:
    configure('ignore = ["a"]\ntime = 2\njobs = 2\nexecutions = 7\nscheduler = "pct"')
    given = arguments_of(["explore", "--ignore", "b", "--time", "5", "p.py"])
    assert (given.ignore, given.time, given.jobs) == (["a", "b"], 5.0, 2)
    assert (given.executions, given.scheduler) == (7, "pct")
    assert arguments_of(["explore", "p.py"]).time == 2.0


def test_plain_and_other_command_lines_agree(run: Path) -> None:
    configure('order = "sync"\ntimeout = 3\nformat = "junit"')
    plain = arguments_of(["check", "t", "--ctl", "true"])
    other = arguments_of(["check", "t", "--ctl=-1 < 0"])
    assert (plain.order, plain.timeout, plain.format) == ("sync", 3.0, "junit")
    assert (other.order, other.timeout, other.format) == ("sync", 3.0, "junit")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tiem = 3", "tool.possibly has no key 'tiem' (did you mean time?)"),
        ('time = "soon"', "tool.possibly.time must be a number"),
        ("time = true", "tool.possibly.time must be a number"),
        ("jobs = 0", "tool.possibly.jobs cannot be 0"),
        ('scheduler = "best"', "tool.possibly.scheduler cannot be 'best'"),
        ('ignore = "a"', "tool.possibly.ignore must be a list of texts"),
        ("jobs = ", "not TOML"),
    ],
)
def test_mistakes_are_told_with_the_file(text: str, told: str, run: Path, capsys: Capture) -> None:
    configure(text)
    assert main(["explore", "p.py"]) == 2
    assert capsys.readouterr().err.startswith(f"possibly: pyproject.toml: {told}")


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'\n", "[tool]\npossibly = 3\n"])
def test_a_project_that_says_nothing(text: str, run: Path) -> None:
    Path("pyproject.toml").write_text(text, encoding="utf-8")
    assert arguments_of(["check", "t", "--ctl", "true"]).timeout is None
