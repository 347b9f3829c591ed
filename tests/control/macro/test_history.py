"""The partial order of a path against every interleaving, claims on its cuts against every order of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from possibly.control.macro.cuts import Cuts, judged_on_cuts
from possibly.control.macro.explore import Explorer
from possibly.control.macro.history import Path
from possibly.control.macro.run import Run
from possibly.control.macro.tree import Tree, TreeNode, settled
from possibly.logic.parser import parse
from possibly.logic.printer import unparse
from possibly.session.macro_steps.paths import PathJudge
from tests.control.macro import simulated
from tests.control.macro.simulated import Program, Simulated, random_queues, random_ranks
from tests.control.macro.test_explore import Claiming, letter
from tests.logic.ltl.test_progression import holds, random_formula

CASES = 12 * int(os.environ.get("POSSIBLY_CASES", "1"))
MOST = 5 if CASES == 12 else 7
"""Operations of a program: the orders of more are many."""
Word = tuple[str, ...]


def paths_of(program: Program) -> list[Path]:
    found: list[Path] = []

    def judge(run: Run, node: TreeNode) -> None:
        found.append(run.history.path(run.board.before))

    Explorer(lambda: Simulated(program), Tree(), judge=judge).explore()
    return found


def orders(cuts: Cuts) -> Iterator[list[Any]]:
    """Every order of the instants, each with the cuts on its way."""
    pending: list[tuple[Any, list[Any]]] = [(cuts.initial, [(None, cuts.initial)])]
    while pending:
        cut, way = pending.pop()
        following = list(cuts.following(cut))
        if not following:
            yield way
        pending += [(after, [*way, (instant, after)]) for instant, after in following]


def words_of(path: Path) -> set[Word]:
    """Who completed an operation, in every order of the path."""
    found = set()
    for way in orders(Cuts(path, {})):
        found.add(tuple(each.process for each, _ in way if each is not None and each.kind == "done"))
    return found


def executed(program: Program) -> set[Word]:
    """The same by executing every interleaving of single actions."""
    names = list(program)
    found: set[Word] = set()
    pending: list[tuple[Any, Word]] = [(simulated._initial(program), ())]
    known: set[Any] = set()
    while pending:
        state, word = pending.pop()
        if (state, word) in known:
            continue
        known.add((state, word))
        following = list(simulated._successors(program, state))
        if not following:
            found.add(word)
        for after in following:
            moved = [name for name, old, new in zip(names, state[0], after[0], strict=True) if new > old]
            pending.append((after, (*word, *moved)))
    return found


def small(random: Random, make: Any) -> Program:
    while True:
        found: Program = make(random)
        kinds = {line[0] for lines in found.values() for line in lines}
        if sum(map(len, found.values())) <= MOST and not kinds & {"post", "barrier", "bcast"}:
            return found


@pytest.mark.parametrize("make", [random_queues, random_ranks])
@pytest.mark.parametrize("seed", range(CASES))
def test_the_orders_of_all_paths_are_all_executions(make: Any, seed: int) -> None:
    program = small(Random(f"orders {seed}"), make)
    found: set[Word] = set()
    for path in paths_of(program):
        found |= words_of(path)
    assert found == executed(program), program


@pytest.mark.parametrize("seed", range(CASES))
def test_claims_on_all_cuts_are_finite_ltl_in_every_order(seed: int) -> None:
    random = Random(f"cuts {seed}")
    program = small(random, random_ranks)
    formula = parse(f"({random_formula(random, 2)}) & ({random_formula(random, 2)})", "ltl")
    Claiming.claim = unparse(formula)
    compared = 0

    def judge(run: Run, node: TreeNode) -> None:
        nonlocal compared
        path = run.history.path(run.board.before)
        for claim in run.claims:
            cuts = Cuts(path, claim.start.cut(path))
            words = [[letter(cuts.state(cut)) for _, cut in way] for way in orders(cuts)]
            expected = all(holds(word, formula) for word in words)
            assert judged_on_cuts(claim, path, run.system.evaluate).verdict is expected, program
            compared += 1

    Explorer(lambda: Claiming(program), Tree(), judge=judge).explore()
    assert compared or not any(program.values())


ATOMS = {"a": "P0.steps % 2 == 1", "b": "P1.steps > 1"}


@pytest.mark.parametrize("seed", range(CASES))
def test_the_engines_say_the_same_as_the_walk_over_all_cuts(seed: int) -> None:
    random = Random(f"engines {seed}")
    program = small(random, random_ranks)
    text = unparse(parse(random_formula(random, 2), "ltl"))
    trees = []
    for claim in (text, re.sub(r"\b[ab]\b", lambda found: f"({ATOMS[found[0]]})", text)):
        Claiming.claim = claim
        tree = Tree()
        Explorer(lambda: Claiming(program), tree, judge=PathJudge()).explore()
        trees.append([[settled(each) for each in leaf.verdicts] for leaf in tree.leaves])
    assert trees[0] == trees[1], (program, text)


def test_a_receive_may_be_seen_after_one_that_took_later() -> None:
    """P1 takes the first item and is slow to come back; P2 is seen with the second before that."""
    path = next(
        path
        for path in paths_of({"P0": [("put", "Q"), ("put", "Q")], "P1": [("get", "Q")], "P2": [("get", "Q")]})
        if any(each.process == "P1" and each.takes == ("P0#1",) for each in path.instants)
    )
    assert ("P0", "P0", "P2", "P1") in words_of(path)


def test_the_order_of_a_long_path_takes_no_more_than_a_few_edges_an_instant() -> None:
    """A queue passes on who took before whom; of each process only the last needs to be said."""
    rounds = 200
    (path,) = paths_of({"P0": [("put", "Q")] * rounds, "P1": [("get", "Q")] * rounds})
    assert len(path.instants) >= 2 * rounds
    assert max(map(len, path.causes)) <= 2
