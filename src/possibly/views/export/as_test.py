"""A failure as a test: a pytest file that fails until the program is cured.

The test runs the schedule, or the breakpoint of a tree, again. If that does not fail the program was edited,
and perhaps only so that the old order cannot be followed; so a search of a fixed number of executions has to
find nothing too. Whether it passes does not depend on how fast the machine is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

SEARCHED = 1_000
"""Executions of the search that follows a replay which does not fail."""

TEXT = '''\
"""Fails as long as {program} does: {what}.

Written by `possibly replay {file} --as-test`. The order that failed is run again; when it does not fail any
more, {searched:,} executions are searched for another that does.
"""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / {folder!r}
REPLAY = {replay!r}
SEARCH = {search!r}
SPECIFICATION = {specification!r}


def possibly(*words, folder=FOLDER):
    found = subprocess.run(
        [sys.executable, "-m", "possibly", *words],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )
    return found.returncode, found.stdout


def test_{name}(tmp_path):
    status, output = possibly(*REPLAY)
    assert status != 1, output
    (tmp_path / "kept.spec").write_text(SPECIFICATION)
    kept = [each.replace("KEPT", os.fspath(tmp_path / "kept")) for each in SEARCH]
    status, output = possibly(*kept)
    assert status in (0, 3), output
'''


def test_text(
    program: Sequence[str],
    what: str,
    file: str,
    target: str,
    replay: Sequence[str],
    search: Sequence[str],
    specification: str = "",
) -> str:
    """The text of the test file `target`; commands are given as they are written in the current folder."""
    folder = os.path.relpath(os.curdir, os.path.dirname(os.path.abspath(target)))
    return TEXT.format(
        program=" ".join(program),
        what=" ".join(what.replace("\\", "/").replace('"""', "").split()),
        file=file,
        searched=SEARCHED,
        folder=folder,
        replay=list(replay),
        search=list(search),
        specification=specification,
        name=test_name(file),
    )


def test_name(file: str) -> str:
    stem = os.path.basename(file).partition(".")[0]
    return re.sub(r"\W+", "_", stem).strip("_").lower() or "schedule"


test_text.__test__ = test_name.__test__ = False  # type: ignore[attr-defined]
