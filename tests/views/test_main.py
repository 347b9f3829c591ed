"""The door of the command line: statuses, messages, no traceback."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from possibly import __version__
from possibly.errors import PossiblyError
from possibly.views.cli import main as door
from possibly.views.cli.main import arguments_of, main
from possibly.views.cli.recorded import check
from tests.views.conftest import SAFE, TRUE

Capture = pytest.CaptureFixture[str]


def exit_status(*words: str) -> int | str | None:
    """The status with which argparse ends the program."""
    with pytest.raises(SystemExit) as caught:
        main(words)
    return caught.value.code


def test_version(capsys: Capture) -> None:
    assert exit_status("--version") == 0
    assert capsys.readouterr().out == f"possibly {__version__}\n"


@pytest.mark.parametrize("command", ["check", "view", "import", "export"])
def test_every_command_has_help_with_examples(command: str, capsys: Capture) -> None:
    assert exit_status(command, "--help") == 0
    assert f"examples:\n  possibly {command} " in capsys.readouterr().out


def test_the_help_names_the_statuses_and_all_commands(capsys: Capture) -> None:
    assert exit_status("--help") == 0
    text = capsys.readouterr().out
    assert "exit status:" in text
    assert all(f"\n    {command} " in text.replace("\n", " \n") for command in door.COMMANDS)


@pytest.mark.parametrize(
    "words",
    [
        ("explode",),
        ("check",),
        ("check", "t", "--order", "random"),
        ("check", "t", "--max-cuts", "-3"),
        ("check", "t", "--timeout", "soon"),
        ("check", "t", "--js"),
        ("export", "t"),
        ("import", "zipkin", "t", "-o", "u"),
    ],
)
def test_bad_usage_is_status_2(words: tuple[str, ...], capsys: Capture) -> None:
    assert exit_status(*words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "usage: possibly" in captured.err


def test_possibly_alone_prints_the_help_and_claims_nothing(capsys: Capture) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out.startswith("usage: possibly") and "exit status:" in captured.out
    assert captured.err == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "a.py", "-o", "x"], "possibly: -o behind a.py is given to the program; options of"),
        (["explore", "a.py", "--seed=3"], "possibly: --seed behind a.py is given to the program; options of"),
        (["run", "-m", "a", "--races"], "possibly: --races behind a is given to the program; options of"),
        (["run", "--", "a.py", "-o", "x"], ""),
        (["run", "a.py", "--own"], ""),
        (["run", "-o", "x", "a.py", "-"], ""),
    ],
)
def test_options_behind_the_program_are_told(words: list[str], said: str, capsys: Capture) -> None:
    assert arguments_of(words).arguments == words[-len(arguments_of(words).arguments) :]
    told = capsys.readouterr().err
    assert told.startswith(said) and bool(told) == bool(said)


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("import threading, asyncio.queues\nprint(1)", 2),
        ("import sys\nprint(sys.argv)", 0),
        ("import argparse\nargparse.ArgumentParser().parse_known_args()", 0),
        ("print('--races')", 0),
        ("import unknown_package", 1),
    ],
)
def test_options_behind_a_program_that_reads_none_are_refused(
    source: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(source)
    assert main(["run", "a.py", "--races"]) == status
    said = "a.py reads no arguments; -- before it says that they are meant so"
    assert (said in capfd.readouterr().err) == (status == 2)
    assert main(["run", "-o", "x.jsonl", "--", "a.py", "--races"]) == status * (status != 2)


def failing_with(error: BaseException) -> Callable[..., int]:
    def fail(*_: object) -> int:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (
            PossiblyError("bad", file="f", line=3, column=4, hint="do better"),
            2,
            "possibly: f:3:4: bad (do better)",
        ),
        (PossiblyError("\x1b[31m"), 2, "possibly: \\x1b[31m"),
        (FileNotFoundError(2, "No such file", "x"), 2, "possibly: x: No such file"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (RecursionError(), 2, "possibly: the input is nested too deeply"),
        (MemoryError(), 2, "possibly: not enough memory for this input"),
        (KeyError("k"), 2, "possibly: an error of possibly itself, please report it: KeyError: 'k'"),
    ],
)
def test_what_is_raised_becomes_one_sentence(
    error: BaseException, status: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.delenv("POSSIBLY_TRACEBACK", raising=False)
    monkeypatch.setattr(check, "run", failing_with(error))
    assert main(["check", "t"]) == status
    assert capsys.readouterr() == ("", message + "\n")


def test_our_own_errors_can_be_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSSIBLY_TRACEBACK", "1")
    monkeypatch.setattr(check, "run", failing_with(KeyError("k")))
    with pytest.raises(KeyError):
        main(["check", "t"])


def test_a_terminal_without_unicode_is_no_error(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    run.rename("Zürich.jsonl")
    assert main(["check", "Zürich.jsonl", "--ctl", TRUE]) == 0
    assert stream.buffer.getvalue().startswith(b"Z\\xfcrich.jsonl: 2 processes")


# ---- the real command, in a process of its own --------------------------------------------------


def command(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    return subprocess.run(
        [sys.executable, "-m", "possibly", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=environment | {"PYTHONPATH": str(Path(door.__file__).parents[3])},
    )


def test_the_real_command_finds_the_violation(run: Path) -> None:
    done = command("check", str(run), "--ctl", SAFE)
    assert done.returncode == 1
    assert done.stderr == ""
    assert "VIOLATED  ctl1" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_real_command_says_what_is_wrong_on_one_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"\x80\x00rubbish")
    done = command("check", str(bad), "--ctl", SAFE)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"possibly: {bad}:1")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_leaves_is_no_error(run: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = os.environ | {"PYTHONPATH": str(Path(door.__file__).parents[3])}
    words = [sys.executable, "-m", "possibly", "export", str(run), "--to", "dot"]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, check=False, env=environment)
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr == b""


def test_a_program_keeps_the_usual_collection_of_garbage(tmp_path: Path) -> None:
    """Only commands that have the process for themselves look for garbage less often."""
    program = tmp_path / "program.py"
    program.write_text("import gc\nprint(gc.get_threshold(), gc.get_freeze_count())\n", encoding="utf-8")
    usual = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True).stdout
    assert usual in command("run", "--output", str(tmp_path / "run.jsonl"), str(program)).stdout


def test_garbage_is_collected_as_usual_after_a_call(run: Path) -> None:
    threshold, frozen = gc.get_threshold(), gc.get_freeze_count()
    assert main(["check", str(run), "--ctl", SAFE]) == 1
    assert gc.get_threshold() == threshold
    assert frozen // 2 <= gc.get_freeze_count() <= frozen  # what was frozen before may end meanwhile


def test_the_real_command_still_collects_garbage(run: Path) -> None:
    code = (
        "import gc, sys\n"
        "from possibly.views.cli.main import COLLECT_AFTER, main\n"
        f"sys.argv[1:] = ['check', {str(run)!r}, '--ctl', {SAFE!r}]\n"
        "status = main()\n"
        "assert status == 1 and gc.isenabled() and gc.get_threshold()[0] == COLLECT_AFTER\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(door.__file__).parents[3])}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, stdout=subprocess.DEVNULL)
