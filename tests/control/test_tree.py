"""The execution tree: saved, resumed, its figures, and what is forgotten on the way."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from possibly.control.causality import canonical
from possibly.control.coverage import coverage_of, coverage_of_tree, unseen
from possibly.control.execution import Execution, Outcome
from possibly.control.schedulers.bounded import Bounded
from possibly.control.schedulers.dpor import Dpor
from possibly.control.schedulers.pct import Pct
from possibly.control.schedulers.random import RandomWalk
from possibly.control.tree import HUNT, ExecutionTree, Node, explored_part
from possibly.control.treefile import load_tree, save_tree
from possibly.errors import PossiblyError
from tests.control.programs import interpreted, locked, random_program, unlocked
from tests.control.toy import Toy
from tests.twins import needs_plain

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
ABOUT = {"program": ["toy.py"], "visible": ["x"]}


def nodes(tree: ExecutionTree) -> list[Node]:
    found, stack = [], [tree.root]
    while stack:
        found.append(stack.pop())
        stack += found[-1].children
    return found


def self_check(tree: ExecutionTree) -> None:
    """The counts of every node agree with what is below it, and no task is twice among siblings."""
    for node in nodes(tree):
        below = sum(child.open for child in node.children)
        assert node.open == below if node.children else node.open in (0, 1)
        assert 0 <= node.todo <= node.open
        assert len({child.task for child in node.children}) == len(node.children)
        assert all(child.parent is node and child.rank == n for n, child in enumerate(node.children))


def go_on(program: Toy, explorer: Dpor, most: int = 10**6) -> list[Execution]:
    executions: list[Execution] = []
    while len(executions) < most and (plan := explorer.plan()) is not None:
        executions.append(program.execute(plan))
        explorer.learn(executions[-1])
    return executions


def test_the_counts_of_a_tree_are_right_at_any_moment() -> None:
    for seed in range(20 * MANY):
        program, explorer = random_program(Random(f"counts {seed}")), Dpor()
        while go_on(program, explorer, 5) and explorer.tree.executions < 60:
            self_check(explorer.tree)


@pytest.mark.parametrize("stop", [0, 1, 7, 100])
def test_a_search_that_was_saved_goes_on_where_it_was(tmp_path: Path, stop: int) -> None:
    path = str(tmp_path / "search.tree")
    program, explorer = unlocked(4), Dpor()
    before = go_on(program, explorer, stop)
    explorer.plan()
    assert save_tree(explorer.tree, path, ABOUT, {"visible": ["x"]})
    assert load_tree(path, ABOUT)[1] == {"visible": ["x"]}
    resumed = Dpor(load_tree(path, ABOUT)[0])
    self_check(resumed.tree)
    after = go_on(program, resumed)
    forms = Counter(canonical(execution) for execution in before + after)
    assert len(forms) == 576 and set(forms.values()) == {1}
    assert resumed.tree.executions == 576 and resumed.tree.is_complete
    save_tree(resumed.tree, path, ABOUT)
    assert Dpor(load_tree(path, ABOUT)[0]).plan() is None


def test_generated_programs_are_covered_across_interruptions(tmp_path: Path) -> None:
    path = str(tmp_path / "search.tree")
    for seed in range(25 * MANY):
        program, explorer = random_program(Random(f"resumed {seed}")), Dpor()
        program.shut = True
        whole = [canonical(execution) for execution in go_on(program, Dpor(), 300)]
        parts: list[Execution] = []
        while (more := go_on(program, explorer, 3)) and len(parts) < 300:
            parts += more
            save_tree(explorer.tree, path, ABOUT)
            explorer = Dpor(load_tree(path, ABOUT)[0])
        if len(whole) < 300:
            assert {canonical(execution) for execution in parts} == set(whole), seed
            assert len(parts) == len(whole), seed


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an execution tree"),
        (b"possibly tree 2\n", "not an execution tree"),
        (b"possibly tree 1\n{}\n", "a damaged execution tree"),
        (b"possibly tree 1\nnothing", "a damaged execution tree"),
    ],
)
def test_a_broken_file_is_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "search.tree"
    path.write_bytes(content)
    with pytest.raises(PossiblyError, match=message):
        load_tree(str(path), ABOUT)


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "search.tree"
    explorer = Dpor()
    go_on(locked(3), explorer, 3)
    save_tree(explorer.tree, str(path), ABOUT)
    content = path.read_bytes()
    for size in range(0, len(content), 7):
        path.write_bytes(content[:size])
        with pytest.raises(PossiblyError):
            load_tree(str(path), ABOUT)


def test_a_tree_of_another_search_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "search.tree")
    save_tree(ExecutionTree(), path, ABOUT)
    with pytest.raises(PossiblyError, match="of another search: other visible"):
        load_tree(path, {**ABOUT, "visible": []})


def test_what_is_complete_is_forgotten() -> None:
    explorer = Dpor()
    go_on(locked(6), explorer, 700)
    assert explorer.tree.executions == 700 > HUNT
    assert len(nodes(explorer.tree)) < 1_000  # 700 executions of 37 steps


def test_coverage_ends_at_all_and_the_estimate_at_the_number_of_executions() -> None:
    explorer, program = Dpor(), unlocked(4)
    parts = []
    while go_on(program, explorer, 25):
        coverage = coverage_of_tree(explorer.tree)
        assert coverage.executions <= coverage.estimate
        assert coverage.classes == coverage.executions
        parts.append(coverage.explored)
    assert parts[-1] == 1.0 and coverage_of_tree(explorer.tree).complete
    assert coverage.pruned > 0 and coverage.left == 0 and coverage.estimate == 576
    assert parts[0] < 0.5


def test_the_explored_part_of_a_tree_that_was_drawn_by_hand() -> None:
    tree = ExecutionTree()
    tree.root.count(-1, -1)
    left, right = tree.root.add("0.1", ()), tree.root.add("0.2", ())
    right.add("0.1", ())
    todo = right.add("0.3", ())
    todo.count(1, 1)
    assert explored_part(tree.root) == 1 / 2 + 1 / 2 * 1 / 2
    assert left.open == 0


def test_an_execution_that_was_too_long_leaves_the_search_open() -> None:
    program = unlocked(2)
    program.limit = 5
    explorer = Dpor()
    executions = go_on(program, explorer)
    assert {execution.outcome for execution in executions} == {Outcome.CUT_OFF}
    assert explorer.tree.truncated and not explorer.tree.is_complete


def test_the_probability_of_a_new_class_falls_to_nothing() -> None:
    explorer, program = RandomWalk(), unlocked(2)
    for number in range(300):
        explorer.learn(program.execute(explorer.plan()))
        if number == 0:
            assert unseen(explorer.classes, 1) == 1.0
    assert unseen(explorer.classes, 300) == 0.0


def test_a_program_that_does_something_else_the_next_time_is_noticed() -> None:
    """The second execution of the same choices touches another variable."""
    explorer = Dpor()
    for name in "xyzxyzxyz":
        plan = explorer.plan()
        if plan is None:
            break
        body = interpreted([("write", name, 1), ("write", "last", 1)])
        explorer.learn(Toy(at_once=(body, body)).execute(plan))
    assert explorer.tree.diverged and not explorer.tree.is_complete
    assert explorer.tree.divergence is not None and "does not touch the same" in explorer.tree.divergence


@needs_plain
def test_a_tree_in_the_middle_of_a_change_is_not_saved(tmp_path: Path) -> None:
    """As after an interrupt while an execution is learnt: its reversals may not be there yet."""

    class Interrupted(ExecutionTree):
        def insert(self, *_: object) -> None:
            raise KeyboardInterrupt

    explorer, path = Dpor(Interrupted()), str(tmp_path / "search.tree")
    with pytest.raises(KeyboardInterrupt):
        go_on(unlocked(2), explorer)
    assert not save_tree(explorer.tree, path, ABOUT)
    assert not os.path.exists(path)


def test_every_explorer_tells_what_it_covered() -> None:
    for explorer in (Dpor(), Bounded(1), RandomWalk(), Pct()):
        program = unlocked(2)
        for _ in range(3):
            plan = explorer.plan()
            assert plan is not None
            explorer.learn(program.execute(plan))
        coverage = coverage_of(explorer)
        assert coverage is not None
        assert coverage.executions == 3 >= coverage.classes >= 1
        assert 0 <= coverage.explored < 1 and not coverage.complete
    assert coverage_of(object()) is None
