"""Traversals: all strategies find the same leaves; goals, limits, replay, divergence."""

from __future__ import annotations

import os
from contextlib import closing
from random import Random

import pytest

from possibly.control.macro.claims import Collective
from possibly.control.macro.explore import Explorer, Plan
from possibly.control.macro.model import Completion, MadeClaim, Moment, Process
from possibly.control.macro.run import Breakpoint, Run
from possibly.control.macro.tree import Tree, TreeNode
from possibly.errors import ControlError
from possibly.logic.parser import parse
from possibly.logic.printer import unparse
from tests.control.macro.simulated import Program, Simulated, explored, matchings, random_ranks
from tests.control.macro.test_tree import MASTER
from tests.logic.ltl.test_progression import holds, random_formula

CASES = 20 * int(os.environ.get("POSSIBLY_CASES", "1"))


@pytest.mark.parametrize("strategy", ["breadth", "random"])
@pytest.mark.parametrize("seed", range(CASES))
def test_every_strategy_finds_the_same_leaves(strategy: str, seed: int) -> None:
    program = random_ranks(Random(seed))
    expected = sorted(matchings(explored(program)), key=str)
    tree = explored(program, Plan(strategy, seed))
    assert sorted(matchings(tree), key=str) == expected
    assert tree.is_complete


def test_breadth_first_meets_all_branches_of_a_breakpoint_before_the_next() -> None:
    tree = explored(MASTER, Plan("breadth", most=4))
    choosing = next(node for node in tree.nodes if len(node.arcs) > 1)
    assert [arc.child is not None for arc in choosing.arcs] == [True, True, True]


def test_depth_first_needs_one_execution_a_leaf() -> None:
    assert explored(MASTER).executions == 6


def test_towards_a_formula_stops_where_it_is_true() -> None:
    """Processes of the simulation have a variable `steps`."""
    explorer = Explorer(lambda: Simulated(MASTER), Tree(), Plan("towards", goal="F(M.steps == 2)"))
    tree = explorer.explore()
    assert explorer.found is not None
    assert tree.nodes[explorer.found].verdicts[0]["verdict"] is True
    assert tree.nodes[explorer.found].depth == 3
    assert tree.executions == 1


def test_the_first_failure_ends_the_traversal_if_wanted() -> None:
    program: Program = {**MASTER, "M": [*MASTER["M"], ("recv", "A")]}
    assert explored(program, Plan(stop_at_first=True)).executions == 1
    assert explored(program).executions == 6


def test_replay_meets_the_same_breakpoint_a_hundred_times() -> None:
    explorer = Explorer(lambda: Simulated(MASTER), Tree())
    tree = explorer.explore()
    node = tree.leaves[-1]
    for _ in range(100):
        run, point = explorer.open(node.number)
        with closing(run.system):
            assert point.digest == node.digest
    assert not tree.diverged


class Claiming(Simulated):
    """The first process claims something before its first operation."""

    claim = ""

    def begin(self) -> Moment:
        made = MadeClaim("P0", self.claim, "program.py:1", ("a", "b"))
        return super().begin()._replace(claims=(made,))

    def evaluate(self, process: Process, predicate: str, state: Collective) -> bool | str:
        return predicate in letter(state)


class Remembering(Explorer):
    """Keeps the state at each node."""

    states: dict[int, Collective]

    def _note(self, node: TreeNode, run: Run, point: Breakpoint) -> None:
        self.states[node.number] = point.state
        super()._note(node, run, point)


def letter(state: Collective) -> frozenset[str]:
    """`a`: P0 has done an odd number of operations; `b`: P1 has done more than one."""
    steps = {name: seen.variables["steps"] for name, seen in state.seen.items()}
    return frozenset([*("a" if steps["P0"] % 2 else ""), *("b" if steps["P1"] > 1 else "")])


