"""`possibly run`: options, statuses and reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.views.cli.main import main


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def status(*words: str) -> int:
    return main(["run", *words])


def test_the_report_quotes_the_program(capfd: pytest.CaptureFixture[str]) -> None:
    Path("program.py").write_text("total = 1\ntotal = 2  # too much\n")
    assert status("--ctl", "AG(total < 2)", "program.py") == 1
    assert "program.py:2  total = 2  # too much" in capfd.readouterr().out
    assert Path("program.jsonl").exists()


def test_json(capfd: pytest.CaptureFixture[str]) -> None:
    Path("program.py").write_text("total = 1\nprint('from the program')\n")
    assert status("--json", "--ctl", "AG(total < 2)", "program.py") == 0
    found = capfd.readouterr()
    assert json.loads(found.out)["properties"][0]["verdict"] == "holds"
    assert "from the program" in found.err


def test_the_status_of_the_program_comes_through() -> None:
    Path("program.py").write_text("import sys\ntotal = 1\nsys.exit(7)\n")
    assert status("program.py") == 7
    assert status("--ctl", "AG(total < 2)", "program.py") == 7
    assert status("--ctl", "AG(total < 1)", "program.py") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "possibly: no program to run (possibly run PROGRAM [ARGUMENTS])\n"),
        (("none.py",), "possibly: none.py: no such file\n"),
        (("-o", "none/run.jsonl", __file__), "possibly: none: no such folder\n"),
    ],
)
def test_bad_usage(words: tuple[str, ...], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert status(*words) == 2
    assert capfd.readouterr().err == message


def test_options_after_the_program_are_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    Path("program.py").write_text("import sys\nprint(sys.argv[1:])\n")
    assert status("program.py", "--json", "-m", "x") == 0
    assert capfd.readouterr().out == "['--json', '-m', 'x']\n"


def test_a_minus_is_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loud.py").write_text("print('LOUD')\n", encoding="utf-8")
    assert main(["run", "--races", "-o", "-", "loud.py"]) == 0
    captured = capfd.readouterr()
    assert captured.out.startswith('{"format":"possibly-trace"') and "LOUD" not in captured.out
    assert "LOUD" in captured.err and "no races" in captured.err
    assert not Path("-").exists()
