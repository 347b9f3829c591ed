"""How many executions it takes to find a bug in programs of several tasks, for each way to search.

    python benchmarks/finding.py [SECONDS] [PROGRAM ...]

The programs are those of `wrong/`: each has a bug that some schedules show. For each scheduler the execution
that fails first is told; a dash: nothing was found within the time. Schedulers that draw do so from five
seeds, and the median is told. The last column is the ratio of the default's executions to those of the best
other one.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from possibly.control.runtime.zygote import script
from possibly.session.explore import Options, explore

SCHEDULERS = ("dpor", "pct", "random", "bounded")
SEEDS = 5
HERE = Path(__file__).parent / "wrong"


def first_failure(path: Path, scheduler: str, seed: int, seconds: float) -> int | None:
    """The number of the execution that fails first."""
    with script((str(path),)) as program:
        found = explore(program, Options(scheduler, seconds=seconds, seed=seed, minimise=0))
    return found.failure.number if found.failure is not None else None


def figure(path: Path, scheduler: str, seconds: float) -> float | None:
    seeds = range(SEEDS) if scheduler in ("pct", "random") else range(1)
    found = [first_failure(path, scheduler, seed, seconds) for seed in seeds]
    known = [each for each in found if each is not None]
    return median(known) if len(known) == len(found) else None


def main(seconds: float, names: list[str]) -> None:
    print(
        f"{'executions to the first failure':32}"
        + "".join(f"{each:>10}" for each in SCHEDULERS)
        + "     ratio"
    )
    for path in sorted(HERE.glob("*.py")):
        if names and path.stem not in names:
            continue
        row = [figure(path, scheduler, seconds) for scheduler in SCHEDULERS]
        others = [each for each in row[1:] if each is not None]
        ratio = f"{row[0] / min(others):10.1f}" if row[0] is not None and others else f"{'-':>10}"
        cells = "".join(f"{'-' if each is None else f'{each:g}':>10}" for each in row)
        print(f"{path.stem:32}{cells}{ratio}", flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    main(float(given[0]) if given else 20.0, given[1:])
