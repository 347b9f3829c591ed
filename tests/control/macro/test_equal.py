"""Breakpoints that are equal join: every path is still there, and none that cannot be."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from possibly.control.macro import equal
from possibly.control.macro.explore import Explorer, Plan
from possibly.control.macro.matching import Board
from possibly.control.macro.program.controller import Controller
from possibly.control.macro.tree import Tree
from possibly.control.macro.why import violations
from possibly.session.macro_steps.tree import MacroProgram, MacroSession
from possibly.views.text.macro import tree_lines
from possibly.views.web.macro import picture
from tests.control.macro.simulated import (
    Program,
    all_matchings,
    explored,
    matchings,
    random_asking,
    random_queues,
    random_ranks,
    ways,
)
from tests.control.macro.test_remembered import ranks, threads

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
JOINING = Plan(remembers=True, joins=True)
needs_mpi = pytest.mark.skipif(
    not (Path(sys.executable).parent / "mpiexec").exists(),
    reason="there is no mpiexec beside the interpreter",
)


@pytest.mark.parametrize("make", [random_queues, random_ranks, random_asking])
@pytest.mark.parametrize("seed", range(40 * CASES))
def test_every_matching_is_found_and_no_other(make: Callable[[Random], Program], seed: int) -> None:
    program = make(Random(seed))
    joined, plain = explored(program, JOINING), explored(program, Plan())
    found = matchings(joined)
    assert sorted(found, key=str) == sorted(matchings(plain), key=str)
    assert joined.paths == len(found) == len(plain.leaves)
    assert joined.is_complete == plain.is_complete
    if not any(
        choice.kind == "nothing" for node in plain.nodes for arc in node.arcs for choice in arc.selection
    ):
        assert set(found) == all_matchings(program)


def outcomes(tree: Tree) -> list[tuple[object, ...]]:
    """Of each path: what was matched, what was sent, and how it ended."""
    found = []
    for way in ways(tree):
        matches = tuple(sorted(tuple(match) for node in way for match in node.matches))
        values = tuple(sorted(tuple(each) for node in way for each in node.carried))
        found.append((matches, values, way[-1].end, way[-1].detail))
    return sorted(found)


def trees_of(file: Path, number: int | None = None) -> tuple[Tree, Tree]:
    words = (str(file),)
    plain, joined = (
        Explorer(lambda: Controller(words, number), Tree(words, number), plan).explore()
        for plan in (Plan(), JOINING)
    )
    assert not plain.diverged
    assert not joined.diverged
    assert outcomes(joined) == outcomes(plain)
    return plain, joined


@pytest.mark.parametrize("seed", range(2 * CASES))
def test_paths_of_threads_are_those_without_joining(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    lines = threads(Random(seed)).splitlines()
    file.write_text("\n".join(line for line in lines if "claim" not in line) + "\n")
    trees_of(file)


@needs_mpi
@pytest.mark.parametrize("seed", range(CASES))
def test_paths_of_ranks_are_those_without_joining(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    text = ranks(Random(seed))
    if "sendrecv" in text:
        text = text.replace("    both = comm.allreduce(0)\n", "")
    file.write_text("\n".join(line for line in text.splitlines() if "claim" not in line) + "\n")
    trees_of(file, 4)


STAR = """\
import possibly, queue, threading
box = queue.Queue()
FIRST
def main():
    total = 0
    threads = [threading.Thread(target=box.put, args=(n,), name=f"s{n}") for n in range(4)]
    for each in threads:
        each.start()
    for number in range(4):
        total += box.get()
        LATER
    assert total == 6
main()
"""
ECHO = """\
import queue, threading
ask, answer = queue.Queue(), queue.Queue()
def serve():
    for _ in range(100):
        answer.put(ask.get())
threading.Thread(target=serve).start()
for number in range(100):
    ask.put(number)
    assert answer.get() == number
