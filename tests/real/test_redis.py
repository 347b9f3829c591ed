"""redis-py 4.5.1 gave the reply of a cancelled command to the next caller; 4.5.5 does not.

The client is the real one, of a version that the soak installs; the server is in the same process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore

PROGRAM = Path(__file__).with_name("redis_cancelled.py")
soak = pytest.mark.skipif("POSSIBLY_CASES" not in os.environ, reason="installs a package: in the soak")


def explored_with(version: str, folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float) -> Exploration:
    asked = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
    wanted = [f"redis=={version}", "async-timeout"]
    if subprocess.run([*asked, *wanted], capture_output=True).returncode:
        pytest.skip(f"redis {version} cannot be installed")
    monkeypatch.setenv("REDIS", str(folder))
    with script((str(PROGRAM),)) as program:
        return explore(program, Options(seconds=seconds, minimise=0))


@soak
def test_the_reply_to_a_cancelled_command_goes_to_the_next_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = explored_with("4.5.1", tmp_path, monkeypatch, 60)
    assert found.failure is not None and found.failure.kind == "assertion"


@soak
def test_the_mended_version_is_not_accused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which takes some 560 executions; orders of turns inside redis-py are left to `--trust redis`."""
    found = explored_with("4.5.5", tmp_path, monkeypatch, 120)
    assert found.failure is None and all(each.remedy for each in found.open.values())
