"""One command, measured: processor time, peak memory, what it printed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_WATCHED = """
import json, resource, subprocess, sys
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
done = subprocess.run(sys.argv[3:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    used = [used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]
    json.dump([done.returncode, *used, done.stdout, done.stderr], file)
"""
"""A process of its own waits for the command: what its children used is what the command used."""


PATIENCE = 20
"""Seconds of the clock for one of the processor: then it waits for something that does not come."""


@dataclass(frozen=True)
class Measured:
    status: int | None
    """None: it was stopped at the limit."""
    seconds: float
    """Of the processor, which other programs on the machine change less than those of the clock."""
    megabytes: float
    output: str
    errors: str


def measured(command: Sequence[str], folder: Path, limit: float) -> Measured:
    """Runs the command in a folder, for `limit` seconds of the processor at most."""
    import json

    answer = folder / "measured.json"
    answer.unlink(missing_ok=True)
    words = [sys.executable, "-c", _WATCHED, str(answer), str(max(1, int(limit))), *command]
    process = subprocess.Popen(words, cwd=folder, start_new_session=True)
    try:
        process.wait(PATIENCE * limit)
    except BaseException as error:
        os.killpg(process.pid, 9)
        process.wait()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        return Measured(None, limit, 0, "", f"stopped after {limit:g} s")
    return Measured(*json.loads(answer.read_text(encoding="utf-8")))
