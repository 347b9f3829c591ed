"""The extension for VS Code: it declares what the adapter takes, and makes problems of real answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from possibly import __version__
from possibly.views.cli.main import main

ROOT = Path(__file__).parents[1]
EXTENSION = ROOT / "editors" / "vscode"


def test_the_launch_configuration_is_that_of_the_adapter() -> None:
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == __version__
    (debugger,) = package["contributes"]["debuggers"]
    keys = set(debugger["configurationAttributes"]["launch"]["properties"])
    documented = (ROOT / "docs/editor.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", documented, re.MULTILINE)
    assert {key for row in rows for key in re.findall(r"`(\w+)`", row)} == keys


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_verdicts_become_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    words = ["examples/mutex/run.jsonl", "--spec", "examples/mutex/mutex.spec", "--format", "sarif"]
    assert main(["check", *words]) == 1
    log = tmp_path / "log.sarif"
    log.write_text(capsys.readouterr().out, encoding="utf-8")
    environment = {**os.environ, "POSSIBLY_SARIF": str(log)}
    done = subprocess.run(
        ["node", "--test", "problems.test.js"],
        cwd=EXTENSION, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
