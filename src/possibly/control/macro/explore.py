"""Elaborating the tree of collective breakpoints: replay to a node, take a branch, go on.

Here belongs the traversal. Each execution starts the program anew, follows the choices to a node and takes
an arc that nobody took; a strategy says which. An execution goes on to a leaf, taking an open arc at each
breakpoint on its way, so that depth-first traversal needs one execution a leaf.

Strategies: `depth` (the deepest open arc), `breadth` (the shallowest; it stops at the next breakpoint),
`random` (by a seed), `towards` a formula (the arc at whose node most of the goal's atoms hold). A plan may
allow only so many deviations: arcs on a path that are not the first at their nodes.

Several executions at a time: each has a thread, and all of this file, the tree with it, belongs to the thread
that has the turn; it gives the turn away only while it waits for its program (`turns`). An arc that somebody
takes is not open for others. Which node gets which number then depends on who comes first, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from possibly.control.macro.equal import Joins
from possibly.control.macro.model import MadeClaim
from possibly.control.macro.remembered import Memory, Remembered, UnstableError
from possibly.control.macro.run import MOST_STEPS, Breakpoint, DivergedError, Run, System
from possibly.control.macro.tree import Arc, Tree, TreeNode, arcs_of
from possibly.control.macro.turns import Turns


@dataclass(frozen=True, slots=True)
class Plan:
    """How to traverse."""

    strategy: str = "depth"
    seed: int = 0
    goal: str = ""
    """A formula to go towards; the traversal ends where it is true."""
    most: int | None = None
    """Executions at most."""
    seconds: float | None = None
    """No new execution after that time."""
    steps: int = MOST_STEPS
    """Macro-steps of a path at most."""
    stop_at_first: bool = False
    """End at the first leaf that does not hold."""
    deviations: int | None = None
    """So many on a path at most."""
    jobs: int = 1
    """Executions at a time."""
    remembers: bool = False
    """What was executed is not executed again (see `remembered`): fewer executions, at a price for each."""
    joins: bool = False
    """What remembers joins breakpoints that are equal, unless the program makes claims (see `equal`)."""


class UnjoinableError(Exception):
    """The program makes a claim after breakpoints were joined."""


class Explorer:
    """Builds a tree by executions of a program."""

    def __init__(
        self,
        start: Callable[[], System],
        tree: Tree,
        plan: Plan | None = None,
        tell: Callable[[Tree], None] | None = None,
        judge: Callable[[Run, TreeNode], None] | None = None,
    ) -> None:
        self.start = start
        self.tree = tree
        self.plan = plan or Plan()
        self.found: int | None = None
        """The node at which the goal became true."""
        self.last: Run | None = None
        self.faults: dict[str, None] = {}
        self.files: dict[str, None] = {}
        self.missing: set[str] = set()
        self.valued: set[str] = set()
        self._random = Random(self.plan.seed)
        self._deadline = time.monotonic() + self.plan.seconds if self.plan.seconds is not None else None
        self._tell = tell or (lambda tree: None)
        self._judge = judge or (lambda run, node: None)
        self._turns = Turns()
        self._memory = Memory() if self.plan.remembers else None
        self._has_joined = any(node.joins is not None for node in tree.nodes)
        self._joins = Joins() if self.plan.joins and self._memory is not None else None

    # ---- one execution --------------------------------------------------------------------------

    def open(self, number: int = 0) -> tuple[Run, Breakpoint]:
        """A fresh execution, brought to a node; the caller closes its system."""
        self._count()
        return self._opened(self.start(), number)

    def _count(self) -> None:
        self.tree.executions += 1

    def _opened(self, system: System, number: int) -> tuple[Run, Breakpoint]:
        run = Run(system, self.tree.users, self._goals(), self.plan.steps)
        try:
            return run, self._replayed(run, number)
        except BaseException:
            run.system.close()
            raise

    def _goals(self) -> tuple[MadeClaim, ...]:
        return (MadeClaim("", self.plan.goal, ""),) if self.plan.goal else ()

    def _replayed(self, run: Run, number: int) -> Breakpoint:
        if not self.tree.nodes:
            self.tree.add(None)
        point = run.begin()
        self._note(self.tree.nodes[0], run, point)
        for above, node in pairwise(self.tree.path(number)):
            arc = self.tree.arc_to(node)
            point = run.finish() if node.is_leaf and run.is_over else self._stepped(run, above, arc)
            self._note(node, run, point)
        return point

    def advance(self, run: Run, node: TreeNode, arc: Arc) -> tuple[TreeNode, Breakpoint]:
        """One macro-step from a node to a new one, or to the one that is there."""
        point = run.finish() if run.is_over else self._stepped(run, node, arc)
        if point.end == "repeated":
            arc.repeated = True
            return node, point
        child = self.tree.nodes[arc.child] if arc.child is not None else self.tree.add(node.number)
        arc.child = child.number
        self._note(child, run, point)
        return child, point

    def _stepped(self, run: Run, node: TreeNode, arc: Arc) -> Breakpoint:
        """From this node along an arc."""
        if isinstance(run.system, Remembered):
            run.system.is_choice = len(node.arcs) > 1
        return run.step(arc.selection, arc.asleep)

    def _note(self, node: TreeNode, run: Run, point: Breakpoint) -> None:
        """Writes what was seen into the node, or compares it with what was seen there before."""
        if node.digest:
            if node.digest != point.digest:
                text = f"breakpoint {node.number} was met in another state than before"
                if text not in self.tree.diverged:
                    self.tree.diverged.append(text)
            return
        if run.claims and self._has_joined:
            raise UnjoinableError
        node.digest = point.digest
        node.done = [each._asdict() for each in point.done]
        node.matches = list(point.matches)
        node.end, node.detail = point.end, point.detail
        node.pending = list(point.pending)
        node.carried = list(point.carried)
        node.verdicts = [_verdict(each) for each in point.verdicts]
        self._conclude(node, run, point)
        if node.is_leaf:
            self._judge(run, node)
        if point.space is not None:
            node.space, node.users = point.space, self.tree.users.count
            node.arcs = arcs_of(point.space.branches(self.tree.users), point.impossible)
            self._join(run, node)
        elif not point.end:
            node.arcs = [Arc((), run._asleep)]

    def _join(self, run: Run, node: TreeNode) -> None:
        """Leaves what comes next to a breakpoint that is equal, if there is one."""
        if run.claims and self._has_joined:
            raise UnjoinableError
        if (
            run.claims
            or self._joins is None
            or self.plan.strategy == "towards"
            or self.plan.deviations is not None
        ):
            return
        other = self._joins.equal_to(run, node, self.tree.nodes[node.parent or 0])
        if other is not None:
            node.joins, node.arcs, self._has_joined = other.number, [], True

    def _conclude(self, node: TreeNode, run: Run, point: Breakpoint) -> None:
        for claim, verdict in zip(run.claims, node.verdicts, strict=True):
            if point.end and verdict["verdict"] is None:
                verdict["verdict"] = claim.end()
                verdict["at_the_end"] = True
                verdict["broken"] = list(claim.broken())
            if verdict["verdict"] is None:
                verdict["waits"] = claim.open_demands()
            previous = self._verdict_before(node, claim.made.text, claim.made.at)
            if verdict["verdict"] is False and previous is None and not verdict.get("at_the_end"):
                found = claim.why()
                verdict["atoms"] = [list(pair) for pair in found.atoms]
                verdict["broken"] = [found.conjunct] if found.conjunct else []
            verdict["at"] = claim.made.at
            self.faults.update(dict.fromkeys(sorted(claim.faults)))
            self.missing |= claim.missing
            self.valued |= claim.valued
            if claim.made.text == self.plan.goal and not claim.made.process and verdict["verdict"]:
                self.found = node.number
        self.tree.uncontrolled += [each for each in run.uncontrolled if each not in self.tree.uncontrolled]
        self.tree.assumed += [each for each in run.assumed if each not in self.tree.assumed]
        self.tree.has_tasks |= bool(run.board.loops)

    def _verdict_before(self, node: TreeNode, text: str, at: str) -> bool | None:
        if node.parent is None:
            return None
        for each in self.tree.nodes[node.parent].verdicts:
            if each["claim"] == text and each["at"] == at:
                found: bool | None = each["verdict"]
                return found
        return None

    # ---- many executions ------------------------------------------------------------------------

    def explore(self) -> Tree:
        """Executes until everything is explored or the plan says enough."""
        first = self.tree.executions
        while True:
            try:
                self._turns.work(self.plan.jobs, lambda: self._is_enough(first), self._next)
                return self.tree
            except UnjoinableError:
                self._joins = None
            except UnstableError:
                self._joins = self._memory = None
            self._turns = Turns()
            self.tree.begin_anew()
            self._has_joined = False

    def _next(self) -> Callable[[], None] | None:
        """The next execution; None if there is none to do, or none that can be known yet."""
        choice = self._choose()
        if choice is None:
            return None
        number, arc = choice
        if arc is not None:
            arc.is_taken = True

        def execute() -> None:
            try:
                self._execute(number, arc)
            finally:
                if arc is not None:
                    arc.is_taken = False
            self.tree.refresh()
            self._tell(self.tree)

        return execute

    def _is_enough(self, first: int) -> bool:
        if self._deadline is not None and time.monotonic() > self._deadline:
            return True
        if self.plan.most is not None and self.tree.executions - first >= self.plan.most:
            return True
        if self.found is not None and self.plan.strategy == "towards":
            return True
        return self.plan.stop_at_first and any(leaf.holds is False for leaf in self.tree.leaves)

    def _choose(self) -> tuple[int, Arc | None] | None:
        """The node to replay to and the arc to take there; no arc: the program was never started."""
        if not self.tree.nodes:
            return None if self._turns.busy else (0, None)
        candidates = [(node, arc) for node, arc in self.tree.open_arcs() if self._is_allowed(node, arc)]
        if not candidates:
            return None
        node, arc = self._picked(candidates)
        return node.number, arc

    def _is_allowed(self, node: TreeNode, arc: Arc) -> bool:
        most = self.plan.deviations
        return most is None or self.tree.deviations(node.number) + (arc is not node.arcs[0]) <= most

    def _picked(self, candidates: list[tuple[TreeNode, Arc]]) -> tuple[TreeNode, Arc]:
        match self.plan.strategy:
            case "breadth":
                return min(candidates, key=lambda pair: pair[0].depth)
            case "random":
                return self._random.choice(candidates)
            case "towards":
                return max(candidates, key=lambda pair: (self._nearness(pair[0]), pair[0].depth))
        if (
            self._has_joined
        ):  # from high up an execution passes most open arcs, since it goes on where it joins
            return min(candidates, key=lambda pair: pair[0].depth)
        return max(candidates, key=lambda pair: pair[0].depth)

    def _nearness(self, node: TreeNode) -> int:
        """How many of the goal's atoms hold at the node."""
        for each in node.verdicts:
            if each["claim"] == self.plan.goal:
                return sum(map(bool, each["asked"].values()))
        return 0

    def _execute(self, number: int, arc: Arc | None) -> None:
        try:
            run, _ = self._opened(self._system(), number)
        except DivergedError as error:
            self._diverged(arc, str(error))
            return
        with closing(run.system):
            self.last = run
            try:
                self._go_on(run, self.tree.nodes[number], arc)
            except DivergedError as error:
                self._diverged(arc, str(error))
            self.files.update(run.files)

    def _system(self) -> System:
        if self._memory is None:
            self._count()
            return self._turns.shared(self.start())
        return Remembered(lambda: self._turns.shared(self.start()), self._memory, self._count)

    def _diverged(self, arc: Arc | None, text: str) -> None:
        if arc is not None:
            arc.repeated = True
        if text not in self.tree.diverged:
            self.tree.diverged.append(text)

    def _go_on(self, run: Run, node: TreeNode, arc: Arc | None) -> None:
        while True:
            if arc is None:
                arc = self._open_arc(node) or self._arc_to_open(node)
            if arc is None:
                return
            arc.is_taken = True
            try:
                node, point = self.advance(run, node, arc)
            finally:
                arc.is_taken = False
            if point.end or arc.repeated:
                return
            if self.plan.strategy == "breadth" and point.space is not None:
                return
            if self.plan.strategy == "towards" and self.found is not None:
                return
            arc = None
            if node.joins is not None:
                node = self.tree.nodes[node.joins]

    def _arc_to_open(self, node: TreeNode) -> Arc | None:
        """From a breakpoint that was met before: towards what is open below it, by ways that were taken."""
        if not self._has_joined:
            return None
        for each, _ in self.tree.open_arcs():
            way = self.tree.path(each.number)
            if len(way) > node.depth + 1 and way[node.depth] is node:
                return self.tree.arc_to(way[node.depth + 1])
        return None

    def _open_arc(self, node: TreeNode) -> Arc | None:
        found = [arc for arc in node.arcs if arc.is_open and self._is_allowed(node, arc)]
        if not found:
            return None
        return self._random.choice(found) if self.plan.strategy == "random" else found[0]


def _verdict(status: Any) -> dict[str, Any]:
    return {"claim": status.claim, "verdict": status.verdict, "asked": status.asked, "at": ""}
