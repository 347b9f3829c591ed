"""Files of the commands: errors name the file, and nothing is half written."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from possibly.errors import PossiblyError
from possibly.views.cli import files
from possibly.views.cli.files import loaded, named_errors, read_text, write_lines_to, write_text
from possibly.views.cli.main import main


def test_text_is_read_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.spec"
    path.write_bytes(b"\xef\xbb\xbfctl a = true\r\n")
    assert read_text(str(path)) == "ctl a = true\r\n"


def test_a_text_that_is_not_utf_8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.spec"
    path.write_bytes(b"one\ntwo\xff\n")
    with pytest.raises(PossiblyError, match=r"a\.spec:2: not a text in UTF-8"):
        read_text(str(path))


@pytest.mark.parametrize("name", ["missing", "."])
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(PossiblyError) as caught:
        read_text(str(tmp_path / name))
    assert caught.value.file == str(tmp_path / name)


def test_a_text_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_TEXT", 5)
    (tmp_path / "a").write_text("123456")
    with pytest.raises(PossiblyError, match="longer than 5 bytes"):
        read_text(str(tmp_path / "a"))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("é".encode())))
    assert read_text("-") == "é"


def test_a_trace_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b'{"format": "possibly-trace", "version": 1, "processes": [{"name": "P"}]}\n{"p": "P"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    seen: list[tuple[str, int, int | None]] = []
    assert len(loaded("-", lambda *call: seen.append(call))) == 1
    assert seen
    assert all(label == "reading" for label, _, _ in seen)


def test_text_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    write_text(str(path), "new \ud800")
    assert path.read_text() == "new \\ud800"
    assert os.listdir(tmp_path) == ["page.html"]


def test_nothing_is_left_of_lines_that_fail(tmp_path: Path) -> None:
    def failing() -> Iterator[str]:
        yield "first"
        raise KeyboardInterrupt

    path = tmp_path / "run.jsonl"
    with pytest.raises(KeyboardInterrupt):
        write_lines_to(str(path), failing())
    assert os.listdir(tmp_path) == []


def test_lines_are_compressed_as_the_name_says(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    write_lines_to(str(path), ["a", "b"])
    assert gzip.decompress(path.read_bytes()) == b"a\nb\n"


def test_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    write_text("-", "text\n")
    write_lines_to("-", ["a", "b"])
    assert capsys.readouterr().out == "text\na\nb\n"


@pytest.mark.parametrize("name", ["missing/file", "."])
def test_what_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    with pytest.raises(PossiblyError) as text:
        write_text(path, "")
    with pytest.raises(PossiblyError) as lines:
        write_lines_to(path, [])
    assert text.value.file == lines.value.file == path


def test_a_broken_pipe_is_no_fault_of_the_file() -> None:
    with pytest.raises(BrokenPipeError), named_errors("file"):
        raise BrokenPipeError


def test_reports_make_room_for_what_is_written_to_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever command it is, standard output is the page, the order or the schedule alone."""
    monkeypatch.chdir(tmp_path)
    trace = str(Path(__file__).parents[2] / "examples" / "mutex" / "run.jsonl")
    words = ["check", trace, "--ctl", "AG(!(P1.critical & P2.critical))"]
    assert main([*words, "--html", "-"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("<!DOCTYPE html>") and "VIOLATED" in err
    assert main([*words, "--write-order", "-"]) == 1
    out, err = capsys.readouterr()
    assert {json.loads(line)["p"] for line in out.splitlines()[1:]} == {"P1", "P2"} and "VIOLATED" in err
    Path("program.py").write_text("assert False\n")
    assert main(["explore", "-o", "-", "program.py"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("possibly schedule") and "AssertionError" in err
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]
    assert main(["debug", "-"]) == 2
    assert "commands come from standard input" in capsys.readouterr().err


def test_a_schedule_goes_from_one_command_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(
        "import threading\nt = threading.Thread(); t.start()\nassert t.ident is None\n"
    )
    assert main(["explore", "-o", "-", "program.py"]) == 1
    schedule = capsys.readouterr().out
    assert schedule.startswith("possibly schedule ")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(schedule.encode())))
    assert main(["replay", "-"]) == 1
    assert "AssertionError" in capsys.readouterr().out and not (tmp_path / "-").exists()
