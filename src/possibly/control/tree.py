"""The execution tree: what was executed, what is still to be, and nothing twice.

Theory of operation. A node is the state after its step; the way from the root to it is a beginning of
executions. The children of a node are ordered, and new ones go to the end. A task sleeps at a node if its
next step was already a child further left: at this node, or above it with only independent steps since. Every
trace has one place in the tree: at each node the first child that can be its next step. A leaf is `TODO`
until it is handed out and `RUNNING` until its execution is learnt; `open` counts such leaves below a node.
Everything left of the leftmost open leaf is complete and can be forgotten, except that it sleeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from random import Random
from typing import Protocol

from possibly.control.causality import Things, meet, split
from possibly.control.execution import Access, Execution, Outcome, Step, Task

HUNT = 60
"""So many executions look for a failure where one is likely; then the search goes from left to right, with
every so many executions one somewhere else (`schedulers.dpor`)."""


COUNTERS = ("executions", "redundant", "infeasible", "diverged", "truncated", "choices", "branches")
"""Figures of a tree that its nodes do not tell."""


class State(IntEnum):
    TODO = 0
    RUNNING = 1
    DONE = 2
    INFEASIBLE = 3
    """A reversal that turned out to be blocked."""


class Node:
    """The state after a step; the root is the initial one."""

    __slots__ = (
        "children",
        "depth",
        "footprint",
        "open",
        "parent",
        "rank",
        "reads",
        "sleep",
        "state",
        "task",
        "todo",
        "writes",
    )

    def __init__(self, parent: Node | None, task: Task, footprint: tuple[Access, ...]) -> None:
        self.parent = parent
        self.task = task
        self.footprint = footprint
        self.reads: Things
        self.writes: Things
        self.reads, self.writes = split(footprint)
        self.children: list[Node] = []
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.rank = 0
        self.open = 0
        """Leaves below, or this one, that were not executed yet."""
        self.todo = 0
        """Those of them that nobody executes now."""
        self.state = State.DONE
        self.sleep: tuple[Node, ...] = ()
        """The sleepers from above; the earlier children sleep too, for the later ones."""

    def schedule(self) -> tuple[Task, ...]:
        return tuple(node.task for node in self.ancestry()[1:])

    def ancestry(self) -> list[Node]:
        """The way from the root to here."""
        nodes = [self]
        while (parent := nodes[-1].parent) is not None:
            nodes.append(parent)
        nodes.reverse()
        return nodes

    def count(self, todo: int, opened: int) -> None:
        node: Node | None = self
        while node is not None:
            node.todo += todo
            node.open += opened
            node = node.parent

    def sleepers(self) -> tuple[Node, ...]:
        """What sleeps for a new child."""
        return tuple(s for s in (*self.sleep, *self.children) if s.state != State.INFEASIBLE)

    def sleepers_at_parent(self) -> tuple[Node, ...]:
        """What sleeps before this node's step."""
        if self.parent is None:
            return ()
        earlier = self.parent.children[: self.rank]
        return tuple(s for s in (*self.parent.sleep, *earlier) if s.state != State.INFEASIBLE)

    def is_only_child(self) -> bool:
        return self.parent is None or len(self.parent.children) == 1

    def doze(self) -> None:
        """Keeps of the sleepers those which this node's step does not wake."""
        parent = self.parent
        if parent is not None and (parent.sleep or self.rank):
            before = self.sleepers_at_parent()
            self.sleep = tuple(
                s for s in before if s.task != self.task and not meet(s.footprint, self.footprint)
            )

    def know(self, footprint: tuple[Access, ...]) -> None:
        """The step as it was done."""
        if footprint != self.footprint:
            self.footprint = footprint
            self.reads, self.writes = split(footprint)
            self.doze()

    def add(self, task: Task, footprint: tuple[Access, ...]) -> Node:
        child = Node(self, task, footprint)
        child.rank = len(self.children)
        self.children.append(child)
        child.doze()
        return child

    def extended(self, steps: Iterable[Step]) -> Iterator[Node]:
        """The nodes of a free run from here."""
        node = self
        for step in steps:
            node = node.add(step.task, step.operation.footprint)
            yield node


