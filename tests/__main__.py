"""Runs the tests, folder by folder, each in an interpreter of its own.

`python -m tests [-n 2] [--all] [paths] [options of pytest]`. What is forked from an interpreter that has
imported all tests costs several times as much as from a small one, and most of these tests fork. What takes
longest comes first; a folder tells what it did when it is done, and a table at the end how long each took and
which tests failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONG = """
control/runtime control/world views/web views/test_explore.py views detection control . why session
control/joining session/exploring control/forking probes control/macro views/testing examples real
control/schedulers recorder control/models control/temporal control/loading
""".split()
"""Folders and files with an interpreter of their own, without those in them that are named too."""
NOTHING = 5
"""The status of pytest where no test was asked for."""
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
"""Bytecode is kept: pytest rewrites every module that it may, and each interpreter would do so again."""


def groups(paths: list[Path]) -> dict[str, list[str]]:
    """The test files in these folders, by what of LONG they are in; "." has the rest."""
    found: dict[str, list[str]] = {name: [] for name in LONG}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        if not any(file.is_relative_to(path) for path in paths):
            continue
        place = file.relative_to(ROOT / "tests")
        name = max((each for each in LONG if place.is_relative_to(each)), key=len)
        found[name].append(file.relative_to(ROOT).as_posix())
    return {name: files for name, files in found.items() if files}


@dataclass(frozen=True)
class Done:
    """What became of a group."""

    seconds: float
    name: str
    status: int
    failed: list[str]


def run(name: str, files: list[str], options: list[str], environment: dict[str, str]) -> Done:
    begun = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--durations=6", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *options, *files],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seconds = time.monotonic() - begun
    print(f"== tests/{name}, {seconds:.0f} s\n{done.stdout}", flush=True)
    status = 0 if done.returncode == NOTHING else done.returncode
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return Done(seconds, name, status, failed)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests", allow_abbrev=False)
    parser.add_argument("-n", type=int, default=2, help="so many interpreters at a time")
    parser.add_argument("--all", action="store_true", help="every case, not a sample of them (sampling.py)")
    mine, words = parser.parse_known_args()
    paths = [Path(word).resolve() for word in words if Path(word).exists()] or [ROOT / "tests"]
    options = [word for word in words if not Path(word).exists()]
    environment = ENVIRONMENT if mine.all else {**ENVIRONMENT, "POSSIBLY_SAMPLE": "1"}
    found = groups(paths)
    with ThreadPoolExecutor(mine.n) as pool:
        done = list(pool.map(lambda name: run(name, found[name], options, environment), found))
    for each in sorted(done, key=lambda each: -each.seconds):
        print(f"{each.seconds:6.0f} s  tests/{each.name}{'  FAILED' if each.status else ''}")
    for each in done:
        print(*each.failed, sep="\n", end="\n" if each.failed else "")
    return int(not done or any(each.status for each in done))


if __name__ == "__main__":
    sys.exit(main())
