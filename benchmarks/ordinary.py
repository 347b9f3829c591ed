"""What an execution of `possibly explore` costs: a program of a benchmark's kind, and one as people write it.

    python -m benchmarks.ordinary [EXECUTIONS]

CPU of all processes together, by the slope between some executions and four times as many, so that the
start counts for neither. A twin does the same with ordinary surroundings: imports, a log, a set, a
dataclass, an enumeration, a `main()` behind a guard, a journal on disk, lines of a log in tasks, a variable
of the environment. The last program is a real one, `scheduler`, which has no plain twin. The last column is
the twin's cost by the plain one's, measured in this very run: 1.5 is the goal. Every execution is made
(`--join none`).
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from possibly.control.forking.forks import Zygote
from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore

LOCKED = """\
import threading
lock = threading.Lock()
n = 0
def work(i):
    global n
    with lock: n += 1
threads = [threading.Thread(target=work, args=(i,)) for i in range(7)]
for t in threads: t.start()
for t in threads: t.join()
"""
SURROUNDED = """\
import enum, json, logging, os, re, threading
from dataclasses import dataclass, field
class Phase(enum.Enum):
    COUNTING = "counting"
    OVER = "over"
@dataclass
class Shared:
    total: int = 0
    phase: Phase = Phase.COUNTING
    seen: set = field(default_factory=set)
logger = logging.getLogger(__name__)
shared, shared_lock = Shared(), threading.Lock()
def count_once(number):
    with shared_lock:
        shared.total += 1
def main():
    workers = [threading.Thread(target=count_once, args=(number,)) for number in range(7)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    shared.seen.update({1, 2})
    shared.phase = Phase.OVER
    logger.info("done: %s", json.dumps({"total": shared.total}))
if __name__ == "__main__":
    main()
"""
JOURNAL = SURROUNDED.replace(
    "        shared.total += 1\n",
    "        shared.total += 1\n"
    '        with open("journal.jsonl", "a") as journal:\n'
    '            journal.write(json.dumps({"number": number}) + "\\n")\n',
)
LOGGED = SURROUNDED.replace(
    "        shared.total += 1\n", "        shared.total += 1\n    logger.info('counted by %s', number)\n"
).replace(
    "shared, shared_lock",
    'logging.basicConfig(level="INFO", format="%(asctime)s %(message)s")\nshared, shared_lock',
)
READ = SURROUNDED.replace(
    "        shared.total += 1\n", "        shared.total += len(os.environ.get('HOME', 'x')[:1])\n"
)
TASKS = """\
import asyncio
n = 0
async def work():
    global n
    for _ in range(3):
        r = n
        await asyncio.sleep(0)
        n = r + 1
async def main():
    await asyncio.gather(work(), work(), work(), work())
asyncio.run(main())
"""
SURROUNDED_TASKS = "import json, logging, os, re\nfrom dataclasses import dataclass\n" + TASKS.replace(
    "    await asyncio.gather", '    logging.getLogger(__name__).info("begun")\n    await asyncio.gather'
)
IMPORTED = "import os\n" + LOCKED
SCHEDULER = (Path(__file__).parent / "scheduler.py").read_text()
PAIRS = (
    ("locked increments, behind `import os`", LOCKED, IMPORTED),
    ("locked increments, with imports", LOCKED, SURROUNDED),
    ("locked increments, with a journal on disk", LOCKED, JOURNAL),
    ("locked increments, with a log line of each", LOCKED, LOGGED),
    ("locked increments, with the environment", LOCKED, READ),
    ("tasks of asyncio, with imports", TASKS, SURROUNDED_TASKS),
)


def used(process: int) -> float:
    """Seconds of a process and of those it has waited for."""
    try:
        told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, told[11:15])) / os.sysconf("SC_CLK_TCK")


def cpu(path: Path, executions: int) -> float:
    """Seconds for so many executions; nobody waits for the process that runs them, so it is asked itself."""
    before = sum(os.times()[:2])
    with script((str(path),)) as program:
        explore(program, Options(executions=executions, minimise=0))
        zygote = program.zygote()
        assert isinstance(zygote, Zygote)
        return sum(os.times()[:2]) - before + used(zygote.process) + used(zygote.runner)


def cost(source: str, executions: int) -> float:
    """Milliseconds an execution."""
    path = Path("program.py")
    path.write_text(source)
    few, many = cpu(path, executions), cpu(path, 4 * executions)
    return 1e3 * (many - few) / (3 * executions)


def main(executions: int) -> None:
    print(f"{'CPU an execution':44}{'plain':>10}{'twin':>10}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, plain, twin in PAIRS:
            one, other = cost(plain, executions), cost(twin, executions)
            print(f"{name:44}{one:7.2f} ms{other:7.2f} ms{other / one:8.1f}", flush=True)
        print(f"{'a job scheduler of 150 lines':44}{'':10}{cost(SCHEDULER, executions):7.2f} ms", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 150)
