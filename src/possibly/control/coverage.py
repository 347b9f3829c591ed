"""How much of what a program can do was seen: figures for the progress bar and the report.

A tree tells of itself: executed classes, the choices that were possible and need not be tried because they
lead to classes that are covered, the leaves it knows it still has to execute, and the explored part: the
probability that a walk from the root, which takes each known child with the same probability, ends in a leaf
that was executed (the weighted backtrack estimator of Kilby, Slaney, Thiébaux and Walsh: Estimating Search
Tree Size, AAAI 2006). Branches that are not known yet make it too high; it is an estimate and no more.

A random search knows how often it met each class: the share of classes met once in all executions estimates
the probability that the next execution shows a new one (Good, The Population Frequencies of Species, 1953).
"""

from __future__ import annotations

from possibly.control.joining.both import Both
from possibly.control.schedulers.bounded import Bounded
from possibly.control.schedulers.dpor import Dpor
from possibly.control.schedulers.guided import Guided
from possibly.control.schedulers.pct import Pct
from possibly.control.schedulers.random import RandomWalk
from possibly.control.tree import ExecutionTree, explored_part
from possibly.records import replace
from possibly.verdict.coverage import Coverage


def coverage_of(explorer: object, deepening: Bounded | None = None) -> Coverage | None:
    """The figures of an explorer, and of the search by levels beside it; None if it keeps none."""
    found = _coverage_of(explorer)
    if found is None or deepening is None:
        return found
    return replace(found, levels=tuple(deepening.levels.items()), under_way=deepening.under_way)


def _coverage_of(explorer: object) -> Coverage | None:
    match explorer:
        case Dpor() | Guided():
            return coverage_of_tree(explorer.tree)
        case Both():
            return _coverage_of_both(explorer)
        case Bounded():
            done, left = explorer.executions, explorer.left
            return Coverage(
                done, len(explorer.classes), 0, left, done / (done + left or 1), explorer.is_complete,
                levels=tuple(explorer.levels.items()), under_way=explorer.under_way,
            )  # fmt: skip
        case RandomWalk() | Pct():
            new = unseen(explorer.classes, explorer.executions)
            classes = len(explorer.classes)
            return Coverage(
                explorer.executions, classes, 0, 0, 1.0 - new, False, new, species(explorer.classes)
            )
    return None


def _coverage_of_both(explorer: Both) -> Coverage:
    """By classes, unless the search over states is nearer to its end."""
    found, joining = coverage_of_tree(explorer.tree), explorer.joining
    if joining is None:
        return found
    done, left = joining.graph.arcs, joining.left
    executions = found.executions + joining.executions
    explored = max(found.explored, done / (done + left or 1) if joining.executions else 0.0)
    return replace(
        found,
        executions=executions,
        left=min(found.left, left) if joining.executions else found.left,
        explored=explored,
        complete=explorer.is_joined or found.complete,
        states=joining.graph.places,
    )


def coverage_of_tree(tree: ExecutionTree) -> Coverage:
    wasted = tree.redundant + tree.diverged + tree.truncated
    return Coverage(
        tree.executions,
        max(tree.executions - wasted, 0),
        max(tree.choices - tree.branches, 0),
        tree.root.open,
        1.0 if tree.is_complete else explored_part(tree.root),
        tree.is_complete,
    )


def species(met: dict[int, int]) -> int:
    """A lower estimate of how many classes there are (Chao, Nonparametric Estimation of the Number of Classes
    in a Population, 1984; in the form that also holds if no class was met twice)."""
    once = sum(count == 1 for count in met.values())
    twice = sum(count == 2 for count in met.values())
    return len(met) + round(once * (once - 1) / (2 * (twice + 1)))


def unseen(met: dict[int, int], executions: int) -> float:
    """The estimated probability that the next random execution shows a new class."""
    return sum(count == 1 for count in met.values()) / executions if executions else 1.0
