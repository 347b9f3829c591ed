"""`possibly check` of many traces: one summary, and answers that are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.views.cli.main import main
from possibly.views.cli.many import expanded, is_many

HEADER = '{"format": "possibly-trace", "version": 1, "processes": [{"name": "P", "init": {"x": 0}}]}\n'


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Six runs, in two of which x becomes 3, sooner in the second; and one file that is none."""
    for number in range(6):
        folder = tmp_path / f"day{number % 2}"
        folder.mkdir(exist_ok=True)
        last = {2: [1, 2, 3], 4: [3]}.get(number, [1, 2])
        lines = [json.dumps({"p": "P", "set": {"x": value}}) + "\n" for value in last]
        (folder / f"run{number}.jsonl").write_text(HEADER + "".join(lines))
    (tmp_path / "day0" / "bad.jsonl").write_text("nothing\n")
    return tmp_path


def test_a_summary(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern = str(runs / "**" / "*.jsonl")
    assert main(["check", pattern, "--ctl", "AG(P.x < 3)", "--jobs", "1", "--color", "never"]) == 2
    out, err = capsys.readouterr()
    assert "6 runs, 12 events, 1 file that cannot be read" in out
    assert "ctl1: holds in 4, violated in 2" in out
    assert f"{runs / 'day0' / 'run2.jsonl'}  3  VIOLATED ctl1" in out
    assert f"\n{runs / 'day0' / 'run4.jsonl'}: 1 process, 1 event\n" in out  # the shortest counterexample
    assert "bad.jsonl:1" in err


def test_a_line_a_run(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern = str(runs / "day1" / "*.jsonl")
    assert main(["check", pattern, "--ctl", "AG(P.x < 3)", "--json", "--jobs", "1"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(Path(each["trace"]).name for each in found) == ["run1.jsonl", "run3.jsonl", "run5.jsonl"]


def test_only_what_is_new_is_asked_again(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept, words = runs / "answers", ["check", str(runs / "day1" / "*.jsonl"), "--jobs", "1", "--json"]
    words += ["--ctl", "AG(P.x < 3)", "--resume", str(kept)]
    assert main(words) == 0
    first = capsys.readouterr().out
    assert main(words) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(first.splitlines())
    assert len(kept.read_text().splitlines()) == 3
    (runs / "day1" / "run7.jsonl").write_text(HEADER)
    assert main(words) == 0
    assert len(kept.read_text().splitlines()) == 4


def test_patterns(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert is_many(["*.jsonl"]) and not is_many(["a", "b"]) and is_many(["a"] * 21)
    odd = runs / "odd[1].jsonl"
    odd.write_text(HEADER)
    assert not is_many([str(odd)]) and expanded([str(odd), str(odd)]) == [str(odd)]
    assert main(["check", str(runs / "none*"), "--ctl", "AG(P.x < 3)"]) == 2
    assert "no file matches" in capsys.readouterr().err
