"""The tutorial, followed literally: its programs are those of the examples, and its test is green and red."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.views.testing.project import ran

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
BUGGY = ROOT / "examples/bugs/lost-update/buggy.py"
FIXED = ROOT / "examples/bugs/lost-update/fixed.py"


def test_the_programs_are_those_of_the_examples() -> None:
    program, correction, _ = PYTHON
    assert program in BUGGY.read_text(encoding="utf-8")
    assert correction in FIXED.read_text(encoding="utf-8")


def test_the_test_is_green_and_without_the_lock_red(tmp_path: Path) -> None:
    *_, test = PYTHON
    (tmp_path / "test_green.py").write_text(test, encoding="utf-8")
    (tmp_path / "test_red.py").write_text(test.replace("with self.guard:", "if True:"), encoding="utf-8")
    assert ran(tmp_path, "test_green.py").outcome("test_two_tellers") == "passed"
    red = ran(tmp_path, "test_red.py")
    assert red.outcome("test_two_tellers") == "failure"
    assert "again: pytest test_red.py::test_two_tellers --possibly-replay" in red.told("test_two_tellers")


@dataclass(frozen=True)
class Newcomer:
    """Somebody with the examples, and an environment in which only possibly and pytest are installed."""

    folder: Path
    environment: Path

    def says(self, command: str) -> str:
        """What a line in the shell prints, on both streams."""
        known = {
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "PATH": f"{self.environment / 'bin'}:{os.defpath}",
        }
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, env=known, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Newcomer:
    sources, environment = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("environment")
    built = shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", sources / "src", ignore=built)
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, sources)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--quiet", "install", ".", "pytest"]
    installed = subprocess.run(pip, cwd=sources, capture_output=True, text=True, check=False)
    if "Temporary failure in name resolution" in installed.stderr:
        pytest.skip("no package index can be reached")
    assert installed.returncode == 0, installed.stderr
    folder = tmp_path_factory.mktemp("work")
    shutil.copytree(ROOT / "examples/bugs/lost-update", folder / "examples/bugs/lost-update")
    return Newcomer(folder, environment)


@pytest.mark.large
def test_every_command_prints_what_is_shown(newcomer: Newcomer) -> None:
    """A line `...` stands for any others."""
    shown = re.findall(r"^```(?:console|text)\n\$ (possibly .*)\n((?:.*\n)*?)```$", TEXT, re.MULTILINE)
    assert [command.split()[1] for command, _ in shown] == ["run", "explore", "explore"]
    for command, lines in shown:
        printed = iter(newcomer.says(command).splitlines())
        missing = [line for line in lines.splitlines() if line.strip() != "..." and line not in printed]
        assert missing == [], command
    assert "assertion: AssertionError: 10" in newcomer.says("possibly replay buggy.schedule")


@pytest.mark.large
def test_the_test_that_stays(newcomer: Newcomer) -> None:
    *_, test = PYTHON
    file = newcomer.folder / "test_bank.py"
    file.write_text(test, encoding="utf-8")
    assert "1 passed" in newcomer.says("pytest test_bank.py")
    file.write_text(test.replace("with self.guard:", "if True:"), encoding="utf-8")
    red = newcomer.says("pytest test_bank.py")
    (again,) = re.findall(r"^again: (pytest .*)$", red, re.MULTILINE)
    assert "1 failed" in red and "assert 10 == 20" in newcomer.says(again)
    file.write_text(test, encoding="utf-8")
    assert "it does not fail any more" in newcomer.says(again)
