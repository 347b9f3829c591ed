"""`make bench`: the task logic on a net with a million slices, and on one with more than can be counted.

The rate is slices of the lattice a second for the whole check; the ratio is to counting those slices alone.
"""

from __future__ import annotations

import argparse
import gc
from math import log10
from pathlib import Path
from time import process_time

from benchmarks.run import rate, row, timed
from possibly.detection.explicit.compiled import algebra
from possibly.logic.specification import Specification, property_from_text
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

FORMULAS = (
    "not (t1:(in.f) and t2:(in.f)) if t1 != t2",
    "t1:(start.f) implies sometime t1:(term.f)",
    "t1:(x < 6) until t2:(start.f)",
    "t1:(x < 6) before t2:(term.f)",
)
ANY_SETS = (
    "t1:(x == 3) implies (t1:(x < 6) until (t1:(term.f) and t2:(x == 2))) if t1 != t2",
    "(t1:(x < 6) and t2:(x < 5)) until (t1:(term.f) and t2:(term.f)) if t1 != t2",
    "(t1:(x < 6) or t2:(x < 5)) before (t1:(x == 3) and t2:(x == 4)) if t1 != t2",
    "t1:(x < 6) until (t2:(x < 3) until t1:(term.f)) if t1 != t2",
)
"""`until` and `before` whose goals are conjunctions, or formulas with `until` themselves."""


HUNDRED = (
    ("tl", "not (t1:(in.work and x == 3) and t2:(in.work and x == 2)) if t1 != t2"),
    ("tl", "forall t1 (t1:(g <= 4))"),
    ("tl", "t1:(start.work) implies next t1:(x >= 0)"),
    ("tl", "t1:(x == 3) implies (t1:(x == 3) until t1:(x == 0))"),
    ("tl", "t1:(x == 3) implies (t1:(x == 3) until t2:(x == 2)) if t1 != t2"),
    ("tl", "t1:(x == 3) implies (t2:(x != 2) until t1:(x == 0)) if t1 != t2"),
    ("tl", "t1:(in.work) implies (not t2:(in.work) until t1:(not in.work)) if t1 != t2"),
    ("tl", "t1:(x == 3) implies not next t2:(x == 2) if t1 != t2"),
    ("tl", "t1:(x == 3) implies not (t2:(x == 2) before t1:(x == 0)) if t1 != t2"),
    ("tl", "t1:(x == 3) implies sometime (t1:(x == 0) and t2:(x == 0)) if t1 != t2"),
    ("tl", "always (t1:(x != 3) or t2:(x != 2)) if t1 != t2"),
    ("expect", "(work.enter; work.exit)*"),
    ("expect", "((a; b)*)@"),
    ("never", "a & work.exit"),
)
"""What is asked of a hundred tasks."""


def hundred_tasks(events: int) -> Trace:
    """Tasks that take turns in `work` by a lock, do `a; b` on their own."""
    builder, last = TraceBuilder(), None
    builder.header(processes=[(f"T{number}", {"x": 0}) for number in range(100)], shared={"g": 0})
    for turn in range(events // 10):
        task, label = f"T{turn * 7 % 100}", f"T{turn * 13 % 100}"
        builder.add(task, kind="acquire", after=[last] if last else [])
        builder.add(task, kind="enter", fn="work")
        builder.add(task, set={"x": 2 + turn % 2})
        builder.add(task, kind="write", write={"g": turn % 5})
        builder.add(task, kind="exit", fn="work")
        builder.add(task, set={"x": 0})
        builder.add(task, kind="release", id=f"release {turn}")
        last = f"release {turn}"
        builder.add(label, label="a")
        builder.add(label, label="b")
        builder.add(label)
    return builder.finish()


def hundred_senders(events: int) -> Trace:
    """Tasks that send to each other; every message is received a while later."""
    builder = TraceBuilder()
    builder.header(processes=[(f"T{number}", {}) for number in range(100)])
    for turn in range(events // 2):
        builder.add(f"T{turn * 7 % 100}", kind="send", msg=f"m{turn}", to=f"T{turn * 13 % 100}")
        if turn >= 50:
            builder.add(f"T{(turn - 50) * 13 % 100}", kind="receive", msg=f"m{turn - 50}")
    return builder.finish()


def free_tasks(tasks: int, length: int) -> Trace:
    """Tasks that never wait for each other: all combinations of their states are slices."""
    builder = TraceBuilder()
    builder.header(processes=[(f"T{number}", {"x": 0}) for number in range(tasks)])
    for number in range(tasks):
        for position in range(1, length + 1):
            inside = position % 8
            kind = {2: "enter", 6: "exit"}.get(inside, "internal")
            function = None if kind == "internal" else "f"
            builder.add(f"T{number}", set={"x": inside}, kind=kind, fn=function)
    return builder.finish()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a net of 65,536 slices")
    length = 15 if parser.parse_args().quick else 31
    trace = free_tasks(4, length)
    counting, sets = timed(lambda: algebra(Lattice(Computation(trace, "sync")), lambda cuts: None))
    print(f"task logic on a net with {sets.cuts:,} slices")
    row("counting them", rate(sets.cuts, counting, "slices"))
    for formula in FORMULAS:
        spent = _seconds(trace, formula)
        row(formula[:56], rate(sets.cuts, spent, "slices"), f"{spent / counting:.0f} x counting")
    print(f"goals of any form on {sets.cuts:,} slices, for each of 12 assignments")
    for formula in ANY_SETS:
        spent = _seconds(trace, formula)
        row(formula[:56], rate(12 * sets.cuts, spent, "slices"), f"{spent:.1f} s in all")
    large = free_tasks(20, 100)
    print("a net with 101^20 slices, by terms")
    for formula in FORMULAS[:2]:
        row(formula[:56], f"{_seconds(large, formula):.2f} s")
    print("a hundred tasks: 1,000, 10,000 and 100,000 events")
    sizes = 1_000, 10_000, 100_000
    traces, messages = map(list, (map(hundred_tasks, sizes), map(hundred_senders, sizes)))
    questions = [(traces, *question) for question in HUNDRED]
    for traces, language, formula in [*questions, (messages, "never", "send(M); receive(M)")]:
        growth = [_seconds(trace, formula, language) for trace in traces[:-1]]
        before = _resident(anew=True)
        growth.append(_seconds(traces[-1], formula, language))
        memory = (_resident() - before) / sizes[-1]
        exponent = f"events^{log10(growth[2] / growth[1]):.2f}, {memory:.0f} bytes an event"
        row(f"{language} {formula}"[:56], ", ".join(f"{each:.2f} s" for each in growth), exponent)


def _resident(anew: bool = False) -> int:
    """The most memory that this process held since it was asked `anew`."""
    gc.collect()
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def _seconds(trace: Trace, formula: str, language: str = "tl") -> float:
    """Of the processor, since other work on the machine is not ours."""
    specification = Specification(properties=(property_from_text(language, formula, "it"),))
    started = process_time()
    check_trace(trace, specification, Options(explain=False))
    return process_time() - started


if __name__ == "__main__":
    main()