class Insertable(Protocol):
    """A beginning of executions that is to be in the tree (see `schedulers.dpor`)."""

    def without(self, node: Node) -> tuple[int, bool] | None: ...

    def take(self, left: tuple[int, bool]) -> None: ...

    def chain(self, sleepers: tuple[Node, ...]) -> Iterable[tuple[Task, tuple[Access, ...]]]: ...


class ExecutionTree:
    """The explored part and the leaves still to be executed."""

    def __init__(self) -> None:
        self.root = Node(None, "", ())
        self.root.state = State.TODO
        self.root.open = self.root.todo = 1
        self.executions = 0
        self.redundant = 0
        """Executions that were cut off because everything that could go on is covered elsewhere."""
        self.infeasible = 0
        """Reversals that turned out to be blocked."""
        self.diverged = 0
        """Executions that did not follow their plan: something outside our control decided."""
        self.divergence: str | None = None
        """Where that was first noticed."""
        self.truncated = 0
        """Executions that ended before the program did: the search is not complete."""
        self.choices = 0
        """Other choices than the one taken, at all steps that were executed freely."""
        self.branches = 0
        """Leaves that were added: choices that had to be tried, or will be."""
        self.is_changing = False
        """An execution is being learnt: not all of its branches are there yet."""
        self._running: dict[Node, tuple[Task, ...]] = {}
        """Leaves that were handed out, with their plans."""
        self._fresh: list[Node] = [self.root]
        """While hunting: leaves that were not handed out, in the order in which they came."""

    @property
    def is_complete(self) -> bool:
        return not (self.root.open or self.diverged or self.truncated)

    @property
    def begun(self) -> int:
        """Executions that were handed out."""
        return self.executions + len(self._running)

    def resume(self, leaves: list[Node]) -> None:
        """Takes leaves of a tree that was read from a file as still to be executed."""
        for leaf in leaves:
            leaf.count(1, 1)
        self._fresh = leaves

    def next_leaf(self) -> Node | None:
        """A leaf that nobody executes yet: while hunting the latest reversal of the latest run."""
        if self.begun >= HUNT:
            return self._leftmost_leaf()
        return self.hand_out(self._fresh.pop()) if self._fresh else None

    def any_leaf(self, random: Random) -> Node | None:
        """A leaf that nobody executes yet, rather one near the root: each child is as likely as another."""
        node = self.root
        if not node.todo:
            return None
        while node.children:
            node = random.choice([child for child in node.children if child.todo])
        if node in self._fresh:
            self._fresh.remove(node)
        return self.hand_out(node)

    def _leftmost_leaf(self) -> Node | None:
        """The leftmost leaf that nobody executes yet; what is complete to its left is forgotten."""
        self._fresh = []
        node, clear = self.root, True
        if not node.todo:
            return None
        while node.children:
            for child in node.children:
                if child.todo:
                    break
                clear = clear and not child.open
                if clear and child.children:
                    child.children, child.sleep = [], ()
            node = child
        return self.hand_out(node)

    def plan_of(self, leaf: Node) -> tuple[Task, ...]:
        """The choices that lead to a leaf that was handed out."""
        return self._running[leaf]

    def hand_out(self, leaf: Node) -> Node:
        leaf.state = State.RUNNING
        leaf.count(-1, 0)
        self._running[leaf] = leaf.schedule()
        return leaf

    def take_back(self, leaf: Node) -> None:
        """A leaf that was handed out is executed, by somebody who learns from that himself."""
        del self._running[leaf]
        leaf.state = State.DONE
        leaf.count(0, -1)

    def clear(self, node: Node) -> None:
        """Forgets what is below a node."""
        self.branches -= node.todo
        node.count(-node.todo, -node.open)
        node.children = []

    def grow(self, execution: Execution, leaf: Node | None = None) -> list[Node] | None:
        """The nodes of an execution that was planned, from the root; None if it did not get far enough."""
        leaf = leaf or self._leaf_of(execution)
        del self._running[leaf]
        leaf.count(0, -1)
        self.executions += 1
        depth = leaf.depth
        steps = execution.steps
        reached = len(steps) >= depth and (not depth or steps[depth - 1].task == leaf.task)
        leaf.state = State.DONE if reached else State.INFEASIBLE
        if not reached:
            self.infeasible += 1
            if leaf.parent is None or len(steps) < depth - 1:
                if self._compare(leaf.ancestry(), steps):  # what differed before that says more
                    self._note_divergence(strayed(steps, leaf.schedule()))
                return None
        elif depth:
            leaf.know(steps[depth - 1].operation.footprint)
        node = leaf if reached else leaf.parent
        assert node is not None
        self._compare(node.ancestry(), steps)
        free = steps[depth if reached else depth - 1 :]
        self.choices += sum(len(step.enabled) - 1 for step in free)
        path = [*node.ancestry(), *node.extended(free)]
        if execution.outcome is Outcome.CUT_OFF:
            if execution.uncontrolled or not (path[-1].sleep or not reached):
                self.truncated += 1
            else:
                self.redundant += 1
        return path

    def _compare(self, planned: list[Node], steps: tuple[Step, ...]) -> bool:
        """The same choices must give the same steps; whether they do."""
        for number, (node, step) in enumerate(zip(planned[1:], steps, strict=False)):
            done = step.operation.footprint
            if node.footprint is not done and node.footprint != done:
                one, other = set(node.footprint), set(done)
                # A loop that waits reads more at once than one that is under way.
                if not (one <= other or other <= one):
                    where = f" at {step.operation.at}" if step.operation.at else ""
                    self._note_divergence(f"step {number + 1}{where} does not touch the same as before")
                    return False
        return True

    def _note_divergence(self, what: str) -> None:
        self.diverged += 1
        self.divergence = self.divergence or what

    def _leaf_of(self, execution: Execution) -> Node:
        """The leaf whose plan an execution followed: the last choice of the plan may have been impossible."""
        schedule = execution.schedule
        plans = self._running
        if len(plans) == 1:
            return next(iter(plans))
        for leaf, plan in plans.items():
            if schedule[: len(plan)] == plan:
                return leaf
        return max(plans, key=lambda leaf: _common(schedule, plans[leaf]) - len(plans[leaf]))

    def insert(self, node: Node, taken: Node, sequence: Insertable) -> Node | None:
        """Adds a leaf for a sequence that starts at a node and does not start with the child `taken`.

        None if executions that start with the sequence are in the tree already, executed or to be executed.
        """
        if _is_asleep(sequence, (*node.sleep, *node.children[: taken.rank])):
            return None
        rank = taken.rank + 1
        while True:
            for child in node.children[rank:]:
                left = sequence.without(child)
                if left is not None:
                    break
            else:
                return self._append(node, sequence)
            sequence.take(left)
            if not child.children or left == (0, False) or _is_asleep(sequence, child.sleep):
                return None
            node, rank = child, 0

    def _append(self, node: Node, sequence: Insertable) -> Node | None:
        links = list(sequence.chain(node.sleepers()))
        if not links:
            return None
        for task, footprint in links:
            node = node.add(task, footprint)
        node.state = State.TODO
        node.count(1, 1)
        if self.begun < HUNT:
            self._fresh.append(node)
        self.branches += 1
        return node


def strayed(steps: tuple[Step, ...], plan: tuple[Task, ...]) -> str:
    """What is said of an execution that could not go as far as it had gone before."""
    before = steps[-1].operation.at if steps else ""
    where = f", after {before}" if before else ""
    return f"in step {len(steps) + 1}{where}, task {plan[len(steps)]} went on before and cannot now"


def _common(one: tuple[Task, ...], other: tuple[Task, ...]) -> int:
    """How many choices two schedules begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _is_asleep(sequence: Insertable, sleepers: tuple[Node, ...]) -> bool:
    return any(s.state != State.INFEASIBLE and sequence.without(s) is not None for s in sleepers)


def explored_part(root: Node) -> float:
    """The probability that a walk from the root ends in an executed leaf (see `coverage`)."""
    total, stack = 0.0, [(root, 1.0)]
    while stack:
        node, weight = stack.pop()
        children = [child for child in node.children if child.state != State.INFEASIBLE]
        if not node.open:
            total += weight
        elif children:
            stack += [(child, weight / len(children)) for child in children]
    return total
