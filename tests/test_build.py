"""What is built when: soon by default, everything for those who wait, nothing for the pure wheel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ASK = """
import sys, setuptools
setuptools.setup = lambda **given: print(len(given["ext_modules"]), given["setup_requires"])
sys.argv = ["setup.py", "--name"]
exec(compile(open("setup.py").read(), "setup.py", "exec"))
"""


@pytest.mark.parametrize(
    ("wanted", "has_kernels", "needs"),
    [(None, True, "[]"), ("pure", False, "[]"), ("native", True, "['mypy>=2']")],
)
def test_what_is_built(wanted: str | None, has_kernels: bool, needs: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "POSSIBLY_BUILD"}
    if wanted is not None:
        environment["POSSIBLY_BUILD"] = wanted
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    count, told = done.stdout.strip().split(" ", 1)
    assert (int(count) > 0, told) == (has_kernels, needs)


def test_the_demo_compiles_no_native_module() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.partition("$(RUNTIME): ")[2].partition("\n\n")[0]
    assert "--editable ." in recipe and "native" not in recipe


def test_the_action_installs_what_the_project_offers() -> None:
    assert "[fast]" in (ROOT / "action.yml").read_text(encoding="utf-8")
    assert "\nfast = [" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_wheels_are_built_for_the_interpreters_that_run(tmp_path: Path) -> None:
    for name, script in (("here", f'exec "{sys.executable}" "$@"'), ("shim", "exit 127")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["sh", "tools/interpreters.sh", tmp_path / "shim", tmp_path / "here", tmp_path / "missing"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{sys.executable}\n"
    assert done.stderr == f"not here: {tmp_path}/shim\nnot here: {tmp_path}/missing\n"


def test_the_makefile_names_every_interpreter_that_is_supported() -> None:
    named = re.search(r"^INTERPRETERS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    asked = subprocess.run(["make", "-n", "wheels"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert named is not None and f"tools/wheels.sh dist {named[1]}" in asked.stdout
    assert "python3.11" in named[1].split()


def test_wheels_leave_alone_what_others_have_built() -> None:
    script = (ROOT / "tools" / "wheels.sh").read_text(encoding="utf-8")
    removed = [word for line in script.splitlines() if "rm -rf" in line for word in line.split()]
    assert "build" not in removed and "build/lib*" in removed
