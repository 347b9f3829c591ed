"""Completion and the page for `man`: made from the parsers, understood by the shells that are here."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from possibly.views.cli import main as door
from possibly.views.cli.completion import commands_of, man_page, script

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_completed(shell: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        door.main(["--completion", shell])
    text = capsys.readouterr().out
    assert caught.value.code == 0
    for command in commands_of(door.parser()):
        assert command.name in text
        for option in command.options:
            for name in option.names:
                assert (name.lstrip("-") if shell == "fish" else name) in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_read_it(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    text = script(shell, commands_of(door.parser()))
    done = subprocess.run([shell, "-n"], input=text, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("possibly pat", "patterns"),
        ("possibly check --for", "--format"),
        ("possibly check --format sa", "sarif"),
        ("possibly explore --scheduler b", "bounded"),
    ],
)
def test_bash_completes(line: str, expected: str) -> None:
    words = line.split()
    setting = f'COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _possibly; echo "${{COMPREPLY[*]}}"'
    text = script("bash", commands_of(door.parser())) + setting
    done = subprocess.run(["bash"], input=text, text=True, capture_output=True, check=True)
    assert expected in done.stdout.split()


def test_the_page_for_man(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        door.main(["--man"])
    text = capsys.readouterr().out
    assert text.startswith(".TH POSSIBLY 1")
    assert "\\fB\\-\\-format\\fR \\fIFORMAT\\fR" in text
    if shutil.which("man") is not None:
        done = subprocess.run(["man", "-l", "-"], input=text, text=True, capture_output=True, check=False)
        assert done.returncode or "possibly check" in done.stdout


def test_what_looks_like_a_command_of_roff_is_text() -> None:
    assert "\n\\&.so x\n" in man_page("d", ".so x", [])
