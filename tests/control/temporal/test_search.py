"""The searches against the definitions, and against the algorithms of section 5 written out as printed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest

from possibly.control.temporal.loops import loop_of
from possibly.control.temporal.options import Options
from possibly.control.temporal.product import Pair, Product
from possibly.control.temporal.search import Path
from possibly.control.temporal.stack import TemporalStack
from possibly.control.temporal.steps import StepSearch, Tree, automaton_of
from possibly.logic.syntax import Node
from tests.control.temporal.systems import GraphSystem, random_system, satisfies, sequences
from tests.logic.ltl.test_progression import random_formula

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
SEEDS = range(120 * CASES)
LONGEST = 5


def case(seed: int) -> tuple[GraphSystem, Node]:
    system = random_system(seed)
    random = Random(seed)
    text = random_formula(random, random.randint(1, 3))
    return system, TemporalStack(system).bound(text)


def found(system: GraphSystem, formula: Node, **choices: object) -> list[Path]:
    options = Options(**choices)  # type: ignore[arg-type]
    return [path for path in StepSearch(system, formula, 0, options) if path is not None]


def states(paths: list[Path]) -> list[tuple[int, ...]]:
    return [tuple(path.states) for path in paths]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_is_found_iff_there_is_one(seed: int) -> None:
    """With and without a bound, by every search and both automata."""
    system, formula = case(seed)
    good = [path for path in sequences(system, LONGEST) if satisfies(system, path, formula)]
    for size in ("shortest", "each", "min", "max"):
        for printed in (False, True):
            for every in (False, True):
                paths = found(system, formula, size=size, bound=LONGEST, printed=printed, all_paths=every)
                assert bool(paths) == bool(good), (size, printed, every)
                assert set(states(paths)) <= set(good)
        unbounded = found(system, formula, size=size)
        assert all(satisfies(system, path.states, formula) for path in unbounded)
        if good:
            assert unbounded
        if unbounded and size in ("shortest", "each"):
            assert not good or len(unbounded[0].states) == len(good[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_memoryless_search_finds_exactly_the_sequences(seed: int) -> None:
    """`each`: all that satisfy the formula; else those of which no shorter beginning does."""
    system, formula = case(seed)
    good = [path for path in sequences(system, LONGEST) if satisfies(system, path, formula)]
    each = found(system, formula, size="each", memoryless=True, bound=LONGEST)
    assert sorted(states(each), key=lambda path: (len(path), path)) == sorted(
        good, key=lambda path: (len(path), path)
    )
    least = [path for path in good if not any(path[:n] in good for n in range(1, len(path)))]
    assert sorted(states(found(system, formula, memoryless=True, bound=LONGEST))) == sorted(least)


def dfs_min(product: Product, pair: Pair, stack: list[Pair], seen: set[Pair]) -> Iterator[tuple[int, ...]]:
    """As printed."""
    stack.append(pair)
    seen.add(pair)
    if product.is_accepting(pair):
        yield tuple(state for state, _ in stack)
    else:
        for _, following in product.successors(pair):
            if following not in seen:
                yield from dfs_min(product, following, stack, seen)
    stack.pop()


def dfs_max(
    product: Product, pair: Pair, stack: list[Pair], seen: set[Pair], saved: list[int]
) -> Iterator[tuple[int, ...]]:
    """As printed; `saved` is the global variable saved_size."""
    stack.append(pair)
    seen.add(pair)
    if product.is_accepting(pair):
        saved[0] = len(stack)
    for _, following in product.successors(pair):
        if following not in seen:
            yield from dfs_max(product, following, stack, seen, saved)
    if product.is_accepting(pair) and saved[0] == len(stack):
        yield tuple(state for state, _ in stack)
    stack.pop()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("printed", [False, True])
def test_depth_first_searches_are_those_printed(seed: int, printed: bool) -> None:
    system, formula = case(seed)
    product = Product(system, automaton_of(formula, Options(printed=printed)), 0)
    seen: set[Pair] = set()
    least = [
        path for root in product.roots() if root not in seen for path in dfs_min(product, root, [], seen)
    ]
    search = StepSearch(system, formula, 0, Options(size="min", printed=printed)).search
    assert states([path for path in search.paths() if path is not None]) == least
    seen = set()
    greatest = [
        path for root in product.roots() if root not in seen for path in dfs_max(product, root, [], seen, [0])
    ]
    assert states(found(system, formula, size="max", printed=printed)) == greatest


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", ["min", "shortest"])
def test_no_beginning_of_a_minimal_step_is_a_step(seed: int, size: str) -> None:
    system, formula = case(seed)
    for printed in (False, True):
        for path in found(system, formula, size=size, printed=printed, bound=LONGEST):
            shorter = [path.states[:n] for n in range(1, len(path.states))]
            assert not any(satisfies(system, each, formula) for each in shorter)
            assert len(path.moves) == len(path.states) - 1


@pytest.mark.parametrize("seed", SEEDS)
def test_cycles_that_allow_arbitrarily_long_steps(seed: int) -> None:
    """By the pigeon-hole: a step longer than there are pairs repeats one, and a cycle can be pumped."""
    system, formula = case(seed)
    product = Product(system, automaton_of(formula, Options()), 0)
    loop = loop_of(product)
    pairs, pending = set(product.roots()), product.roots()
    while pending:
        for _, pair in product.successors(pending.pop()):
            if pair not in pairs:
                pairs.add(pair)
                pending.append(pair)
    reach = set(product.roots())
    longest = 0
    for length in range(1, len(pairs) + 2):
        if any(map(product.is_accepting, reach)):
            longest = length
        reach = {after for pair in reach for _, after in product.successors(pair)}
    # Some length in (n, 2n] is accepted iff arbitrarily long ones are; check both ways by counting.
    accepted_beyond = False
    for _ in range(len(pairs)):
        accepted_beyond |= any(map(product.is_accepting, reach))
        reach = {after for pair in reach for _, after in product.successors(pair)}
    assert (loop is not None) == (accepted_beyond or longest > len(pairs))
    if loop is not None:
        ring = [*loop, loop[0]]
        assert all(b in system.arrows[a] for a, b in pairwise(ring))
    for path in found(system, formula, size="max"):
        assert path.loop is None or loop is not None


def test_no_step_ends_twice_in_a_state_if_that_is_forbidden() -> None:
    """Two ways to state 3."""
    system = GraphSystem({0: [1, 2], 1: [3], 2: [3]}, ["", "", "", "a"])
    formula = TemporalStack(system).bound("F a")
    assert states(found(system, formula, all_paths=True)) == [(0, 1, 3), (0, 2, 3)]
    assert states(found(system, formula, all_paths=True, new_ends=True)) == [(0, 1, 3)]
    assert states(found(system, formula)) == [(0, 1, 3)]


@pytest.mark.parametrize("size", ["shortest", "min", "max"])
def test_the_same_sequence_can_be_forbidden(size: str) -> None:
    """Section 5's example: p and q begin to hold at once, so `F p | F q` has two automaton paths."""
    system = GraphSystem({0: [1], 1: [2]}, ["", "", "ab"])
    formula = TemporalStack(system).bound("F a | F b")
    assert states(found(system, formula, size=size, all_paths=True)).count((0, 1, 2)) == 2
    assert states(found(system, formula, size=size, all_paths=True, new_sequences=True)) == [(0, 1, 2)]


