"""The test bed of failures: the report of each as it is printed.

`python -m tests.why.bed` writes the reports anew: read each of them with the question whether you would know
what to change.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from possibly.views.cli.main import main

HERE = Path(__file__).parent
BUGS = HERE.parents[1] / "examples" / "bugs"
REPORTS = HERE / "reports"
PROGRAMS = {
    **{path.parent.name: path for path in sorted(BUGS.glob("*/buggy.py"))},
    **{path.stem: path for path in sorted((HERE / "programs").glob("*.program"))},
}
EXAMPLES = BUGS.parent
BOTH = "AG(!(inside(there, move) & inside(back, move)))"
OTHERS: dict[str, tuple[list[Path], list[str]]] = {
    "trace": ([EXAMPLES / "bank" / "run.jsonl"], ["check", "run.jsonl", "--ctl", BOTH]),
    "confirmed": (
        [EXAMPLES / "bank" / "run.jsonl", EXAMPLES / "bank" / "wrong.py"],
        ["confirm", "run.jsonl", BOTH, "wrong.py"],
    ),
    "several_files": (
        sorted((HERE / "programs" / "several_files").glob("*.txt")),
        ["explore", "--time", "600", "several_files.py"],
    ),
    "spans": (
        [EXAMPLES / "otlp" / "spans.json", EXAMPLES / "otlp" / "shop.spec"],
        ["check", "run.jsonl", "--spec", "shop.spec", "--only", "apart"],
    ),
}
"""Files, and how they are looked at."""
OPTIONS = {
    "two_at_once": ["--ctl", BOTH], "mpi_order": ["--mpi", "3"], "mpi_sends": ["--mpi", "2"],
    "stopped_between": ["--ctl", "AG(loads <= 1)"],
}  # fmt: skip
"""Of programs that are not explored as they are."""
ENOUGH = ["--time", "600"]
"""A report is the same however slow the machine is."""
NAMES = [*PROGRAMS, *OTHERS]
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def report_of(name: str) -> str:
    """What is printed of a program, or of what is there of a run."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        command = _prepared(name)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            main(command)
    return ADDRESS.sub("0x0", out.getvalue())


def _prepared(name: str) -> list[str]:
    """The command, with its files in the current folder."""
    if name in PROGRAMS:
        file = f"{name.replace('-', '_')}.py"
        shutil.copy(PROGRAMS[name], file)
        return ["explore", *ENOUGH, *OPTIONS.get(name, []), file]
    files, command = OTHERS[name]
    for each in files:
        is_python = each.parent.name == "several_files"  # no test of ours, and no program to lint
        shutil.copy(each, f"{each.stem}.py" if is_python else each.name)
    if name == "spans":
        main(["import", "otlp", "spans.json", "-o", "run.jsonl"])
    return command


if __name__ == "__main__":
    os.environ.pop("POSSIBLY_TRACEBACK", None)
    for each in sys.argv[1:] or NAMES:
        (REPORTS / f"{each}.txt").write_text(report_of(each), encoding="utf-8")
