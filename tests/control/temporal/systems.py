"""Small systems for tests, given as graphs, and the definitions executed literally on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from possibly.control.temporal.system import Reading, State
from possibly.logic.bind import Vocabulary
from possibly.logic.syntax import Leaf, Name, Node, Shared
from possibly.logic.walk import fold, with_children
from tests.logic.ltl.test_progression import holds


class Edge(NamedTuple):
    name: str
    text: str = ""
    processes: tuple[str, ...] = ("P",)


class GraphSystem:
    """States are numbers from 0, each with the set of letters that hold there."""

    name = "graph"

    def __init__(self, arrows: Mapping[int, Sequence[int]], letters: Sequence[str]) -> None:
        self.arrows = arrows
        self.letters = letters
        self.vocabulary = Vocabulary(("P",), shared=frozenset("ab"))

    def initial(self) -> Sequence[State]:
        return [0]

    def successors(self, state: State) -> list[tuple[Edge, State]]:
        return [(Edge(f"{state}>{after}"), after) for after in self.arrows.get(state, ())]

    def reading(self, leaf: Leaf) -> Reading:
        assert isinstance(leaf, Shared)
        letter = leaf.variable
        return Reading(lambda state: letter in self.letters[state])

    def places(self, state: State) -> dict[str, str]:
        return {"P": str(state)}


def random_system(seed: int, size: int = 5) -> GraphSystem:
    random = Random(seed)
    arrows = {
        state: sorted(random.sample(range(size), random.choice([0, 1, 1, 2, 2, 3]))) for state in range(size)
    }
    return GraphSystem(arrows, [random.choice(["", "a", "b", "ab"]) for _ in range(size)])


def sequences(system: GraphSystem, most: int, start: int = 0) -> list[tuple[int, ...]]:
    """Every path of at most so many states, shorter ones first."""
    found: list[tuple[int, ...]] = []
    level: list[tuple[int, ...]] = [(start,)]
    for _ in range(most):
        found += level
        level = [(*path, after) for path in level for after in system.arrows.get(path[-1], ())]
    return found


def satisfies(system: GraphSystem, path: Sequence[int], formula: Node) -> bool:
    """The clauses of finite LTL on the letters along a path."""
    unbound = fold(formula, _unbound)
    return holds([frozenset(system.letters[state]) for state in path], unbound)


def _unbound(node: Node, below: list[Node]) -> Node:
    if isinstance(node, Shared):
        return Name((node.variable,))
    return with_children(node, below) if below else node
