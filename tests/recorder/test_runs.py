"""A hundred recorded runs of a program whose threads race, each of them valid.

Valid: the file obeys the format; replayed in the order of the lines every read sees the value that its thread
went on with, a lock is held by one at a time, no item is got before it was put, and the order that
synchronisation gives agrees with the order of the lines.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from possibly.order.computation import Computation
from possibly.recorder.log import compiled
from possibly.trace import Trace, load

RUNS = 100
PROGRAM = """
import queue, sys, threading
import possibly
sys.setswitchinterval(1e-6)
x = 0

def work(lock, channel, amount):
    global x
    for _ in range(6):
        x += amount
        with lock:
            x += 10 * amount
        channel.put(amount)

def collect(channel, count):
    for _ in range(count):
        channel.get()

def main():
    lock, channel = threading.Lock(), queue.Queue(3)
    threads = [threading.Thread(target=work, args=(lock, channel, n), name=f"w{n}") for n in (1, 2)]
    threads.append(threading.Thread(target=collect, args=(channel, 12), name="collector"))
    for thread in threads: thread.start()
    for thread in threads: thread.join()

for number in range(int(sys.argv[1])):
    x = 0
    with possibly.record(f"run{number}.jsonl", watch=["x"]):
        main()
    print(x)
"""


@pytest.mark.parametrize("kernels", ["on", "off"])
def test_every_one_of_a_hundred_runs_is_valid(kernels: str, tmp_path: Path) -> None:
    if kernels == "on" and compiled() is None:
        pytest.skip("the compiled log was not built")
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    runs = RUNS if kernels == "on" else RUNS // 10
    done = subprocess.run(
        [sys.executable, "program.py", str(runs)], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "POSSIBLY_KERNELS": kernels},
    )  # fmt: skip
    results = [int(line) for line in done.stdout.split()]
    assert len(results) == runs
    for number, result in enumerate(results):
        check(load(tmp_path / f"run{number}.jsonl"), result)


def check(trace: Trace, result: int) -> None:
    value, holder = 0, None
    seen: dict[str, int] = {}
    sent: set[str] = set()
    for number in range(len(trace)):
        event = trace.event(number)
        amount = int(event.process[1:]) if event.process.startswith("w") else 0
        if event.read:
            seen[event.process] = value
        for new in event.write.values():
            assert new - seen[event.process] in (amount, 10 * amount), "it wrote what it made of what it read"
            value = new
        match event.kind:
            case "acquire":
                assert holder is None
                holder = event.process
            case "release":
                assert holder == event.process
                holder = None
            case "send":
                sent.add(event.msg or "")
            case "receive":
                assert event.msg in sent
                sent.remove(event.msg or "")
    assert value == result and not sent
    assert {"w1", "w2", "collector"} <= {process.name for process in trace.processes}
    order = Computation(trace, "sync")
    clocks = [order.clock(number) for number in range(len(trace))]
    assert all(
        not order.happened_before(later, earlier) for later in range(len(clocks)) for earlier in range(later)
    )
