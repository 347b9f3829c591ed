"""What recording costs: the same programs plain, recorded, and under tools that users would pick instead.

Each program measures its own work, so that the start of the interpreter and the merge do not count; they are
printed apart. `python -m benchmarks.recording` prints a table; the goals stand in its last column.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

QUEUE = """
import queue, threading, time
channel = queue.Queue(100)
def produce():
    for number in range(50_000): channel.put(number)
    channel.put(None)
def consume():
    while channel.get() is not None: pass
threads = [threading.Thread(target=work) for work in (produce, consume)]
started = time.perf_counter()
for thread in threads: thread.start()
for thread in threads: thread.join()
print("took", time.perf_counter() - started)
"""

COUNTER = """
import threading, time
counter = 0
lock = threading.Lock()
def work(count):
    global counter
    for _ in range(count):
        with lock:
            counter += 1
threads = [threading.Thread(target=work, args=(100_000,)) for _ in range(2)]
started = time.perf_counter()
for thread in threads: thread.start()
for thread in threads: thread.join()
print("took", time.perf_counter() - started)
"""

LOOP = """
import time
counter = 0
def work(count):
    global counter
    for _ in range(count):
        counter += 1
started = time.perf_counter()
work(500_000)
print("took", time.perf_counter() - started)
"""

PURE = """
import time
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
started = time.perf_counter()
fibonacci(25)
print("took", time.perf_counter() - started)
"""

TRACER = """
import sys, threading
def trace(frame, event, argument): return trace
threading.settrace(trace)
sys.settrace(trace)
"""


@dataclass(frozen=True)
class Case:
    name: str
    source: str
    options: tuple[str, ...]
    goal: float


CASES = (
    Case("queue-heavy, synchronisation only", QUEUE, (), 1.5),
    Case("locked counter, watched", COUNTER, ("--watch", "counter"), 5.0),
    Case("bare counter loop, watched", LOOP, ("--watch", "counter"), 5.0),
    Case("unwatched code", PURE, ("--watch", "counter"), 1.0),
)


def took(command: list[str], folder: str) -> float:
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return float(done.stdout.split("took")[1].split()[0])


def best(command: list[str], folder: str, rounds: int = 3) -> float:
    return min(took(command, folder) for _ in range(rounds))


def main() -> None:
    python = sys.executable
    print(f"{'program':36} {'plain':>9} {'recorded':>9} {'ratio':>6} {'settrace':>9} {'profile':>9}   goal")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            Path(folder, "program.py").write_text(textwrap.dedent(case.source))
            Path(folder, "traced.py").write_text(TRACER + case.source)
            plain = best([python, "program.py"], folder)
            recorded = best([python, "-m", "possibly", "run", *case.options, "program.py"], folder)
            traced = best([python, "traced.py"], folder, 1)
            profiled = best([python, "-m", "cProfile", "-o", "profile", "program.py"], folder, 1)
            print(
                f"{case.name:36} {plain:8.3f}s {recorded:8.3f}s {recorded / plain:6.2f} "
                f"{traced:8.3f}s {profiled:8.3f}s   {case.goal}"
            )
        Path(folder, "program.py").write_text(LOOP)
        started = perf_counter()
        run = [python, "-m", "possibly", "run", "--watch", "counter", "program.py"]
        loop = took(run, folder)
        whole = perf_counter() - started
        print(f"events recorded a second: {1_000_000 / loop:,.0f}; the whole command {whole:.1f} s")


if __name__ == "__main__":
    main()
