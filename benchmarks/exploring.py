"""How many executions a second the exploration makes on small programs, and how many it needs.

    [POSSIBLY_PEERS=path/to/python] python benchmarks/exploring.py [SECONDS]

The families are those of the literature on partial-order reduction; the number of executions is that of
Mazurkiewicz traces, and the ratio to it is printed. Each is searched completely, by one worker and by as many
as there are processors, some times over: the rate is that of the median. Only the search is measured, with
the execution that confirms it: to start the program and to find out what its tasks share takes as long as
some fifty executions.

Beside it run frontrun and interleave-test (`peers.py`), if the interpreter named by POSSIBLY_PEERS has them:
`python -m venv peers && peers/bin/pip install frontrun interleave-test` with Python 3.12 or later. They run
functions of one process, ours a whole program. CPU is what all processes used together.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from possibly.control.forking.zygote import ControlledProgram, script
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore

SEARCHES = 7
HEAD = "import threading\n"
TAIL = "for t in threads: t.start()\nfor t in threads: t.join()\n"


def locked(count: int) -> str:
    work = "lock = threading.Lock()\nn = 0\ndef work():\n    global n\n    with lock: n += 1\n"
    made = f"threads = [threading.Thread(target=work) for _ in range({count})]\n"
    return f"{HEAD}{work}{made}{TAIL}assert n == {count}\n"


def unlocked(count: int) -> str:
    work = "n = 0\ndef work():\n    global n\n    n += 1\n"
    return f"{HEAD}{work}threads = [threading.Thread(target=work) for _ in range({count})]\n{TAIL}"


def readers(count: int) -> str:
    work = "x = 0\ndef writes():\n    global x\n    x = 1\ndef reads():\n    return x\n"
    made = f"threads = [threading.Thread(target=each) for each in [writes] + [reads] * {count}]\n"
    return f"{HEAD}{work}{made}{TAIL}"


def lastzero(count: int) -> str:
    work = f"""a = [0] * {count + 1}
def looks():
    i = {count}
    while a[i] != 0: i -= 1
def fills(j):
    a[j] = a[j - 1] + 1
threads = [threading.Thread(target=looks)]
threads += [threading.Thread(target=fills, args=(j,)) for j in range(1, {count + 1})]
"""
    return f"{HEAD}{work}{TAIL}"


def increments(count: int) -> str:
    """Two threads that increment the same variable so often."""
    work = f"n = 0\ndef work():\n    global n\n    for _ in range({count}): n += 1\n"
    return f"{HEAD}{work}threads = [threading.Thread(target=work) for _ in range(2)]\n{TAIL}"


FAMILIES = {
    "increments 2 x 3": (increments(3), 328),
    "unlocked increments 4": (unlocked(4), 576),
    "unlocked increments 3": (unlocked(3), 36),
    "locked increments 4": (locked(4), 24),
    "locked increments 5": (locked(5), 120),
    "locked increments 6": (locked(6), 720),
    "one writer, 4 readers": (readers(4), 16),
    "one writer, 6 readers": (readers(6), 64),
    "one writer, 8 readers": (readers(8), 256),
    "lastzero 3": (lastzero(3), 12),
    "lastzero 5": (lastzero(5), 64),
    "lastzero 7": (lastzero(7), 320),
}
"""Source, and the number of Mazurkiewicz traces."""


class Rate(NamedTuple):
    executions: int
    """Of one search."""
    per_second: float
    milliseconds: float
    """CPU of an execution, in all processes."""
    complete: bool


def cpu_of(process: int) -> float:
    """Seconds that a process, its ended children and its living ones have used."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(
        cpu_of(int(each)) for each in children
    )


def rate(program: ControlledProgram, jobs: int) -> Rate:
    """Of complete searches, when the program is started and what its tasks share is known."""
    explore(program, Options(executions=5, minimise=0))
    used = cpu_of(os.getpid())
    found = [explore(program, Options(jobs=jobs, minimise=0)) for _ in range(SEARCHES)]
    used = cpu_of(os.getpid()) - used
    total = sum(each.executions for each in found)
    speed = median(each.executions / each.seconds for each in found)
    return Rate(total // SEARCHES, speed, 1000 * used / total, all(each.complete for each in found))


def peers(seconds: float) -> Iterator[dict[str, object]]:
    """What the other tools did, a row for each program."""
    interpreter = os.environ.get("POSSIBLY_PEERS", sys.executable)
    here, folder = Path(__file__).with_name("peers.py"), Path(interpreter).parent
    for before, module in (([str(folder / "frontrun")], "frontrun"), ([], "interleave_test")):
        command = [*before, interpreter, str(here), module, str(seconds)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        except FileNotFoundError:
            done = None
        if done is None or done.returncode:
            print(f"{module}: not there (see the head of this file)")
            continue
        yield from (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    processors = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        for name, (source, best) in FAMILIES.items():
            path = Path(folder) / "program.py"
            path.write_text(source)
            for jobs in sorted({1, processors}):
                with script((str(path),)) as program:
                    found = rate(program, jobs)
                print(f"possibly, {jobs} job{'s' * (jobs > 1):14} {name:22} {found.executions:5,}", end="")
                print(f" ({found.executions / best:.2f} of best) {found.per_second:7.0f}/s", end="")
                print(
                    f" {found.milliseconds:6.2f} ms CPU  {'complete' if found.complete else 'open'}",
                    flush=True,
                )
    for row in peers(seconds):
        executions, wall, cpu = (
            int(str(row["executions"])),
            float(str(row["seconds"])),
            float(str(row["cpu"])),
        )
        print(f"{row['tool']:24} {row['program']:22} {executions:5,}{'':15}", end="")
        print(f" {executions / wall:7.0f}/s {1000 * cpu / max(executions, 1):6.2f} ms CPU  {row['covered']}")


if __name__ == "__main__":
    main()
