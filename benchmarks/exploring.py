"""How many executions a second the exploration makes on small programs, and how many it needs.

    python benchmarks/exploring.py [SECONDS]

The families are those of the literature on partial-order reduction; the number of executions is the number of
Mazurkiewicz traces, and the ratio to it is printed. For the rate each program is executed for some seconds
under its first schedule again and again, once by one worker and once by as many as there are processors.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from possibly.control.runtime.zygote import script
from possibly.control.schedulers.course import Course
from possibly.session.explore import Options, explore

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


FAMILIES = {
    "locked increments 4": (locked(4), 24),
    "locked increments 5": (locked(5), 120),
    "unlocked increments 3": (unlocked(3), 36),
    "one writer, 4 readers": (readers(4), 16),
    "one writer, 6 readers": (readers(6), 64),
    "lastzero 3": (lastzero(3), 12),
    "lastzero 5": (lastzero(5), 64),
}


def rate(path: Path, seconds: float) -> float:
    with script((str(path),)) as program:
        for _ in range(5):
            program.execute(Course())
        count, begun = 0, time.perf_counter()
        while time.perf_counter() - begun < seconds:
            program.execute(Course())
            count += 1
        return count / (time.perf_counter() - begun)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    processors = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        for name, (source, best) in FAMILIES.items():
            path = Path(folder) / "program.py"
            path.write_text(source)
            print(f"{name:24}", end="", flush=True)
            for jobs in sorted({1, processors}):
                with script((str(path),)) as program:
                    found = explore(program, Options(jobs=jobs, minimise=0))
                speed = found.executions / found.seconds
                print(f"  jobs {jobs}: {found.executions:5,} ({found.executions / best:.2f} of best)", end="")
                print(f" {speed:6.0f}/s", end="")
            print(f"  one schedule {rate(path, seconds):6.0f}/s", flush=True)


if __name__ == "__main__":
    main()
