"""Bugs of real packages: each program of examples/real-bugs in a version with the bug and in one without it.

`python -m tests.real.bugs [NAME...]` installs the versions into build/bugs, one folder each, explores each
program with them and prints a row of the table in docs/real-bugs.md. What is WRONG must be found, what is
RIGHT must not be; OPEN is a bug that is there and not found: it must not be said to hold.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "examples" / "real-bugs"
INSTALLED = ROOT / "build" / "bugs"
SAID = re.compile(r"(WRONG|RIGHT|OPEN) with ([\w.=-]+(?: 3\.\d+)?)")
SECONDS = 120


class Case(NamedTuple):
    program: str
    said: str
    version: str
    """`package==1.2`, or the interpreter."""

    def allows(self, status: int) -> bool:
        """Whether the program may end so."""
        return status in {"WRONG": (1,), "RIGHT": (0, 3), "OPEN": (1, 3)}[self.said]

    @property
    def is_here(self) -> bool:
        """The interpreter cannot be installed: it is the one that is here, or passed over."""
        name, _, number = self.version.partition(" ")
        return name != "CPython" or number == f"{sys.version_info.major}.{sys.version_info.minor}"


class Result(NamedTuple):
    status: int
    executions: int
    seconds: float
    message: str


def cases() -> list[Case]:
    found = []
    for path in sorted(PROGRAMS.glob("*.py")):
        said = SAID.findall(path.read_text())
        assert said, f"{path.name} does not say where it is wrong"
        found += [Case(path.stem, word, version) for word, version in said]
    return found


def folder_of(version: str) -> Path | None:
    """Where the package is in that version, installed if need be; None for the interpreter's own bugs."""
    if "==" not in version:
        return None
    folder = INSTALLED / version / "site-packages"
    if not folder.is_dir():
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        subprocess.run([*command, "--target", str(folder), version], check=True, stderr=subprocess.DEVNULL)
    return folder


def explored(case: Case, seconds: int = SECONDS) -> Result:
    folder = folder_of(case.version)
    paths = [str(folder)] if folder is not None else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(ROOT / "src")])}
    INSTALLED.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "possibly", "explore", "--json", "--time", str(seconds)]
    began = time.perf_counter()
    done = subprocess.run(
        [*command, str(PROGRAMS / f"{case.program}.py")],
        env=environment, cwd=INSTALLED, capture_output=True, text=True, check=False,
    )  # fmt: skip
    took = time.perf_counter() - began
    answer: dict[str, Any] = json.loads(done.stdout)
    failure = answer.get("failure") or {}
    reasons = "; ".join(each["what"] for each in answer["open"])
    executions = failure.get("execution") or answer["executions"]
    return Result(done.returncode, executions, took, failure.get("message", reasons))


def main(names: list[str]) -> int:
    status = 0
    for case in cases():
        if (names and case.program not in names) or not case.is_here:
            continue
        found = explored(case)
        word = {0: "holds", 1: "found", 3: "open"}[found.status]
        row = (case.program, case.version, word, str(found.executions), f"{found.seconds:.1f}")
        print(f"| {' | '.join(row)} | {found.message.splitlines()[0] if found.message else ''} |", flush=True)
        status |= not case.allows(found.status)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
