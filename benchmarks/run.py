"""`make bench`: what loading, ordering and visiting cost, each beside a peer or a limit of the same run.

Machines are noisy, so seconds alone say little: every line ends in a ratio measured in this very run.
Peers that are not installed are left out and said so. `--quick` takes sizes a tenth as large.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

from possibly.detection.explicit.compiled import algebra, kernels
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.explicit.linear import Linear
from possibly.detection.explicit.rowsets import PlainRows
from possibly.detection.explicit.sweep import Sweep
from possibly.detection.limits import Budget
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Node
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.columns.form import read_columns, write_columns
from possibly.trace.jsonl import read_trace, write_trace
from possibly.trace.model import Trace

EVERYWHERE = "AG(P0.x >= 0 -> AF(P1.x >= 0 & P2.x <= 3))"
"""Holds, so that no engine may stop before the last cut; three operators over paths and next."""


def random_trace(processes: int, length: int, messages: float = 0.2, seed: int = 1) -> Trace:
    """Every event sets x; a share of them sends or receives."""
    random = Random(seed)
    builder = TraceBuilder()
    names = [f"P{number}" for number in range(processes)]
    builder.header(processes=[(name, {"x": 0}) for name in names])
    left = [name for name in names for _ in range(length)]
    random.shuffle(left)
    inbox: dict[str, list[str]] = {name: [] for name in names}
    for number, name in enumerate(left):
        fields: dict[str, Any] = {"set": {"x": random.randint(0, 3)}}
        if inbox[name] and random.random() < 2 * messages:
            fields |= {"kind": "receive", "msg": inbox[name].pop(0)}
        elif random.random() < messages:
            to = random.choice(names)
            fields |= {"kind": "send", "msg": f"m{number}", "to": to}
            inbox[to].append(f"m{number}")
        builder.add(name, **fields)
    return builder.finish()


def timed(work: Callable[[], Any], repeat: int = 1) -> tuple[float, Any]:
    """The shortest of several times, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeat):
        started = perf_counter()
        result = work()
        best = min(best, perf_counter() - started)
    return best, result


def row(what: str, figure: str, ratio: str = "") -> None:
    print(f"  {what:<58}{figure:>24}   {ratio}", flush=True)


def rate(count: float, seconds: float, unit: str) -> str:
    value = count / seconds
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.2f} {letter} {unit}/s"
    return f"{value:.1f} {unit}/s"


@contextmanager
def peak() -> Iterator[Callable[[], int]]:
    """Bytes of Python and array memory at the highest point since the beginning."""
    import tracemalloc

    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# ---- loading --------------------------------------------------------------------------------------


