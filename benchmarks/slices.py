"""`make bench`: answers from slices: how they grow with events and processes, beside visiting cuts.

Each line ends in a ratio of the same run. The growth is the exponent of a fitted power law: 1 means that
doubling the events doubles the time.
"""

from __future__ import annotations

import argparse
from math import log

from benchmarks.run import random_trace, rate, row, timed
from possibly.detection.exhaustive import Exhaustive
from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.sliced import Sliced
from possibly.detection.slicing import Slicing
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.model import Trace

CUTS = 200_000
"""How many cuts the plain engine may visit beside it."""


def nested(processes: int) -> str:
    """EF(p & EG(q)), p and q over all processes; false, so that everything is scanned."""
    p = " & ".join(f"P{number}.x == 3" for number in range(processes))
    q = " & ".join(f"P{number}.x >= 1" for number in range(processes))
    return f"EF({p} & EG({q}))"


def answered(trace: Trace, formula: str) -> float:
    """Seconds from a loaded trace to the answer, order and tables included."""

    def work() -> None:
        lattice = Lattice(Computation(trace))
        slicing = Slicing(lattice, CutPredicates(lattice, Readings(lattice.computation)))
        found = Sliced(slicing).decide(bind(parse(formula, "ctl"), vocabulary(trace)).formula)
        assert found is not None

    return timed(work)[0]


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of the line through the logarithms, by least squares."""
    xs, ys = [log(size) for size in sizes], [log(second) for second in seconds]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="sizes a tenth as large")
    scale = 10 if parser.parse_args().quick else 1
    print("EF(p & EG(q)) over all processes, from slices")
    sizes = [size // scale for size in (50_000, 100_000, 200_000, 400_000)]
    seconds = [answered(random_trace(100, size // 100), nested(100)) for size in sizes]
    for size, second in zip(sizes, seconds, strict=True):
        row(f"{size:,} events on 100 processes", rate(size, second, "events"))
    row("growth with the events", f"exponent {exponent(sizes, seconds):.2f}", "1 is linear")
    for processes in (10, 100, 1000):
        size = 100_000 // scale
        spent = answered(random_trace(processes, size // processes), nested(10))
        row(f"{size:,} events on {processes} processes, p and q on ten", rate(size, spent, "events"))
    trace = random_trace(12, 50)
    spent = answered(trace, nested(12))
    row("12 processes x 50 events", f"{spent * 1e3:.1f} ms", _beside(trace, nested(12), spent))
    ten = "EF(P0.x == 1 & AG(" * 5 + "P1.x >= 0" + "))" * 5
    small, large = random_trace(100, 10), random_trace(100, 1000 // scale)
    row(
        "ten nested operators, 100 processes",
        f"{answered(large, ten) * 1e3:.0f} ms",
        f"{len(large) // len(small)} x the events of {answered(small, ten) * 1e3:.0f} ms",
    )


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


if __name__ == "__main__":
    main()
