"""Predicted races against every reordering by definition, in the whole run and in windows.

`POSSIBLY_CASES` multiplies the number of cases.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

from possibly.detection.prediction.races import RaceFinder
from possibly.recorder.sharing.races import Race, races
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.detection.prediction.judge import Reorderings
from tests.detection.prediction.runs import random_run

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 500 * MANY if MANY > 1 else 60
Pair = frozenset[str]


def placed(run: Trace) -> Trace:
    """The run with every event at a place of its own, so that every pair is told."""
    builder = TraceBuilder()
    builder.header(processes=[(each.name, {}) for each in run.processes], shared={"x": 0})
    for number in range(len(run)):
        each = run.event(number)
        fields: dict[str, Any] = {
            "p": each.process,
            "id": each.name,
            "kind": each.kind,
            "at": f"run.py:{number + 1}",
        }
        fields |= {"after": list(each.after)} if each.after else {}
        fields |= {key: value for key in ("tag", "msg") if (value := getattr(each, key))}
        fields |= {"write": dict(each.write)} if each.write else {}
        fields |= {"read": list(each.read)} if each.read else {}
        builder.add_fields(fields)
    return builder.finish()


def pairs(run: Trace, found: list[Race]) -> set[Pair]:
    return {frozenset(run.name(side.event) for side in (each.first, each.second)) for each in found}


def judged(run: Trace, start: int = 0, end: int | None = None) -> set[Pair]:
    """Accesses that come next together after some reordering that keeps the run before `start`."""
    found: set[Pair] = set()
    judge = Reorderings(run)
    within = {run.name(event) for event in range(start, len(run) if end is None else end)}
    for cut in judge.cuts_from(start):
        following = [
            chain[count] for chain, count in zip(judge.chains, cut, strict=True) if count < len(chain)
        ]
        accesses = [each for each in following if each.kind in ("read", "write") and each.name in within]
        for number, one in enumerate(accesses):
            for other in accesses[number + 1 :]:
                if "write" in (one.kind, other.kind):
                    found.add(frozenset((one.name, other.name)))
    return found


def test_exactly_the_races_that_a_reordering_reaches() -> None:
    random, beyond = Random("races"), 0
    for _ in range(CASES):
        run = placed(random_run(random, length=7))
        found = pairs(run, list(RaceFinder(run).found()))
        assert found == judged(run)
        beyond += bool(found - pairs(run, races(run)))
    assert beyond > CASES // 60


def test_a_window_finds_exactly_what_keeps_the_run_before_it() -> None:
    random, fewer = Random("windows"), 0
    for _ in range(CASES // 3):
        run = placed(random_run(random, length=6))
        window = random.randint(2, 10)
        step = max(window // 2, 1)
        starts = range(0, max(len(run) - step, 1), step)
        expected = set().union(*(judged(run, start, min(start + window, len(run))) for start in starts))
        found = pairs(run, list(RaceFinder(run, window).found()))
        assert found == expected
        assert found <= judged(run)
        fewer += found < judged(run)
    assert fewer


def test_the_path_leads_to_both() -> None:
    random = Random("paths")
    for _ in range(CASES):
        run = placed(random_run(random, length=7))
        for race in RaceFinder(run).found():
            assert race.path is not None
            counts = [sum(run.process[event] == process for event in race.path) for process in range(3)]
            for side in (race.first, race.second):
                assert counts[side.process] == side.position - 1


def test_only_another_order_of_critical_sections_left_out_shows_it() -> None:
    """The lock orders the two writes in the run; without the first section nothing does."""
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {})], shared={"x": 0})
    builder.add("P", kind="write", write={"x": 1}, at="run.py:1")
    builder.add("P", kind="acquire", tag="L")
    builder.add("P", kind="release", tag="L", id="free")
    builder.add("Q", kind="acquire", tag="L", after=["free"])
    builder.add("Q", kind="release", tag="L")
    builder.add("Q", kind="write", write={"x": 2}, at="run.py:2")
    run = builder.finish()
    assert not races(run)
    (found,) = RaceFinder(run).found()
    assert [run.name(event) for event in found.path or ()] == ["Q:1", "Q:2"]


def test_a_long_run_costs_what_its_windows_cost() -> None:
    """Six thousand events, with a race at the end of them only."""
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {})], shared={"x": 0, "y": 0})
    free: list[str] = []
    for turn in range(1_000):
        for name in "PQ":
            builder.add(name, kind="acquire", tag="L", after=free)
            builder.add(name, kind="write", write={"x": turn}, at=f"{name}.py:1")
            free = [f"f{turn}{name}"]
            builder.add(name, kind="release", tag="L", id=free[0])
    builder.add("P", kind="write", write={"y": 1}, at="P.py:2")
    builder.add("Q", kind="write", write={"y": 2}, at="Q.py:2")
    run = builder.finish()
    assert [each.variable for each in RaceFinder(run, 200).found()] == ["y"]
