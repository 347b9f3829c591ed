"""How many executions it takes to find a bug in programs of several tasks, for each way to search.

    python benchmarks/finding.py [EXECUTIONS] [PROGRAM ...]

The programs are those of `wrong/`: each has a bug that some schedules show. For each scheduler the execution
that fails first is told; a dash: none of so many did. Schedulers that draw do so from five seeds, and the
median is told. `ratio` is that of the default's executions to those of the best other one, `CPU` likewise.
The last line tells the programs whose ratio is at most 1.5, or that the default finds in ten executions,
which is as good: a second is not lost there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from statistics import median
from typing import NamedTuple

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore

SCHEDULERS = ("dpor", "pct", "random", "bounded")
SEEDS = 5
NEAR, AT_ONCE = 1.5, 10
HERE = Path(__file__).parent / "wrong"


class Found(NamedTuple):
    """The first failure: the number of its execution, infinite if there was none, and the CPU seconds."""

    number: float
    seconds: float


def first_failure(path: Path, scheduler: str, seed: int, most: int) -> Found:
    before = os.times()
    join = "all" if scheduler == "dpor" else "none"
    with script((str(path),)) as program:
        options = Options(scheduler, executions=most, seed=seed, minimise=0, join=join)
        found = explore(program, options)
    number = found.failure.number if found.failure is not None else float("inf")
    return Found(number, sum(os.times()[:4]) - sum(before[:4]))


def figure(path: Path, scheduler: str, most: int) -> Found:
    seeds = range(SEEDS) if scheduler in ("pct", "random") else range(1)
    found = [first_failure(path, scheduler, seed, most) for seed in seeds]
    return Found(median(each.number for each in found), median(each.seconds for each in found))


def row(path: Path, most: int) -> bool:
    """Prints the figures of one program; whether the default is near the best."""
    default, *others = (figure(path, scheduler, most) for scheduler in SCHEDULERS)
    best = min(others)
    cells = "".join(f"{'-' if each.number > most else f'{each.number:g}':>10}" for each in (default, *others))
    is_found = default.number <= most
    ratio = f"{default.number / best.number:10.1f}" if is_found and best.number <= most else f"{'-':>10}"
    print(f"{path.stem:32}{cells}{ratio}{default.seconds / best.seconds:10.1f}", flush=True)
    return default.number <= max(NEAR * best.number, AT_ONCE)


def main(most: int, names: list[str]) -> None:
    head = "".join(f"{each:>10}" for each in (*SCHEDULERS, "ratio", "CPU"))
    print(f"{'executions to the first failure':32}{head}")
    paths = [path for path in sorted(HERE.glob("*.py")) if not names or path.stem in names]
    near = sum(row(path, most) for path in paths)
    print(f"near the best: {near} of {len(paths)}")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 500, given[1:])