"""
CLAIM = "possibly.claim('G(main.total < 7)')"


def star(tmp_path: Path, first: str = "", later: str = "pass") -> Path:
    file = tmp_path / "program.py"
    file.write_text(STAR.replace("FIRST", first).replace("LATER", later))
    return file


def explored_file(file: Path, plan: Plan) -> Tree:
    return Explorer(lambda: Controller([str(file)], None), Tree((str(file),)), plan).explore()


def test_a_star_that_adds_up_joins(tmp_path: Path) -> None:
    plain, joined = trees_of(star(tmp_path))
    assert (len(plain.leaves), joined.paths, joined.is_complete, joined.verdict) == (24, 24, True, True)
    there = [node for node in joined.nodes if node.space is not None and node.joins is None]
    every = [node for node in plain.nodes if node.space is not None]
    sets = 1 + 4 + 6 + 4  # one for each set that has been taken, if all that are equal are seen to be
    assert sets <= len(there) < len(every)
    assert joined.executions < plain.executions
    assert joined.estimate == 24


def test_to_look_for_equal_breakpoints_costs_nothing_where_there_is_no_choice(tmp_path: Path) -> None:
    """Each get has a single item to take, and so a single way on."""
    file = tmp_path / "program.py"
    file.write_text(ECHO)
    looks: list[Board] = []
    plain = equal.communication

    def looked(board: Board) -> object:
        looks.append(board)
        return plain(board)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equal, "communication", looked)
        tree = explored_file(file, JOINING)
    assert tree.paths == 1
    assert len(tree.nodes) > 400
    assert len(looks) <= 2


def test_the_page_folds_what_is_joined_with_what_holds(tmp_path: Path) -> None:
    tree = explored_file(star(tmp_path), JOINING)
    shown = picture(tree, "star").nodes
    ends = {node.number for node in tree.nodes if node.is_leaf or node.joins is not None}
    assert {node.outcome for node in shown if int(node.id) in ends} == {"holds"}
    joined = next(node for node in tree.nodes if node.joins is not None)
    assert shown[joined.number].text.endswith(f"(goes on as [{joined.joins}])")
    assert any(line.strip().endswith(f"(goes on as [{joined.joins}])") for line in tree_lines(tree))


def test_what_tells_the_orders_apart_keeps_them_apart(tmp_path: Path) -> None:
    plain, joined = trees_of(star(tmp_path, "kept = []", "kept.append((number, total))"))
    assert len(joined.leaves) == len(plain.leaves) == 24


def test_nothing_joins_where_claims_are_made(tmp_path: Path) -> None:
    tree = explored_file(star(tmp_path, CLAIM), JOINING)
    assert (len(tree.leaves), tree.paths) == (24, 24)


def test_a_claim_that_is_made_late_begins_the_search_anew(tmp_path: Path) -> None:
    tree = explored_file(star(tmp_path, "", f"if number == 3: {CLAIM}"), JOINING)
    assert len(tree.leaves) == 24
    assert all(node.joins is None for node in tree.nodes)
    assert all(len(leaf.verdicts) == 1 for leaf in tree.leaves)


@pytest.mark.parametrize("plan", [Plan("breadth"), Plan("random", seed=3), Plan(jobs=3)])
def test_any_way_through_the_graph_finds_it_all(plan: Plan, tmp_path: Path) -> None:
    tree = explored_file(star(tmp_path), replace(plan, remembers=True, joins=True))
    assert (tree.paths, tree.is_complete, tree.verdict) == (24, True, True)
    assert any(node.joins is not None for node in tree.nodes)


def test_a_failure_behind_a_joined_breakpoint_tells_where_it_goes_well(tmp_path: Path) -> None:
    program = star(tmp_path, "", "assert not (number == 2 and total == 3)")
    plain, joined = trees_of(program)
    assert joined.verdict is False
    for tree in plain, joined:
        (found,) = violations(tree)
        assert found.difference is not None
        assert tree.nodes[found.difference.holds_at].end == "finished"


def test_a_graph_is_saved_and_gone_on_with(tmp_path: Path) -> None:
    file, saved = star(tmp_path), tmp_path / "a.tree.json"
    begun = explored_file(file, replace(JOINING, most=8))
    assert not begun.is_complete
    begun.save(saved)
    tree = Tree.load(saved)
    assert [node.joins for node in tree.nodes] == [node.joins for node in begun.nodes]
    Explorer(lambda: Controller([str(file)], None), tree, JOINING).explore()
    assert (tree.paths, tree.is_complete, tree.diverged) == (24, True, [])


def test_a_session_unfolds_what_is_joined(tmp_path: Path) -> None:
    file = star(tmp_path)
    tree = explored_file(file, JOINING)
    joined = next(node for node in tree.nodes if node.joins is not None)
    other = tree.nodes[joined.joins or 0]
    session = MacroSession(MacroProgram((str(file),)), tree)
    try:
        session.goto(joined.number)
        assert [arc.selection for arc in session.branches()] == [arc.selection for arc in other.arcs]
        session.step(1)
        assert tree.path(session.node)[-2] is joined
    finally:
        session.close()


def test_orders_that_are_known_keep_breakpoints_apart() -> None:
    """What one process has learnt of the order of others is part of a state though it holds nothing else."""
    program: Program = {
        "a": [("put", "Q"), ("put", "R")],
        "b": [("put", "Q"), ("put", "R")],
        "c": [("get", "Q"), ("get", "Q"), ("get", "R"), ("get", "R")],
    }
    joined = explored(program, JOINING)
    assert set(matchings(joined)) == all_matchings(program)
    assert joined.paths == len(all_matchings(program))
