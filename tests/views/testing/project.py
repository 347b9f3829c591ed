"""A project of tests in a folder, run by a real pytest in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.waiting import PATIENCE

OURS = "possibly.views.pytest_plugin"
HEAD = """\
import asyncio, threading, unittest
import pytest
import possibly


def twice(work):
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture
def box():
    return {"n": 0}
"""


@dataclass(frozen=True)
class Ran:
    """What pytest said."""

    status: int
    text: str
    cases: dict[str, tuple[str, str]]
    """For each test `passed`, `failure`, `error` or `skipped`, and its text."""

    def outcome(self, name: str) -> str:
        return self.cases[name][0]

    def told(self, name: str) -> str:
        return self.cases[name][1]


def ran(
    folder: Path,
    *words: str,
    sent: str = "",
    prefix: tuple[str, ...] = ("-m", "pytest"),
    plugins: tuple[str, ...] | None = (),
) -> Ran:
    """Runs the tests of a folder, with our plugin and those named; None: with all that are installed."""
    report = folder / "report.xml"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV"))}
    if plugins is not None:
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        words += tuple(word for name in (OURS, *plugins) for word in ("-p", name))
    done = subprocess.run(
        [sys.executable, *prefix, "-q", f"--junitxml={report}", *words],
        cwd=folder,
        input=sent,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment,
        check=False,
    )
    cases = {}
    for case in ElementTree.parse(report).iter("testcase"):
        inside = next((each for each in case if each.tag in ("failure", "error", "skipped")), None)
        found = ("passed", "") if inside is None else (inside.tag, inside.text or inside.get("message") or "")
        cases[case.get("name", "")] = found
    return Ran(done.returncode, done.stdout + done.stderr, cases)