@pytest.mark.parametrize("seed", range(3 * CASES))
def test_verdicts_are_those_of_finite_ltl_and_never_change(seed: int) -> None:
    random = Random(f"claims {seed}")
    program = random_ranks(random)
    formula = parse(f"({random_formula(random, 2)}) & ({random_formula(random, 2)})", "ltl")
    Claiming.claim = unparse(formula)
    explorer = Remembering(lambda: Claiming(program), Tree())
    explorer.states = {}
    tree = explorer.explore()
    for leaf in tree.leaves:
        path = tree.path(leaf.number)[1:]
        word = [letter(explorer.states[node.number]) for node in path]
        verdicts = [node.verdicts[0]["verdict"] for node in path]
        assert verdicts[-1] == holds(word, formula)
        known = [verdict for verdict in verdicts if verdict is not None]
        assert len(set(known)) == 1
        assert verdicts.index(known[0]) + len(known) == len(verdicts)


class Moody(Simulated):
    """After its first execution the second sender does not send any more."""

    executions = 0

    def begin(self) -> Moment:
        Moody.executions += 1
        if Moody.executions > 1:
            self.program = {**self.program, "C": []}
        return super().begin()

    def proceed(self, completions: list[Completion], going: list[Process]) -> Moment:
        return super().proceed(completions, going)


def test_a_program_that_is_not_repeatable_is_noticed_and_nothing_is_proved() -> None:
    Moody.executions = 0
    tree = Explorer(lambda: Moody(MASTER), Tree()).explore()
    assert tree.diverged
    assert tree.verdict is not True
    assert not tree.is_complete


def test_systems_are_closed() -> None:
    made: list[Simulated] = []

    def start() -> Simulated:
        made.append(Simulated(MASTER))
        return made[-1]

    Explorer(start, Tree()).explore()
    assert len(made) == 6
    assert all(system.closed for system in made)


def test_a_path_that_is_too_long_is_given_up_and_nothing_is_known_of_its_end() -> None:
    long: Program = {"P0": [("put", "Q"), ("get", "Q")] * 30}
    tree = explored(long, Plan(steps=20))
    assert [(leaf.end, leaf.holds) for leaf in tree.leaves] == [("limit", None)]
    assert tree.verdict is None
    assert "more than 20 macro-steps (--steps)" in tree.undecided[0]
    assert explored(long).verdict is True


def test_one_who_finds_nothing_again_and_again_goes_in_circles_only_if_nothing_changes() -> None:
    counting: Program = {"P0": [("try", "Q")] * 300}
    assert explored(counting).leaves[0].end == "limit"


@pytest.mark.parametrize("seed", range(CASES // 2))
def test_several_executions_at_a_time_find_the_same_leaves(seed: int) -> None:
    program = random_ranks(Random(seed))
    alone, together = explored(program), explored(program, Plan(jobs=3))
    assert sorted(matchings(together), key=str) == sorted(matchings(alone), key=str)
    assert together.is_complete and together.verdict == alone.verdict
    assert not any(arc.is_taken for node in together.nodes for arc in node.arcs)


def test_an_error_in_one_of_several_executions_ends_all() -> None:
    class Broken(Simulated):
        def proceed(self, completions: list[Completion], going: list[Process]) -> Moment:
            if self.steps == 3:
                raise ControlError("it does not answer")
            self.steps += 1
            return super().proceed(completions, going)

        steps = 0

    with pytest.raises(ControlError, match="it does not answer"):
        Explorer(lambda: Broken(MASTER), Tree(), Plan(jobs=3)).explore()


@pytest.mark.parametrize(("most", "paths"), [(0, 1), (1, 4), (2, 6), (9, 6)])
def test_paths_with_few_deviations(most: int, paths: int) -> None:
    """Three senders in any order: the first choice of three and the second of two may be the first or not."""
    tree = explored(MASTER, Plan(deviations=most))
    assert len(tree.leaves) == paths
    assert all(tree.deviations(leaf.number) <= most for leaf in tree.leaves)
    assert tree.is_complete == (paths == 6)
    assert tree.verdict is (True if paths == 6 else None)


def test_the_number_of_paths_is_estimated_and_known_at_the_end() -> None:
    assert [explored(MASTER, Plan(most=most)).estimate for most in (1, 2, 6)] == [6, 6, 6]
    for seed in range(5):
        tree = explored(random_ranks(Random(seed)))
        assert tree.estimate == len(tree.leaves)