def loading(folder: Path, events: int) -> None:
    print(f"loading a trace of {events:,} events on 100 processes")
    trace = random_trace(100, events // 100)
    text, columns = folder / "run.jsonl", folder / "run.columns"
    write_trace(trace, text)
    write_columns(trace, columns)
    lines = text.read_bytes().splitlines()
    decode, _ = timed(lambda: [json.loads(line) for line in lines])
    row("json.loads of every line (the limit for Python alone)", rate(events, decode, "events"))
    seconds, loaded = timed(lambda: read_trace(text), repeat=2)
    size = text.stat().st_size
    row("JSON Lines", rate(events, seconds, "events"), f"{decode / seconds:.2f} x json.loads")
    for ending, name in ((".gz", "JSON Lines, gzip"), (".zst", "JSON Lines, zstd")):
        packed = folder / f"run.jsonl{ending}"
        write_trace(trace, packed)
        slower, _ = timed(partial(read_trace, packed))
        row(name, rate(events, slower, "events"), f"{seconds / slower:.2f} x the plain text")
    opened, _ = timed(lambda: read_columns(columns), repeat=3)
    share = columns.stat().st_size / size
    row(
        "columns (mapped; nothing is decoded before it is used)",
        f"{opened * 1e3:.1f} ms",
        f"{share:.2f} x the text's bytes",
    )
    held = sum(_size(column) for column in vars(loaded).values())
    with peak() as highest:
        read_trace(text)
        row(
            "peak memory of loading JSON Lines",
            f"{highest() / events:.0f} bytes/event",
            f"{highest() / held:.2f} x the columns",
        )
    ordered, _ = timed(lambda: Computation(loaded))
    row("happened-before, sparse", rate(events, ordered, "events"), f"{ordered / seconds:.2f} x loading")


def _size(column: object) -> int:
    return len(column) * getattr(column, "itemsize", 8) if hasattr(column, "__len__") else 0


# ---- the lattice ------------------------------------------------------------------------------------


class Lab:
    """A lattice with the formula, prepared for any engine."""

    def __init__(self, processes: int, length: int, formula: str = EVERYWHERE, language: str = "ctl") -> None:
        self.trace = random_trace(processes, length)
        self.lattice = Lattice(Computation(self.trace))
        self.predicates = CutPredicates(self.lattice, Readings(self.lattice.computation))
        self.formula: Node = bind(parse(formula, language), vocabulary(self.trace)).formula


def lattice(quick: bool) -> None:
    small = Lab(4, 16 if quick else 30)
    sweep = Sweep(small.lattice, small.predicates, Budget())
    cuts = sweep.sets.cuts
    print(f"explicit lattice of {cuts:,} cuts, {EVERYWHERE}")
    seconds, value = timed(lambda: Exhaustive(small.lattice, small.predicates, Budget()).at(small.formula, 0))
    assert value
    row("plain engine, cut by cut", rate(cuts, seconds, "cuts"))
    peer = _py_model_checking(small, seconds / cuts)
    spin = _spin(small)
    plain, _ = timed(lambda: _swept(small, PlainRows))
    row(
        "rows of bits, Python integers",
        rate(cuts, plain, "cuts"),
        f"{seconds / plain:.1f} x the plain engine",
    )
    if kernels() is None:
        row("rows of bits, compiled", "not built", "no C compiler at installation")
    else:
        compiled, _ = timed(lambda: _swept(small, algebra), repeat=3)
        row(
            "rows of bits, compiled",
            rate(cuts, compiled, "cuts"),
            f"{seconds / compiled:.1f} x the plain engine",
        )
        if peer:
            row("", "", f"{peer / (compiled / cuts):.0f} x pyModelChecking")
        if spin:
            row("", "", f"{spin / (compiled / cuts):.0f} x SPIN's rate")
        _large(quick)
    linear = Lab(4, 16 if quick else 30, "G(P0.x >= 0 -> F(P1.x >= 0))", "ltl")
    engine = Linear(linear.lattice, linear.predicates, linear.formula, Budget())
    seconds, _ = timed(engine.decide)
    row("finite LTL on all observations", rate(cuts, seconds, "cuts"))


def _swept(lab: Lab, make: Any) -> Sweep:
    sweep = Sweep(lab.lattice, CutPredicates(lab.lattice, Readings(lab.lattice.computation)), Budget(), make)
    sweep.satisfying(lab.formula)
    return sweep


def processor(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, for work that is too long to be repeated: machines are shared."""
    started = process_time()
    result = work()
    return process_time() - started, result


def _large(quick: bool) -> None:
    """A lattice of 3 * 10^8 cuts. Goal: three operators in 2 s for 10^8 of them, 3 bytes a cut."""
    import resource

    lab = Lab(6, 20) if quick else Lab(7, 24)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, sets = processor(lambda: algebra(lab.lattice, lambda cuts: None))
    row(f"enumerating {sets.cuts:,} cuts", rate(sets.cuts, seconds, "cuts"))
    sweep = Sweep(lab.lattice, lab.predicates, Budget(), lambda lattice, visit: sets)
    spent, _ = processor(lambda: sweep.satisfying(lab.formula))
    goal = (seconds + spent) * 1e8 / sets.cuts / 2
    row("the formula on them (predicates, AF, AG)", rate(sets.cuts, spent, "cuts"), f"{goal:.2f} x the goal")
    everything = sets.everything()
    copy, _ = processor(lambda: bytearray(everything))
    row("", "", f"{spent / copy:.0f} x copying one set of them")
    row("memory of the rows", f"{sets.bytes / sets.cuts:.2f} bytes/cut", "and 1 bit a cut for each set")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    row("peak of the process while at it", f"{(after - before) * 1024 / sets.cuts:.2f} bytes/cut")


def _py_model_checking(lab: Lab, plain: float) -> float | None:
    """Seconds a cut of the peer on the same lattice, or None."""
    try:
        from pyModelChecking import Kripke
        from pyModelChecking.CTL import modelcheck
    except ImportError:
        row("pyModelChecking", "not installed", "pip install pyModelChecking")
        return None
    holds = [
        lab.predicates(bind(parse(text, "ctl"), vocabulary(lab.trace)).formula)
        for text in ("P0.x >= 0", "P1.x >= 0 & P2.x <= 3")
    ]
    states, arcs = {}, []
    for cut in lab.lattice.depth_first():
        states[cut] = {name for name, truth in zip("pq", holds, strict=True) if truth(cut)}
        arcs += [(cut, following) for following in lab.lattice.successors(cut)] or [(cut, cut)]
    model = Kripke(R=arcs, L=states)
    seconds, found = timed(lambda: modelcheck(model, "A G (p --> A F q)"))
    assert lab.lattice.initial in found
    row(
        "pyModelChecking, model built beforehand",
        rate(len(states), seconds, "cuts"),
        f"{plain / (seconds / len(states)):.2f} x the plain engine's time",
    )
    return float(seconds / len(states))


def _spin(lab: Lab) -> float | None:
    """Seconds a state of SPIN on the same lattice, without reduction or compilation; or None."""
    import re
    import shutil

    from possibly.views.export.promela import render_promela

    if shutil.which("spin") is None or shutil.which("gcc") is None:
        row("SPIN", "not installed", "apt-get install spin gcc")
        return None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "run.pml").write_text(render_promela(lab.lattice.computation))
        options = ["-O2", "-w", "-DNOREDUCE", "-DSAFETY", "-DMEMLIM=8000", "-o", "pan", "pan.c"]

        def compiled() -> None:
            subprocess.run(["spin", "-a", "run.pml"], cwd=folder, check=True, capture_output=True)
            subprocess.run(["gcc", *options], cwd=folder, check=True)

        made, _ = timed(compiled)
        command = ["./pan", "-E", "-m1000000"]
        seconds, ran = timed(lambda: subprocess.run(command, cwd=folder, capture_output=True, text=True))
        found = re.search(r"(\d+) states, stored", ran.stdout)
        if found is None:
            row("SPIN", "failed")
            return None
        states = int(found.group(1))
        row(f"SPIN, {states:,} states, compiled in {made:.1f} s beforehand", rate(states, seconds, "states"))
        return float(seconds / states)


# ---- start-up -----------------------------------------------------------------------------------------


SMALL_CHECK = 0.06
"""Seconds of the processor that a check of ten thousand events may take in all."""


def start_up(folder: Path) -> None:
    """Goal: 60 ms for a check of ten thousand events, the interpreter's own start included."""
    print("whole commands, seconds of the processor")
    path = str(folder / "ten-thousand.jsonl")
    write_trace(random_trace(10, 1000), path)
    interpreter = command("-c", "pass")
    row("the interpreter itself", f"{interpreter * 1e3:.1f} ms")
    for what, arguments in (
        ("possibly --version", ("--version",)),
        (
            "possibly check, 10,000 events, an order found",
            ("check", path, "--ctl", "EF(P0.x == 0 & P1.x == 0)"),
        ),
        (
            "possibly check, 10,000 events, no such order",
            ("check", path, "--ctl", "EF(P0.x == 3 & P1.x == 44)"),
        ),
    ):
        seconds = command("-m", "possibly", *arguments)
        ratio = f"{seconds / interpreter:.1f} x the interpreter"
        goal = f", {seconds / SMALL_CHECK:.2f} x the goal" if arguments[0] == "check" else ""
        row(what, f"{seconds * 1e3:.1f} ms", ratio + goal)


def command(*arguments: str, repeat: int = 15) -> float:
    """The processor's time for a Python command: the least of several runs."""
    environment = os.environ | {"POSSIBLY_CACHE": "off"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    silent = [(os.POSIX_SPAWN_DUP2, nowhere, 1)]
    found = []
    for _ in range(repeat):
        child = os.posix_spawn(sys.executable, [sys.executable, *arguments], environment, file_actions=silent)
        _, _, usage = os.wait4(child, 0)
        found.append(usage.ru_utime + usage.ru_stime)
    os.close(nowhere)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="sizes a tenth as large")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        loading(Path(folder), 20_000 if quick else 200_000)
        lattice(quick)
        start_up(Path(folder))


if __name__ == "__main__":
    main()