def test_the_tree_counts_repetitions_and_knows_ends() -> None:
    tree = Tree()
    assert tree.adds((0, 1, 0)) and not tree.adds((0, 1, 0))
    assert tree.adds((0, 1)), "a sequence that ends earlier is another one"
    assert tree.below[0, 0].below[1, 0].below[0, 1].ends


def diamonds(count: int) -> GraphSystem:
    """Figure 2: a chain of diamonds; state 3 k begins the k-th."""
    arrows: dict[int, list[int]] = {}
    for k in range(count):
        arrows |= {3 * k: [3 * k + 1, 3 * k + 2], 3 * k + 1: [3 * k + 3], 3 * k + 2: [3 * k + 3]}
    return GraphSystem(arrows, [*[""] * (3 * count), "a"])


def test_figure_2_has_exponentially_many_paths_and_the_ordinary_search_is_fast() -> None:
    small = diamonds(10)
    formula = TemporalStack(small).bound("F a")
    assert len(found(small, formula, size="min", all_paths=True)) == 2**10
    assert len(found(small, formula, all_paths=True)) == 2**10
    assert len(found(diamonds(5), TemporalStack(diamonds(5)).bound("F a"), memoryless=True)) == 2**5
    large = diamonds(2000)
    search = StepSearch(large, formula, 0, Options(size="min"))
    assert [len(path.states) for path in search if path is not None] == [4001]
    assert search.search.visited == 3 * 2000 + 1, "every state once: linear, not 2 to the 2000"


def test_a_bound_does_not_hide_a_step_behind_a_longer_way() -> None:
    """State 3 is first met by the long way, too deep to go on from; the short way must enter it again."""
    system = GraphSystem({0: [1, 3], 1: [2], 2: [3], 3: [4]}, ["", "", "", "", "a"])
    formula = TemporalStack(system).bound("F a")
    for size in ("shortest", "min", "max"):
        assert (0, 3, 4) in states(found(system, formula, size=size, bound=4))
    search = StepSearch(system, formula, 0, Options(size="min", bound=2))
    assert not [path for path in search if path is not None] and search.search.was_cut
