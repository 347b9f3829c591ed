"""What predictions and histories cost as runs grow: `make bench ONLY=predicting`.

No peer runs here that reads the same input, so each row has the time for twice as much beside it: near linear
is near two.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from random import Random
from typing import TypeVar

from possibly.detection.prediction.deadlocks import DeadlockFinder
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.views.cli.main import main as possibly

Thing = TypeVar("Thing")
SIZES = (10_000, 20_000, 40_000)
THREADS, LOCKS = 8, 20


def run_with_locks(events: int) -> Trace:
    """Nested critical sections of random locks, taken in one order but for two of them by one thread."""
    random, builder = Random(events), TraceBuilder()
    builder.header(processes=[(f"P{number}", {}) for number in range(THREADS)])
    released: dict[int, tuple[int, str]] = {}
    done = [0] * THREADS
    while sum(done) < events:
        thread = random.randrange(THREADS)
        pair = sorted(random.sample(range(LOCKS), 2))
        if thread == 0 and random.random() < 0.01:
            pair = [1, 0]
        for kind, locks in (("acquire", pair), ("release", pair[::-1])):
            for lock in locks:
                done[thread] += 1
                before = released.get(lock, (thread, ""))
                fields = {"p": f"P{thread}", "kind": kind, "tag": f"L{lock}", "at": f"a.py:{lock}"}
                is_handed_on = kind == "acquire" and before[0] != thread
                builder.add_fields({**fields, **({"after": [before[1]]} if is_handed_on else {})})
                if kind == "release":
                    released[lock] = thread, f"P{thread}:{done[thread]}"
    return builder.finish()


def history(operations: int) -> str:
    """Five clients of a register, each call answered by what the register held in the middle of it."""
    random, state = Random(operations), 0
    lines: list[dict[str, object]] = []
    path = os.path.join(tempfile.gettempdir(), f"possibly-history-{os.getpid()}.jsonl")
    free = [0.0] * 5
    for moment in range(operations):
        client = min(range(5), key=free.__getitem__)
        begun, over = moment - random.random(), moment + random.random() * 4
        told: dict[str, object] = {"process": client, "call": max(begun, free[client]), "return": over}
        if random.random() < 0.5:
            state = random.randrange(5)
            lines.append(told | {"f": "write", "value": state, "result": None})
        else:
            lines.append(told | {"f": "read", "result": state})
        free[client] = over
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def decided(path: str) -> None:
    with redirect_stdout(io.StringIO()):
        status = possibly(["linearizable", path, "--model", "register", "--initial", "0"])
    os.remove(path)
    assert status == 0, "it is linearizable as it was made"


def deadlocks(run: Trace) -> None:
    list(DeadlockFinder(run).found())


def measured(name: str, make: Callable[[int], Thing], work: Callable[[Thing], object]) -> None:
    seconds = []
    for size in SIZES:
        thing = make(size)
        begun = time.process_time()
        work(thing)
        seconds.append(time.process_time() - begun)
    told = "  ".join(f"{size:,}: {each:.2f} s" for size, each in zip(SIZES, seconds, strict=True))
    print(f"{name:<24} {told}   x {seconds[-1] / max(seconds[-2], 1e-9):.1f} for twice as much", flush=True)


if __name__ == "__main__":
    measured("predicted deadlocks", run_with_locks, deadlocks)
    measured("linearizable register", history, decided)
