"""Console blocks in the documents: every one shows what the command really prints.

A block begins with three backticks and `console`; a line that begins with `$ possibly` is run, the lines
below it are its output (standard output, then standard error). Times always read 0.001 s.
`python -m tests.views.console README.md ...` writes the real output into the documents.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from possibly.views.cli.main import main

ROOT = Path(__file__).parents[2]
MEANWHILE = re.compile(r"^.*a simpler schedule is looked for.*\n", re.MULTILINE)
"""What is only said where the machine is slow."""
TIMES = re.compile(r"(\b|(?<=time=\"))\d+\.\d{3,}( s\b|(?=\"))")
BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)


def with_real_output(document: str) -> str:
    """The document with each console block run again, all in one folder that has the examples."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(ROOT / "examples", "examples")
        return BLOCK.sub(lambda block: rerun(block.group()), document)


def rerun(block: str) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "\n".join(f"{command}\n{output_of(command)}" for command in commands)


def output_of(command: str) -> str:
    """What the command prints, in a pipe."""
    program, *words = shlex.split(command.removeprefix("$ "))
    assert program == "possibly", f"a document may only show our own command, not {program}"
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        main(words)
    return TIMES.sub(r"0.001\g<2>", out.getvalue() + MEANWHILE.sub("", err.getvalue()))


if __name__ == "__main__":
    os.environ.pop("POSSIBLY_TRACEBACK", None)
    for name in sys.argv[1:]:
        path = Path(name).resolve()
        path.write_text(with_real_output(path.read_text(encoding="utf-8")), encoding="utf-8")
