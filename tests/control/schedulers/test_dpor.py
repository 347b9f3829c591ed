"""Optimal reduction: every Mazurkiewicz trace once, against brute force and against known numbers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from possibly.control.causality import canonical
from possibly.control.execution import Execution, Outcome
from possibly.control.forking.zygote import script
from possibly.control.schedulers.dpor import NEAR, Dpor, _is_elsewhere
from possibly.control.tree import ExecutionTree, Node
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore
from tests.control.bugs import BUGS
from tests.control.programs import FAMILIES, interpreted, random_program
from tests.control.toy import Toy, classes, classes_by_prefixes
from tests.twins import needs_plain

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
NUMBERS = [(family, n, traces) for family, numbers in FAMILIES for n, traces in numbers.items()]


class AnyOrder(ExecutionTree):
    """Hands out leaves in a random order."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = Random(seed)

    def next_leaf(self) -> Node | None:
        node = self.root
        if not node.todo:
            return None
        while node.children:
            node = self.random.choice([child for child in node.children if child.todo])
        return self.hand_out(node)


def explored(program: Toy, explorer: Dpor | None = None) -> list[Execution]:
    """All executions; a search without an end fails."""
    explorer = explorer or Dpor()
    executions = []
    while (plan := explorer.plan()) is not None:
        executions.append(program.execute(plan))
        explorer.learn(executions[-1])
        assert len(executions) < 10_000
    return executions


def explored_by(program: Toy, seed: int, jobs: int) -> list[Execution]:
    """The same with several executions under way, which end in any order."""
    explorer, random = Dpor(AnyOrder(seed)), Random(seed)
    executions: list[Execution] = []
    running: list[Execution] = []
    while True:
        while len(running) < jobs and (plan := explorer.plan()) is not None:
            running.append(program.execute(plan))
        if not running:
            return executions
        executions.append(running.pop(random.randrange(len(running))))
        explorer.learn(executions[-1])


def is_foreseen(program: Toy, wanted: dict[frozenset[tuple[object, ...]], Execution]) -> bool:
    """Steps tell what they found closed, and touch what they were about to: then nothing is done in vain."""
    return program.shut and all(
        step.pending[step.task].footprint == step.operation.footprint
        for execution in wanted.values()
        for step in execution.steps
    )


@pytest.mark.parametrize(("family", "n", "traces"), NUMBERS)
def test_the_families_take_exactly_the_optimal_number(
    family: Callable[[int], Toy], n: int, traces: int
) -> None:
    executions = explored(family(n))
    assert len(executions) == traces
    assert len({canonical(execution) for execution in executions}) == traces


@needs_plain
@pytest.mark.parametrize(("family", "n", "traces"), [row for row in NUMBERS if row[2] <= 64])
@pytest.mark.parametrize("jobs", [1, 3])
def test_any_order_and_several_at_a_time_take_the_same_number(
    family: Callable[[int], Toy], n: int, traces: int, jobs: int
) -> None:
    for seed in range(3):
        assert len(explored_by(family(n), seed, jobs)) == traces


@pytest.mark.large
def test_the_two_brute_forces_agree() -> None:
    compared = 0
    for seed in range(30 * MANY):
        program = random_program(Random(f"forces {seed}"))
        if (every := classes(program, 400)) is not None:
            compared += 1
            assert every.keys() == (classes_by_prefixes(program, 10_000) or {}).keys(), seed
    assert compared > 5 * MANY


def test_generated_programs_have_each_trace_once() -> None:
    seen: Counter[Outcome] = Counter()
    optimal = 0
    for seed in range(60 * MANY):
        program = random_program(Random(f"dpor {seed}"))
        wanted = classes_by_prefixes(program, 250)
        if wanted is None:
            continue
        executions = explored(program)
        whole = [e for e in executions if e.outcome is not Outcome.CUT_OFF]
        found = {canonical(execution): execution.outcome for execution in whole}
        assert found == {form: execution.outcome for form, execution in wanted.items()}, seed
        if is_foreseen(program, wanted):
            assert len(executions) == len(found), seed
            optimal += 1
        seen.update(found.values())
    assert optimal > 15 * MANY
    assert seen[Outcome.DEADLOCK] and seen[Outcome.FAILED] and seen[Outcome.FINISHED]


@needs_plain
def test_generated_programs_in_any_order_have_each_trace_once() -> None:
    for seed in range(40 * MANY):
        program = random_program(Random(f"orders {seed}"))
        wanted = classes_by_prefixes(program, 250)
        if wanted is None:
            continue
        executions = explored_by(program, seed, 1 + seed % 3)
        found = Counter(canonical(e) for e in executions if e.outcome is not Outcome.CUT_OFF)
        assert found.keys() == wanted.keys(), seed
        if is_foreseen(program, wanted):
            assert set(found.values()) == {1}, seed


@pytest.mark.parametrize(("bug", "best"), BUGS.items())
def test_a_bug_is_found_at_once_and_its_correction_is_clean(bug: Callable[[bool], Toy], best: int) -> None:
    explorer, program = Dpor(), bug(False)
    for _ in range(best):
        plan = explorer.plan()
        assert plan is not None
        execution = program.execute(plan)
        if execution.outcome is not Outcome.FINISHED:
            break
        explorer.learn(execution)
    assert execution.outcome in (Outcome.FAILED, Outcome.DEADLOCK, Outcome.LIVELOCK)
    if bug.__name__ != "starvation":
        assert {execution.outcome for execution in explored(bug(True))} == {Outcome.FINISHED}


@pytest.mark.parametrize("before", [[], [("read", "x")]])
def test_an_item_of_a_queue_may_go_to_whoever_comes_first(before: list[tuple[str, str]]) -> None:
    """The second item is put only after the first was taken: still the second consumer may take the first."""
    program = Toy(
        at_once=(
            interpreted([("put", "q", 1), ("await", "taken"), ("put", "q", 2)]),
            interpreted([("get", "q"), ("set", "taken")]),
            interpreted([*before, ("get", "q"), ("set", "taken")]),
        ),
        in_line=frozenset("q"),
    )
    wanted = classes(program, 10_000)
    assert wanted is not None
    assert {canonical(execution) for execution in explored(program)} == wanted.keys()
    firsts = {
        next(step.task for step in execution.steps if step.operation.kind == "get")
        for execution in explored(program)
    }
    assert firsts == {"0.2", "0.3"}


def test_some_executions_are_made_elsewhere_and_fewer_the_longer_nothing_is_found() -> None:
    def share(begin: int, end: int) -> float:
        return sum(map(_is_elsewhere, range(begin, end))) / (end - begin)

    assert share(0, NEAR) == 0
    assert share(NEAR, 1_000) > share(1_000, 10_000) > share(10_000, 20_000) > 0


@pytest.mark.parametrize("name", ["cache", "jobs", "limiter"])
def test_a_bug_that_is_far_from_the_first_execution_is_found_soon(name: str) -> None:
    """From left to right the search finds nothing in a thousand executions of the cache."""
    path = Path(__file__).parents[3] / "benchmarks" / "wrong" / f"{name}.py"
    with script((str(path),)) as program:
        found = explore(program, Options(executions=100, minimise=0))
    assert found.failure is not None
