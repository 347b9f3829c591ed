"""The extension for VS Code: it declares what the adapter takes, and shows real answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from possibly import __version__

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
def test_the_bundle_shows_real_answers(tmp_path: Path) -> None:
    command = tmp_path / "possibly"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m possibly "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = {**os.environ, "POSSIBLY_COMMAND": str(command)}
    done = subprocess.run(
        ["node", "--test", "test/bundle.test.js"],
        cwd=EXTENSION, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(
    shutil.which("node") is None or not (EXTENSION / "node_modules").is_dir(),
    reason="node or editors/vscode/node_modules is missing: the bundle cannot be made again (make page)",
)
def test_the_bundle_is_up_to_date(tmp_path: Path) -> None:
    made = tmp_path / "extension.js"
    subprocess.run(["node", "build.mjs", str(made)], cwd=EXTENSION, check=True, capture_output=True)
    assert made.read_text() == (EXTENSION / "dist/extension.js").read_text(), "it is old: run make page"
