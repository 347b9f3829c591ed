"""`possibly check` of many traces: one summary, and answers that are kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from possibly.errors import PossiblyError
from possibly.session.checking.many import _answer_from
from possibly.views.cli.main import main
from possibly.views.cli.recorded.export import partitions
from possibly.views.cli.recorded.many import expanded, is_many

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


def test_an_index_leads_to_the_pages(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = runs / "index.html"
    words = [
        "check",
        str(runs / "**" / "*.jsonl"),
        "--ctl",
        "AG(P.x < 3)",
        "--jobs",
        "1",
        "--html",
        str(page),
    ]
    assert main(words) == 2
    text = page.read_text()
    assert "ctl AG(P.x &lt; 3)" in text and "6 runs, 12 events, 1 file that cannot be read" in text
    links = re.findall(r'<a href="([^"]*)">([^<]*)</a>', text)
    shown = {Path(name).name: link for link, name in links}
    assert set(shown) == {"run2.jsonl", "run4.jsonl"}
    for name, link in shown.items():
        assert name in (runs / link).read_text()
    assert text.index("BAD") < text.index("all hold")
    assert "<script" not in text and "default-src" in text
    assert "Page:" in capsys.readouterr().err


def test_a_run_cannot_write_into_the_index(runs: Path) -> None:
    odd = runs / "day0" / "<b>&.jsonl"
    odd.write_text(HEADER + '{"p": "P", "set": {"x": 5}}\n')
    page = runs / "index.html"
    main(
        ["check", str(runs / "day0" / "*&.jsonl"), "--ctl", "AG(P.x < 3)", "--jobs", "1", "--html", str(page)]
    )
    assert "&lt;b&gt;&amp;.jsonl" in page.read_text() and "<b>" not in page.read_text()


def test_runs_in_parquet(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    folder = runs / "runs.parquet"
    assert main(["export", str(runs / "day*" / "*.jsonl"), "--to", "parquet", "-o", str(folder)]) == 2
    assert "bad.jsonl:1" in capsys.readouterr().err  # the others are written all the same
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet"))
    assert names == [f"run=run{number}/events.parquet" for number in range(6)]
    assert main(["check", str(folder), "--ctl", "AG(P.x < 3)", "--jobs", "1"]) == 1
    assert "ctl1: holds in 4, violated in 2" in capsys.readouterr().out
    assert main(["check", str(folder / names[2]), "--ctl", "AG(P.y < 3)"]) == 2
    assert "no event ever sets P.y" in capsys.readouterr().err


def test_names_of_partitions() -> None:
    assert partitions(["a/one.jsonl", "b/two.jsonl.gz"]) == ["one", "two"]
    assert partitions(["a/one.jsonl", "b/one.jsonl"]) == ["a%2Fone.jsonl", "b%2Fone.jsonl"]


def test_the_orders_of_unsynchronised_accesses_are_asked_about_too(runs: Path) -> None:
    words = ["check", str(runs / "day1" / "*.jsonl"), "--ctl", "AG(P.x < 3)", "--order", "predictive"]
    assert main([*words, "--jobs", "1"]) == 0


def test_a_worker_elsewhere_finds_files_by_the_names_of_the_user(tmp_path: Path) -> None:
    def question(path: str) -> dict[str, Any]:
        if not Path(path).exists():
            raise PossiblyError("no such file", file=path)
        return {"trace": path}

    (tmp_path / "run.jsonl").write_text("")
    assert _answer_from(str(tmp_path), question, "run.jsonl") == {"trace": "run.jsonl"}
    missing = _answer_from(str(tmp_path), question, "gone.jsonl")
    assert isinstance(missing, PossiblyError) and missing.file == "gone.jsonl"
