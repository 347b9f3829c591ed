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

from possibly.detection.limits import Budget
from possibly.detection.prediction.deadlocks import DeadlockFinder
from possibly.detection.prediction.races import RaceFinder
from possibly.detection.prediction.regular import RegularSearch
from possibly.detection.prediction.sliced import Reached, SlicedSearch
from possibly.detection.prediction.walks import Walks
from possibly.logic.bind import bind_property
from possibly.logic.predicates.functions import compile_predicate
from possibly.logic.specification import property_from_text
from possibly.logic.syntax import Node, Temporal
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.views.cli.main import main as possibly

Thing = TypeVar("Thing")
SIZES = (10_000, 20_000, 40_000)
SHORT = (1_000, 2_000, 4_000)
"""For what costs milliseconds an event."""
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


def racing_run(events: int) -> Trace:
    """Accesses under two locks, and without one every hundredth time; each thread reads what it wrote."""
    random, builder = Random(events), TraceBuilder()
    names = [f"P{number}" for number in range(THREADS)]
    builder.header(processes=[(name, {}) for name in names], shared=dict.fromkeys("xyz", 0))
    released: dict[int, tuple[int, str]] = {}
    done = [0] * THREADS
    while sum(done) < events:
        thread, lock = random.randrange(THREADS), random.randrange(2)
        guarded = random.random() >= 0.01
        variable = "xy"[lock] if guarded else "z"
        lines: list[dict[str, object]] = [{"write": {variable: random.randrange(3)}}]
        if guarded:
            before = released.get(lock, (thread, ""))
            after = {"after": [before[1]]} if before[0] != thread else {}
            lines.insert(0, {"kind": "acquire", "tag": f"L{lock}", **after})
            lines += [{"read": [variable]}, {"kind": "release", "tag": f"L{lock}"}]
        for line in lines:
            done[thread] += 1
            builder.add_fields({"p": f"P{thread}", "at": f"a.py:{lock}", **line})
        if guarded:
            released[lock] = thread, f"P{thread}:{done[thread]}"
    return builder.finish()


def flags_run(events: int) -> Trace:
    """Two threads, each with a flag that it raises and takes down again, and looks at now and then."""
    random, builder = Random(events), TraceBuilder()
    builder.header(processes=[("P0", {}), ("P1", {})], shared={"x": 0, "y": 0})
    for number in range(events):
        thread = random.randrange(2)
        looks = number % 50 == 49
        fields = {"read": ["xy"[thread]]} if looks else {"write": {"xy"[thread]: number % 2}}
        builder.add_fields({"p": f"P{thread}", **fields})
    return builder.finish()


def races(run: Trace) -> None:
    list(RaceFinder(run, window=2_000).found())


def asked(run: Trace, text: str) -> Node:
    return bind_property(property_from_text("ltl", text, "it"), vocabulary(run), ()).formula


def sliced_states(run: Trace) -> None:
    state = asked(run, "G(x == 2 & y == 2)")
    assert isinstance(state, Temporal)
    question = Reached(run, compile_predicate(state.operands[0]))
    assert SlicedSearch(run, question, 1, Budget()).found() is None


def sliced_formulas(run: Trace) -> None:
    formula = asked(run, "F(x == 1 & y == 1 & F(x == 2))")
    assert RegularSearch(run, formula, Budget()).found(2) is None


def all_orders(run: Trace) -> None:
    walk = Walks(run, asked(run, "F(x == 1 & y == 1 & F(x == 2))"), Budget(), unnoticed=False)
    assert walk.found() is None and walk.is_complete


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


def measured(
    name: str,
    make: Callable[[int], Thing],
    work: Callable[[Thing], object],
    sizes: tuple[int, ...] = SIZES,
) -> None:
    seconds = []
    for size in sizes:
        thing = make(size)
        begun = time.process_time()
        work(thing)
        seconds.append(time.process_time() - begun)
    told = "  ".join(f"{size:,}: {each:.2f} s" for size, each in zip(sizes, seconds, strict=True))
    print(f"{name:<24} {told}   x {seconds[-1] / max(seconds[-2], 1e-9):.1f} for twice as much", flush=True)


if __name__ == "__main__":
    measured("predicted deadlocks", run_with_locks, deadlocks)
    measured("predicted races", racing_run, races)
    measured("sliced: states", flags_run, sliced_states, SHORT)
    measured("sliced: linear formulas", flags_run, sliced_formulas, SHORT)
    measured("all orders, 2 threads", flags_run, all_orders, (75, 150, 300))
    measured("linearizable register", history, decided)
