"""What recording costs: the same programs plain, recorded, and under tools that users would pick instead.

Each program measures the processor's time of its own work, so that the start of the interpreter and the merge
do not count; they are printed apart. Rivals see other things than we do, the nearest option of each is taken:
`sys.settrace` with an empty function is what any tracer written in Python costs at least; cProfile and
coverage note calls and lines, without an order between threads; viztracer notes calls, and assignments to a
variable with `--log_var`; hunter prints the lines with the variable. None of them knows what synchronises.

`python -m benchmarks.recording` prints a table; the goals stand in its last column. Rivals that are not
installed are left out.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

QUEUE = """
import queue, threading, time
channel = queue.Queue(100)
def produce():
    for number in range(50_000): channel.put(number)
    channel.put(None)
def consume():
    while channel.get() is not None: pass
threads = [threading.Thread(target=work) for work in (produce, consume)]
started = time.process_time()
for thread in threads: thread.start()
for thread in threads: thread.join()
print("took", time.process_time() - started)
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
threads = [threading.Thread(target=work, args=(50_000,)) for _ in range(2)]
started = time.process_time()
for thread in threads: thread.start()
for thread in threads: thread.join()
print("took", time.process_time() - started)
"""

LOOP = """
import time
counter = 0
def work(count):
    global counter
    for _ in range(count):
        counter += 1
started = time.process_time()
work(200_000)
print("took", time.process_time() - started)
"""

PURE = """
import time
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
started = time.process_time()
fibonacci(23)
print("took", time.process_time() - started)
"""

RING = """
import queue, sys, threading, time
count = int(sys.argv[1])
inboxes = [queue.SimpleQueue() for _ in range(count)]
def work(me):
    total = 0
    for _ in range(60_000 // count):
        total = total + inboxes[me].get()
        inboxes[(me + 1) % count].put(total % 7)
threads = [threading.Thread(target=work, args=(me,), name=f"T{me}") for me in range(count)]
started = time.process_time()
for inbox in inboxes: inbox.put(1)
for thread in threads: thread.start()
for thread in threads: thread.join()
print("took", time.process_time() - started)
"""

TRACER = """
import sys, threading
def trace(frame, event, argument): return trace
threading.settrace(trace)
sys.settrace(trace)
"""
HUNTER = """
import hunter, io
hunter.trace(module="__main__", action=hunter.{printer}stream=io.StringIO()))
"""


@dataclass(frozen=True)
class Case:
    name: str
    source: str
    watch: str
    goal: float

    @property
    def options(self) -> tuple[str, ...]:
        return ("--watch", self.watch) if self.watch else ()


CASES = (
    Case("queue-heavy, synchronisation only", QUEUE, "", 1.5),
    Case("locked counter, watched", COUNTER, "counter", 5.0),
    Case("bare counter loop, watched", LOOP, "counter", 5.0),
    Case("unwatched code", PURE, "counter", 1.0),
)
RIVALS = ("settrace", "cProfile", "coverage", "viztracer", "hunter")


def is_there(rival: str) -> bool:
    return rival == "settrace" or importlib.util.find_spec(rival) is not None


def rival_command(rival: str, case: Case) -> list[str]:
    """The command that runs `program.py` under another tool."""
    python = sys.executable
    match rival:
        case "settrace":
            Path("traced.py").write_text(TRACER + case.source)
            return [python, "traced.py"]
        case "hunter":
            is_watched = bool(case.watch) and case.watch in case.source
            printer = f'VarsPrinter("{case.watch}", ' if is_watched else "CallPrinter("
            Path("traced.py").write_text(HUNTER.format(printer=printer) + case.source)
            return [python, "traced.py"]
        case "cProfile":
            return [python, "-m", "cProfile", "-o", "profile", "program.py"]
        case "coverage":
            return [python, "-m", "coverage", "run", "program.py"]
    variable = ["--log_var", case.watch] if case.watch else []
    return [python, "-m", "viztracer", "-o", "viztracer.json", *variable, "--", "program.py"]


def took(command: list[str]) -> float:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split("took")[1].split()[0])


def best(command: list[str], rounds: int) -> float:
    return min(took(command) for _ in range(rounds))


def main() -> None:
    rivals = [rival for rival in RIVALS if is_there(rival)]
    heads = "".join(f"{rival:>10}" for rival in rivals)
    print(f"{'times the plain run':36} {'plain':>9} {'possibly':>9}{heads}   goal")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for case in CASES:
            print_case(case, rivals)
        print_whole("bare counter loop", LOOP, "--watch", "counter")
        print_whole("queue-heavy", QUEUE)
        print("the same messages between more and more threads")
        for threads in (10, 100, 1_000):
            print_threads(threads)
        os.chdir("/")


def print_case(case: Case, rivals: list[str]) -> None:
    Path("program.py").write_text(textwrap.dedent(case.source))
    plain = best([sys.executable, "program.py"], 7)
    recorded = best([sys.executable, "-m", "possibly", "run", *case.options, "program.py"], 7)
    rounds = {"hunter": 1}  # it takes its time
    ratios = [best(rival_command(rival, case), rounds.get(rival, 2)) / plain for rival in rivals]
    others = "".join(f"{ratio:10.2f}" for ratio in ratios)
    print(f"{case.name:36} {plain:8.3f}s {recorded / plain:9.2f}{others}   {case.goal}", flush=True)


def print_whole(name: str, source: str, *options: str) -> None:
    """Events a second in the program, and of all that is done until the trace lies on the disk."""
    Path("program.py").write_text(source)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "possibly", "run", "-o", "run.jsonl", *options, "program.py"]
    inside = took(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with open("run.jsonl", "rb") as lines:
        count = sum(1 for _ in lines) - 1
    print(f"{name}: {count:,} events, {count / inside:,.0f} a second in the program, "
          f"{count / whole:,.0f} a second until they lie on the disk")  # fmt: skip


def print_threads(threads: int) -> None:
    """What an event costs in the program and until it lies on the disk, and whether its names are right."""
    Path("program.py").write_text(RING)
    plain = took([sys.executable, "program.py", str(threads)])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = ["-o", "run.jsonl", "--watch", "total", "program.py", str(threads)]
    inside = took([sys.executable, "-m", "possibly", "run", *words])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with open("run.jsonl", encoding="utf-8") as lines:
        next(lines)
        events = [json.loads(line) for line in lines]
    names = {event["p"] for event in events} - {"MainThread"}
    places = {
        event["at"].rsplit(":", 1)[1] for event in events if event["p"] != "MainThread" and "at" in event
    }
    assert names == {f"T{number}" for number in range(threads)}, "every thread by its name"
    assert places == {"6", "8", "9"}, f"every event at its line, not {places}"
    each = [f"{1e6 * seconds / len(events):.1f}" for seconds in (plain, inside, whole)]
    print(
        f"{threads:6,} threads: {len(events):,} events; of the processor an event takes {each[0]} us in the "
        f"plain program, {each[1]} in the recorded one, {each[2]} until it lies on the disk",
        flush=True,
    )


if __name__ == "__main__":
    main()
