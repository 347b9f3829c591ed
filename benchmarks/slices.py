"""`make bench`: answers from slices on runs of up to ten million events, beside what the machine can do.

Every line ends in a ratio measured in the same run: beside the interpreter's own start, beside reading the
same bytes, beside a tight parser in C, beside visiting cuts; and beside a goal where there is one. Growth is
the exponent of a fitted power law: 1 means that doubling the events doubles the time. `--quick` takes a tenth
of the events, `--huge` adds a run of a hundred million (two gigabytes on disk, six of memory to make it).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from math import log
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.large import large_trace, ring_trace
from benchmarks.run import random_trace, rate, row
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.slices.slicing import Slicing
from possibly.detection.slices.together import together
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Compare, Literal, Local, Node, Temporal
from possibly.order.bitmaps import Bits
from possibly.order.components import components
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.slice import Slice, whole
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.records import replace
from possibly.trace.columns.form import read_columns, write_columns
from possibly.trace.index import kernels
from possibly.trace.jsonl import read_trace, write_trace
from possibly.trace.model import Trace

LARGE = 10_000_000
"""Events that goals speak of."""

CUTS = 200_000
"""How many cuts the plain engine may visit beside it."""

EVERYWHERE = 'EF((forall i in "P*": i.x == 3) & EG(forall i in "P*": i.x != 99))'
"""p and q on all processes: a thousand of them make a formula of two thousand comparisons."""


def on_some(processes: int, most: int = 40) -> str:
    """The same with p and q on forty processes, each of them named."""
    some = range(min(most, processes))
    p = " & ".join(f"P{number}.x == 3" for number in some)
    q = " & ".join(f"P{number}.x != 99" for number in some)
    return f"EF({p} & EG({q}))"


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of the line through the logarithms, by least squares."""
    xs, ys = [log(size) for size in sizes], [log(second) for second in seconds]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def timed(work: Callable[[], Any], repeat: int = 1) -> tuple[float, Any]:
    """The shortest of several times, and the last result; of the processor, since machines are shared."""
    best, result = float("inf"), None
    for _ in range(repeat):
        started = process_time()
        result = work()
        best = min(best, process_time() - started)
    return best, result


# ---- whole commands ------------------------------------------------------------------------------


HELPER = """
import json, os, sys, time
started = time.perf_counter()
child = os.fork()
if not child:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
_, _, usage = os.wait4(child, 0)
cpu = usage.ru_utime + usage.ru_stime
print(json.dumps([time.perf_counter() - started, cpu, usage.ru_maxrss / 1024]))
"""
"""Runs a command from a small process: what a large one starts counts its memory as the child's."""


class Command:
    """The best of several runs of a Python command: seconds, processor seconds, peak megabytes."""

    def __init__(
        self, *arguments: str, repeat: int = 7, environment: Mapping[str, str] | None = None
    ) -> None:
        around = {**os.environ, "POSSIBLY_CACHE": "off", **(environment or {})}
        around.pop("PYTHONDONTWRITEBYTECODE", None)
        runs = []
        for _ in range(repeat):
            command = [sys.executable, "-S", "-c", HELPER, *arguments]
            done = subprocess.run(command, env=around, stdout=subprocess.PIPE, check=True)
            runs.append(json.loads(done.stdout))
        self.seconds, self.cpu, self.megabytes = map(min, zip(*runs, strict=True))


def check(path: Path, formula: str, **environment: str) -> Command:
    return Command("-m", "possibly", "check", str(path), "--ctl", formula, environment=environment)


def beside(seconds: float, goal: float, events: int = LARGE) -> str:
    """The ratio to a goal, which is one for ten million events and the processor's time."""
    return f"{seconds / (goal * events / LARGE):.2f} x the goal"


def told(found: Command) -> str:
    return f"{found.seconds:.2f} s, cpu {found.cpu:.2f} s, {found.megabytes:.0f} MB"


def whole_commands(folder: Path, events: int) -> Path:
    """Goals: with kernels 0.15 s and 64 MB, without 1 s and 64 MB."""
    path = folder / "large.columns"
    seconds, _ = timed(lambda: write_columns(large_trace(1000, events), path))
    print(f"{events:,} events on 1,000 processes, from a compact file ({seconds:.0f} s to make)")
    interpreter = Command("-c", "pass")
    row("the interpreter alone", told(interpreter))
    streamed = Command("-c", f"open({str(path)!r}, 'rb').read({events})")
    row("and reading one byte an event", told(streamed))
    least = check_nothing().megabytes
    for what, formula in (
        ("p and q on forty processes", on_some(1000)),
        ("p and q on all of them", EVERYWHERE),
        ("the same, each of them named", on_some(1000, 1000)),
    ):
        for name, kernels_, goal in ((f"EF(p & EG(q)), {what}", "on", 0.15), ("without kernels", "off", 1.0)):
            found = check(path, formula, POSSIBLY_KERNELS=kernels_)
            ratio = f"{found.cpu / streamed.cpu:.1f} x that, {found.cpu / goal:.2f} x the goal"
            row(name, told(found), f"{ratio}, {(found.megabytes - least) * 1e6 / events:.2f} bytes an event")
    return path


