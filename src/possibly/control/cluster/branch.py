"""A branch of the execution tree that is explored by a worker of a cluster.

Theory of operation. A leaf that was not executed yet is handed out with the way to it: the steps from the
root, what sleeps there, and the siblings on the way. That is a small tree of its own, in which the worker
searches as `Dpor` does here, below the leaf only, until nothing is left or its time is over. It gives back
how many executions that were, and what is left below the leaf, which becomes part of the tree here and is
handed out again. A race of an execution with a step above the leaf asks for a branch above it, or beside it:
what is to the right of the way comes along, so that the worker knows whether that is news, and if it is, the
execution is learnt here too, for all that is not below the leaf. So no class is executed twice, and none is
left out, whoever executes it (see `tree`): it is as if the branches had been explored one after the other,
from left to right.

An execution after which the search must do more than learn (a failure, an access that was hidden, something
outside control) ends the worker's search and is handed over unlearnt: its leaf is still to be executed, and
the user's side takes the execution as if it had been made there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from possibly.control.execution import Access, Execution, Outcome, Task
from possibly.control.schedulers.dpor import Dpor
from possibly.control.tree import HUNT, ExecutionTree, Node, State

if TYPE_CHECKING:
    from possibly.control.forking.zygote import ControlledProgram, Knowledge

AHEAD = 3
"""So many executions are on their way: one runs while the last is learnt from."""
COUNTED = ("redundant", "infeasible", "diverged", "truncated", "choices", "branches")
"""Figures of a tree that add up; executions are counted apart."""


class Row(NamedTuple):
    """A node as it travels; the children follow, each with its own."""

    task: Task
    footprint: tuple[Access, ...]
    state: State = State.DONE
    children: int = 0


class Rows(NamedTuple):
    """Nodes, each followed by what is below it, as they travel: by columns, which are pickled at once."""

    tasks: tuple[Task, ...]
    footprints: tuple[tuple[Access, ...], ...]
    states: bytes
    children: tuple[int, ...]

    def each(self) -> Iterator[Row]:
        states = map(State, self.states)
        return map(Row, self.tasks, self.footprints, states, self.children)


class Level(NamedTuple):
    """A node on the way to the leaf."""

    node: Row
    elder: tuple[Row, ...]
    """The children of the node above that come before it: they sleep."""
    younger: Rows
    """Those that come after it, each followed by what is below it: a branch may belong there."""
    sleep: tuple[Row, ...]


@dataclass(frozen=True)
class Branch:
    """What a worker is asked for."""

    levels: tuple[Level, ...]
    blocking: frozenset[str]
    """Kinds of operation that were seen waiting."""
    seconds: float
    executions: int | None
    """At most so many."""
    is_fresh: bool
    """Every execution has a process of its own."""


Odd = tuple[tuple[Task, ...], Execution, dict[str, Any]]
"""The choices that were planned, the execution, and what it told beside its steps."""


@dataclass
class Grown:
    """What a worker found."""

    executions: int
    steps: int
    counts: dict[str, int]
    blocking: frozenset[str]
    rows: Rows
    """The leaf, and what is below it."""
    knowledge: Knowledge
    above: tuple[Execution, ...] = ()
    """Executions that ask for branches above the leaf."""
    odd: Odd | None = None
    """The last execution, if it is one that was not learnt."""
    seconds: float = 0.0
    divergence: str | None = None
    is_repeatable: bool = True
    """Of the last one: a fresh process gives the same as one that has executed before."""


# ---- on the user's side -------------------------------------------------------------------------


def branches_of(
    leaves: list[Node], explorer: Dpor, seconds: float, executions: int | None, is_fresh: bool
) -> Iterator[Branch]:
    """What is handed out for some leaves; what they have in common travels once."""
    blocking = frozenset(explorer.blocking)
    levels: dict[Node, Level] = {}
    for leaf in leaves:
        way = leaf.ancestry()[1:]
        for node in way:
            if node not in levels:
                levels[node] = _level(node)
        yield Branch(tuple(levels[node] for node in way), blocking, seconds, executions, is_fresh)


def give_back(tree: ExecutionTree, leaf: Node) -> None:
    """A leaf that was handed out is still to be executed."""
    tree.take_back(leaf)
    leaf.state = State.TODO
    leaf.count(1, 1)


def leaf_at(tree: ExecutionTree, prefix: tuple[Task, ...]) -> Node:
    """The leaf that is still to be executed at the end of these choices."""
    node = tree.root
    for task in prefix:
        node = next(child for child in node.children if child.task == task and child.todo)
    return node


def _level(node: Node) -> Level:
    assert node.parent is not None, "the root is on no level"
    siblings = node.parent.children
    elder = tuple(Row(each.task, each.footprint, each.state) for each in siblings[: node.rank])
    younger = rows_of(siblings[node.rank + 1 :])
    sleep = tuple(Row(each.task, each.footprint) for each in node.sleep if each.state != State.INFEASIBLE)
    return Level(Row(node.task, node.footprint), elder, younger, sleep)


def graft(explorer: Dpor, leaf: Node, grown: Grown) -> None:
    """Makes what a worker found a part of the tree."""
    tree = explorer.tree
    tree.is_changing = True
    tree.take_back(leaf)
    rows = grown.rows.each()
    first = next(rows)
    leaf.know(first.footprint)
    explorer.blocking |= grown.blocking
    for execution in grown.above:
        explorer.learn_above(execution, leaf)
    leaf.state = first.state
    if first.children:
        _add(leaf, rows, first.children)
    elif leaf.state == State.TODO:
        leaf.count(1, 1)
    tree.executions += grown.executions
    for name, count in grown.counts.items():
        setattr(tree, name, getattr(tree, name) + count)
    tree.divergence = tree.divergence or grown.divergence
    tree.is_changing = False


def _add(parent: Node, rows: Iterator[Row], count: int, is_open: bool = True) -> None:
    """Adds so many children, with all that is below them."""
    waiting = [(parent, count)]
    while waiting:
        parent, count = waiting.pop()
        if not count:
            continue
        row = next(rows)
        node = parent.add(row.task, row.footprint)
        node.state = row.state if is_open or row.state != State.TODO else State.DONE
        waiting += [(parent, count - 1), (node, row.children)]
        if is_open and row.state == State.TODO and not row.children:
            node.count(1, 1)


# ---- on a worker --------------------------------------------------------------------------------


def planted(branch: Branch) -> tuple[ExecutionTree, Node]:
    """A tree that has the way to the leaf and nothing else to execute."""
    tree = ExecutionTree()
    node = tree.root
    node.state, node.open, node.todo = State.DONE, 0, 0
    for level in branch.levels:
        for row in level.elder:
            node.add(row.task, row.footprint).state = row.state
        child = node.add(level.node.task, level.node.footprint)
        child.sleep = tuple(_sleeper(row) for row in level.sleep)
        _add_all(node, level.younger)
        node = child
    node.state = State.TODO
    node.count(1, 1)
    tree.executions = HUNT
    return tree, node


def _sleeper(row: Row) -> Node:
    return Node(None, row.task, row.footprint)


def _add_all(parent: Node, rows: Rows) -> None:
    """Adds nodes, each followed by what is below it, of which nothing is to be executed here."""
    left = rows.each()
    for row in left:
        node = parent.add(row.task, row.footprint)
        node.state = State.DONE if row.state == State.TODO else row.state
        _add(node, left, row.children, is_open=False)


def grown_of(program: ControlledProgram, branches: tuple[Branch, ...]) -> list[Grown | None]:
    """What is found below each leaf; None for those that there was no time for."""
    until = time.monotonic() + branches[0].seconds
    last = Gardener(program, branches[0]).grown()
    found: list[Grown | None] = [last]
    for branch in branches[1:]:
        left = until - time.monotonic()
        if left <= 0 or last.odd is not None:
            found.append(None)
        else:
            last = Gardener(program, replace(branch, seconds=left)).grown()
            found.append(last)
    if last.odd is None and not branches[0].is_fresh:
        last.is_repeatable = not last.divergence and program.agrees()
    return found


class Gardener:
    """Searches below the leaf of a branch."""

    def __init__(self, program: ControlledProgram, branch: Branch) -> None:
        self.program = program
        self.branch = branch
        self.tree, self.leaf = planted(branch)
        self.explorer = Dpor(self.tree, mixes=False)
        self.explorer.blocking |= branch.blocking
        self.above: list[Execution] = []
        self.odd: Odd | None = None
        self.steps = 0
        self.plans: list[Any] = []
        """Of executions that are on their way."""

    def grown(self) -> Grown:
        begun = time.monotonic()
        self._search(begun + self.branch.seconds)
        return Grown(
            self.tree.executions - HUNT,
            self.steps,
            {name: getattr(self.tree, name) for name in COUNTED},
            frozenset(self.explorer.blocking),
            self._rows(),
            self.program.knowledge(),
            tuple(self.above),
            self.odd,
            time.monotonic() - begun,
            self.tree.divergence,
        )

    def _rows(self) -> Rows:
        """If nothing is left, that is enough: what belongs below the leaf is covered."""
        if self.leaf.open:
            return rows_of([self.leaf])
        return Rows((self.leaf.task,), (self.leaf.footprint,), bytes([self.leaf.state]), (0,))

    def _search(self, until: float) -> None:
        while self.odd is None:
            while self._has_room(until) and (plan := self.explorer.plan()) is not None:
                self.program.begin(plan, self.branch.is_fresh)
                self.plans.append(plan)
            if not self.plans:
                return
            self._take(self.plans.pop(0))
        for _ in self.plans:  # their leaves are still to be executed
            self.program.end()

    def _has_room(self, until: float) -> bool:
        begun = self.tree.begun - HUNT
        if begun and (time.monotonic() >= until or begun == self.branch.executions):
            return False
        return len(self.plans) < (AHEAD if begun > 1 else 1)

    def _take(self, plan: Any) -> None:
        execution = self.program.end()
        if self._is_odd(execution, plan):
            self.odd = plan.prefix, execution, self.program.extra
            return
        self.steps += len(execution.steps)
        self.explorer.learn(execution)
        if self._has_asked_above():
            self.above.append(execution)

    def _is_odd(self, execution: Execution, plan: Any) -> bool:
        program = self.program
        if execution.outcome not in (Outcome.FINISHED, Outcome.CUT_OFF) or execution.uncontrolled:
            return True
        if program.grown or program.repeat or program.claims:
            return True
        return not self._came_far_enough(execution, len(plan.prefix))

    def _came_far_enough(self, execution: Execution, depth: int) -> bool:
        """Of a reversal the last choice may be impossible; below the leaf that is learnt as always."""
        if depth != self.leaf.depth:
            return len(execution.steps) >= depth - 1
        steps = execution.steps[:depth]
        return len(steps) == depth and (not steps or steps[-1].task == self.leaf.task)

    def _has_asked_above(self) -> bool:
        """Whether the last execution asked for branches elsewhere, which are not executed here."""
        news = False
        while self.tree.root.todo > self.leaf.todo:
            _give_up(self.tree.root, self.leaf)
            news = True
        return news


def _give_up(node: Node, leaf: Node) -> None:
    """Leaves one leaf out that is not below the other."""
    way = set(leaf.ancestry())
    while node.children:
        node = next(child for child in node.children if child.todo > (leaf.todo if child in way else 0))
    node.state = State.DONE
    node.count(-1, -1)


def rows_of(nodes: list[Node]) -> Rows:
    """Nodes and all that is below them.

    Inside a branch nothing may be left out as long as something is to be executed to the left of it: what is
    found there may belong between the nodes.
    """
    found: list[Node] = []
    stack = nodes[::-1]
    while stack:
        node = stack.pop()
        found.append(node)
        stack += reversed(node.children)
    return Rows(
        tuple([node.task for node in found]),
        tuple([node.footprint for node in found]),
        bytes([State.TODO if node.state == State.RUNNING else node.state for node in found]),
        tuple([len(node.children) for node in found]),
    )
