"""Sums by maximum flow and predicates of no class by a solver: how they grow, beside visiting cuts.

`python -m benchmarks.solver`, with the extra `solver` installed. Each line ends in a ratio of the same run; a
growth of 1 means that doubling the events doubles the time. `--quick` takes sizes a tenth as large.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks.run import random_trace, rate, row, timed
from benchmarks.slices import exponent
from possibly.detection.branching import decide
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.finding import Finding
from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.slices.sliced import Sliced
from possibly.detection.slices.slicing import Slicing
from possibly.detection.solver.engine import Solver
from possibly.detection.sums.relational import Relational
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

Make = Callable[[Slicing], Sliced]


def total(processes: int) -> str:
    return " + ".join(f"P{number}.x" for number in range(processes))


def answered(trace: Trace, formula: str, make: Make) -> tuple[float, Finding]:
    """Seconds from a loaded trace to the answer, order and tables included."""

    def work() -> Finding | None:
        lattice = Lattice(Computation(trace))
        slicing = Slicing(lattice, CutPredicates(lattice, Readings(lattice.computation)))
        return make(slicing).decide(bind(parse(formula, "ctl"), vocabulary(trace)).formula)

    seconds, found = timed(work)
    assert isinstance(found, Finding)
    return seconds, found


def growth(what: str, sizes: list[int], formula: str, make: Make) -> None:
    seconds = [answered(random_trace(100, size // 100), formula, make)[0] for size in sizes]
    for size, second in zip(sizes, seconds, strict=True):
        row(f"{what}, {size:,} events", rate(size, second, "events"))
    row("growth with the events", f"exponent {exponent(sizes, seconds):.2f}", "1 is linear")


def beside(trace: Trace, formula: str, make: Make) -> None:
    seconds, found = answered(trace, formula, make)
    lattice = Lattice(Computation(trace))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    engine = Exhaustive(lattice, predicates, Budget(max_cuts=CUTS))

    def work() -> str:
        try:
            plain = decide(engine, bind(parse(formula, "ctl"), vocabulary(trace)).formula)
        except LimitReachedError:
            return "gave up"
        assert plain.value == found.value
        return "came to an end"

    spent, ended = timed(work)
    said = (
        f"the plain engine {ended} after {engine.budget.visited:,} cuts in {spent / seconds:.1f} x the time"
    )
    row(
        f"{len(lattice.computation.lengths)} processes, {len(trace):,} events",
        f"{seconds * 1e3:.0f} ms",
        said,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="sizes a tenth as large")
    scale = 10 if parser.parse_args().quick else 1
    sizes = [size // scale for size in (25_000, 50_000, 100_000, 200_000)]
    for make in (Relational, Solver):  # the libraries are loaded once, before anything is measured
        answered(random_trace(3, 10), f"EF({total(3)} >= 100 | P0.x * P1.x == P2.x + 90)", Solver)
        answered(random_trace(3, 10), f"EF({total(3)} >= 5)", make)
    print("a sum over 100 processes against a constant, by maximum flow")
    growth("AG(sum <= bound), true", sizes, f"AG({total(100)} <= 300)", Relational)
    growth("AG(sum <= bound), false", sizes, f"AG({total(100)} <= 200)", Relational)
    beside(random_trace(12, 50), f"AG({total(12)} <= 34)", Relational)
    print("products over four of 100 processes, by a solver")
    growth("EF(product), false", sizes, "EF(P0.x * P1.x == 9 & P2.x * P3.x == 5)", Solver)
    beside(random_trace(12, 50), "EF(P0.x * P1.x * P2.x == 27 & P3.x * P4.x == P5.x * 9)", Solver)
    beside(random_trace(12, 50), "AG(P0.x * P1.x * P2.x != 13)", Solver)


if __name__ == "__main__":
    main()