def growth(folder: Path, events: int) -> None:
    sizes = [events // 8, events // 4, events // 2, events]
    cpu, memory, whole_cpu = [], [], []
    for size in sizes:
        path = folder / f"{size}.columns"
        write_columns(large_trace(1000, size), path)
        question = Question(path, on_some(1000))
        cpu.append(timed(question.answered, repeat=5)[0])
        memory.append(check(path, on_some(1000)).megabytes)
        if kernels():
            part = sliced_for_components(path)[1]
            whole_cpu.append(timed(partial(components, part), repeat=3)[0])
        path.unlink()
    row("growth of the answer's time with the events", f"exponent {exponent(sizes, cpu):.2f}", "1 is linear")
    if kernels():
        found = f"exponent {exponent(sizes, whole_cpu):.2f}"
        row("growth of the time for the components of a slice", found, "1 is linear")
    least = check_nothing().megabytes
    more = [max(0.1, megabytes - least) for megabytes in memory]
    row(
        "growth of the memory beyond that of a tiny run",
        f"exponent {exponent(sizes, more):.2f}",
        "1 is linear",
    )


def check_nothing() -> Command:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tiny.columns")
        write_columns(random_trace(10, 10), path)
        return check(path, "EF(P0.x == 3)")


# ---- after loading -------------------------------------------------------------------------------


class Question:
    """A formula on a mapped trace."""

    def __init__(self, path: Path | Trace, formula: str) -> None:
        self.trace = read_columns(path) if isinstance(path, Path) else path
        self.computation = Computation(self.trace)
        self.node: Node = bind(parse(formula, "ctl"), vocabulary(self.trace)).formula

    def answered(self) -> bool:
        """From the trace to the answer to EF, bitmaps included; without a path that shows it."""
        lattice = Lattice(self.computation)
        slicing = Slicing(lattice, CutPredicates(lattice, Readings(self.computation)))
        assert isinstance(self.node, Temporal)
        found = slicing.alternatives(self.node.operands[0])
        assert found is not None
        return any(part.least is not None for part in found)


def after_loading(folder: Path, path: Path, events: int) -> None:
    """Goals: ten operators in 100 ms at 10^7 events, whatever the number of processes."""
    print(f"after loading, {events:,} events")
    copied = timed(lambda: bytearray(events), repeat=3)[0]
    row("touching one byte an event", f"{copied * 1e3:.1f} ms")
    ten = "EF(P0.x != 99 & AG(P1.x != 99 & EG(P2.x != 99 & " * 3 + "EF(P3.x != 99)" + ")))" * 3
    question = Question(path, ten)
    seconds, _ = timed(question.answered, repeat=3)
    row(
        "ten nested operators, 1,000 processes",
        f"{seconds * 1e3:.1f} ms",
        f"{seconds / copied:.1f} x that, {beside(seconds, 0.1, events)}",
    )
    seconds, _ = timed(Question(path, on_some(1000)).answered, repeat=3)
    row(
        "EF(p & EG(q)) on forty of 1,000 processes",
        f"{seconds * 1e3:.1f} ms",
        f"{seconds / copied:.1f} x that",
    )
    early(path, seconds)
    for processes in (10, 100, 1000, 10_000):
        other = folder / "other.columns"
        write_columns(large_trace(processes, events), other)
        if processes == 10:
            early(other, seconds)
        spent, _ = timed(Question(other, on_some(processes)).answered, repeat=3)
        row(f"the same on {processes:,} processes", f"{spent * 1e3:.1f} ms", f"{spent / seconds:.2f} x 1,000")
        other.unlink()


def early(path: Path, seconds: float) -> None:
    """Two processes may not stay where they begin and may stop after one event: nothing else is looked at."""
    computation = Computation(read_columns(path))
    moved = {process: Bits.from_truths(b"\0" + b"\1" * computation.lengths[process]) for process in range(2)}
    part = replace(whole(computation), allowed=moved)
    times, counted = 1000, sum(part.least or ())
    spent, _ = timed(lambda: [part.least_from(part.low) for _ in range(times)], repeat=3)
    row(
        f"a least cut of {counted} events among {len(computation.lengths):,} processes",
        f"{spent / times * 1e6:.1f} µs",
        f"{spent / times / seconds:.5f} x the whole run",
    )


# ---- whole slices --------------------------------------------------------------------------------


def states_of(question: Question, operator: str) -> dict[int, Bits]:
    """x compared with 3 at every process."""
    predicates = CutPredicates(Lattice(question.computation), Readings(question.computation))
    found = {}
    for process in question.trace.processes:
        plain = predicates.plain(Compare((Local(process.name, "x"), Literal(3)), (operator,)))
        assert plain is not None
        found[plain[0]] = plain[1]
    return found


COMPONENTS = """
from pathlib import Path
from sys import argv
from benchmarks.slices import sliced_for_components
from possibly.order.components import components
part = sliced_for_components(Path(argv[1]))[1]
if argv[2] == "yes":
    found = components(part)
"""
"""With and without the last step, each in a process of its own: the difference is what it takes."""


def memory_of_components(path: Path) -> float:
    with_them, without = (Command("-c", COMPONENTS, str(path), say, repeat=1) for say in ("yes", "no"))
    return float(with_them.megabytes - without.megabytes) * 2**20


def sliced_for_components(path: Path) -> tuple[Question, Slice]:
    question = Question(path, on_some(1000))
    return question, replace(whole(question.computation), allowed=states_of(question, "!="))


def whole_slices(path: Path, events: int) -> None:
    """Goals: components of 10^7 events in 0.25 s and 20 bytes an event; all pairs of 1,000 in 2 s, 600 MB."""
    _, part = sliced_for_components(path)
    least, _ = timed(lambda: part.least_from(part.low), repeat=3)
    seconds, found = timed(lambda: components(part), repeat=2)
    row(
        f"the {found.total:,} components of a slice",
        f"{seconds:.2f} s",
        f"{seconds / max(least, 1e-6):.0f} x its least cut, {beside(seconds, 0.25, events)}",
    )
    del found
    row(
        "memory of the components",
        f"{memory_of_components(path) / events:.1f} bytes/event",
        "goal: 20",
    )
    ring = Question(ring_trace(1000, events // 10), on_some(1000))
    states = states_of(ring, "==")
    spent, meetings = timed(lambda: together(ring.computation, states))
    assert not meetings
    one = replace(whole(ring.computation), allowed={0: states[0], 1: states[1]})
    single, _ = timed(lambda: one.least_from(one.low), repeat=3)
    row(
        f"mutual exclusion of all 499,500 pairs, {events // 10:,} events",
        f"{spent:.2f} s",
        f"{spent / single:.0f} x one pair, {beside(spent, 2.0, events)}",
    )


# ---- text ----------------------------------------------------------------------------------------


def text(folder: Path, events: int) -> None:
    """Goal: at most three times what a tight parser in C takes for the same bytes."""
    path = folder / "large.jsonl"
    write_trace(large_trace(1000, events), path)
    data = path.read_bytes()
    print(f"JSON Lines, {events:,} events, {len(data) / 1e6:.0f} MB of text")
    limit = _tight_parser(data, folder)
    if limit is None:
        row("a tight parser in C", "not built", "no C compiler")
    else:
        row("a tight parser in C, nothing kept", rate(events, limit, "events"))
    seconds, _ = timed(lambda: read_trace(path), repeat=3)
    ratio = "" if limit is None else f"{seconds / limit:.1f} x the tight parser's time"
    row("read_trace" + ("" if kernels() else ", without kernels"), rate(events, seconds, "events"), ratio)
    import msgspec

    decode = msgspec.json.Decoder().decode
    lines = data.splitlines()
    peer, _ = timed(lambda: [decode(line) for line in lines])
    row("msgspec.json.decode of every line", rate(events, peer, "events"), f"{seconds / peer:.2f} x for us")


def _tight_parser(data: bytes, folder: Path) -> float | None:
    import ctypes
    import shutil

    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    source, library = Path(__file__).with_name("parser.c"), folder / "parser.so"
    subprocess.run([compiler, "-O3", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    parsed = ctypes.CDLL(str(library)).parsed
    parsed.argtypes, parsed.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_uint64
    return timed(lambda: parsed(data, len(data)), repeat=3)[0]


# ---- beside visiting cuts ------------------------------------------------------------------------


def beside_visiting() -> None:
    trace, formula = random_trace(12, 50), on_some(10)
    spent, _ = timed(Question(trace, formula).answered)
    row("12 processes x 50 events", f"{spent * 1e3:.1f} ms", _beside(trace, formula, spent))


def _beside(trace: Trace, formula: str, seconds: float) -> str:
    """What visiting cuts does in a multiple of the time."""
    lattice = Lattice(Computation(trace))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    node = bind(parse(formula, "ctl"), vocabulary(trace)).formula
    engine = Exhaustive(lattice, predicates, Budget(max_cuts=CUTS))

    def work() -> str:
        try:
            engine.at(node, lattice.initial)
        except LimitReachedError:
            return "gave up"
        return "came to an end"

    spent, ended = timed(work)
    return (
        f"the plain engine {ended} after {engine.budget.visited:,} cuts in {spent / seconds:.0f} x the time"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the events")
    parser.add_argument("--huge", action="store_true", help="also a run of 10^8 events")
    arguments = parser.parse_args()
    events = 1_000_000 if arguments.quick else 10_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = whole_commands(folder, events)
        growth(folder, events)
        after_loading(folder, path, events)
        if kernels():
            whole_slices(path, events)
        text(folder, events // 10)
        beside_visiting()
        if arguments.huge:
            path.unlink()
            whole_commands(folder, 10 * events)


if __name__ == "__main__":
    main()
