"""Depth-first search with optimal dynamic partial-order reduction: one execution a Mazurkiewicz trace.

Theory of operation. An execution stands for all that differ from it in the order of independent steps only.
After each execution its races are looked at: pairs of dependent steps of different tasks of which the second
could have come first. For each the tree of executions gets a branch in which it does, unless one that is
there already leads to such an execution. When no branch is left, every trace has been executed, each once.

The algorithm is Optimal-DPOR (Abdulla, Aronis, Jonsson, Sagonas: Source Sets: A Foundation for Optimal
Dynamic Partial Order Reduction, JACM 64, 2017, sections 6 and 7: wakeup trees). Departures:
- One ordered tree holds wakeup trees and explored part alike. A branch is appended behind its siblings, and
  all earlier siblings sleep in it, explored or not: they will be. So branches may be executed in any order
  and by several workers at a time, and the number of executions stays the same. A sequence to be inserted
  descends into the first child that is one of its weak initials, explored or not.
- Only the part of a sequence is inserted that the later step of the race and the waking of all sleepers need.
- Blocking (section 7 there, for locks) is general: before which of the dependent steps a step could have come
  is told by what each step found closed (`Step.shut`), and by where the task was seen waiting. If it could
  not have come before the last one, the one before that is looked at, and so on. Operations that stay blocked
  at the end, or that another step takes away, count as steps that were not done. If this foresight is wrong,
  an execution may be wasted, none is missed.
- A search from left to right stays in one corner of a large tree for as long as anybody waits. So every other
  execution, and fewer the longer nothing is found, begins at some other leaf and goes on by random priorities
  (as `pct` does) or at random. It is one of the executions that have to be made anyway, and made once.
- An operation whose footprint is known only when it is done counts with the larger, pending one until then;
  an execution may be wasted by that, none is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from possibly.control.causality import Causality, Things, members, split
from possibly.control.execution import ANY, RESUME, SLOT, SPIN, Access, Execution, Operation, Step, Task
from possibly.control.schedulers.course import LONG, Course, Habit
from possibly.control.tree import HUNT, ExecutionTree, Node

NEAR = 6
"""So many executions look around where the first one was: small programs show their bugs there."""


class _Later(NamedTuple):
    """The later step of a race, done or still pending when the execution ended."""

    number: int
    """Its place in the execution; the length of the execution if it was not done."""
    task: Task
    operation: Operation
    """As pending: what it may touch when it is done earlier."""
    footprint: tuple[Access, ...]
    """Of the pending and the done operation together."""
    own: int
    """What its task knew before."""
    past: int
    conflicts: int


class Sequence:
    """What is to be inserted: steps of an execution, and behind them one that was done later there."""

    __slots__ = ("earlier", "later", "order", "reads", "steps", "writes")

    def __init__(self, order: Causality, steps: int, later: _Later) -> None:
        self.order = order
        self.steps = steps
        self.later: _Later | None = later
        self.reads, self.writes = split(later.footprint)
        self.earlier = later.past & steps

    def without(self, node: Node) -> tuple[int, bool] | None:
        """What is left behind the node's step if it can be the first; None if it cannot (a weak initial)."""
        task, order = node.task, self.order
        mine = order.of_task.get(task, 0) & self.steps
        if mine:
            first = mine & -mine
            if order.past[first.bit_length() - 1] & self.steps != first:
                return None
            return self.steps ^ first, self.later is not None
        if self.later is not None and task == self.later.task:
            return None if self.later.conflicts & self.steps else (self.steps, False)
        if order.conflicts(node.reads, node.writes) & self.steps:
            return None
        if self.later is not None and _meet(node.reads, node.writes, self.reads, self.writes):
            return None
        return self.steps, self.later is not None

    def take(self, left: tuple[int, bool]) -> None:
        self.steps = left[0]
        if not left[1]:
            self.later = None
        self.earlier &= self.steps

    def chain(self, sleepers: tuple[Node, ...]) -> Iterator[tuple[Task, tuple[Access, ...]]]:
        """The tasks and footprints of what is needed, in order."""
        for number in members(self._needed(sleepers)):
            step = self.order.steps[number]
            yield step.task, step.operation.footprint
        if self.later is not None:
            yield self.later.task, self.later.footprint

    def _needed(self, sleepers: tuple[Node, ...]) -> int:
        """The steps that must go before the later one, and those that wake all sleepers."""
        need = self.earlier if self.later is not None else 0
        for sleeper in sleepers:
            others = self.steps & ~self.order.of_task.get(sleeper.task, 0)
            waking = self.order.conflicts(sleeper.reads, sleeper.writes) & others
            if waking and not waking & need and not self._later_wakes(sleeper):
                first = (waking & -waking).bit_length() - 1
                need |= self.order.past[first] & self.steps
        return need

    def _later_wakes(self, sleeper: Node) -> bool:
        if self.later is None or self.later.task == sleeper.task:
            return False
        return _meet(sleeper.reads, sleeper.writes, self.reads, self.writes)


def _meet(reads: Things, writes: Things, other_reads: Things, other_writes: Things) -> bool:
    for thing in writes:
        if thing in other_writes or thing in other_reads:
            return True
    return any(thing in other_writes for thing in reads)


def _opens(steps: tuple[Step, ...], among: int, thing: str) -> bool:
    """Whether one of some steps is that for which a turn waits that reads the thing."""
    return any((RESUME, thing) in steps[number].shut for number in members(among))


def _habit(begun: int) -> Habit:
    """The free part of a run may go as it likes: what differs most is likely to show something new."""
    return (Habit.TURNS, Habit.STAY, Habit.NEWEST)[begun % 3] if begun < HUNT else Habit.STAY


def _is_elsewhere(begun: int) -> bool:
    """Whether the next execution, after so many, is to look somewhere else than where the search is."""
    if begun < NEAR:
        return False
    often = 2 if begun < 1_000 else 8 if begun < 10_000 else 64
    return begun % often == 0


def _drawn(begun: int) -> Habit:
    return Habit.RANDOM if begun % 3 == 0 else Habit.PRIORITIES


class Dpor:
    """An explorer that executes every Mazurkiewicz trace once."""

    def __init__(
        self,
        tree: ExecutionTree | None = None,
        mixes: bool = True,
        counts: Callable[[str, str, Any], bool] | None = None,
    ) -> None:
        """`mixes`: some executions are made elsewhere than where the search is.

        `counts`: whether the order of a step counts, by its kind, place and detail; all do unless told.
        """
        self.tree = tree or ExecutionTree()
        self.mixes = mixes
        self.counts = counts
        self._random = Random(0)
        self._longest = 0
        """Steps of the longest execution."""
        self.blocking: set[str] = set()
        """Kinds of operation that were seen waiting."""
        self._order: Causality | None = None
        """Of the last execution: the next one often begins with the same steps."""

    def plan(self) -> Course | None:
        begun = self.tree.begun
        elsewhere = self.mixes and _is_elsewhere(begun)
        node = self.tree.any_leaf(self._random) if elsewhere else self.tree.next_leaf()
        if node is None:
            return None
        return Course(
            self.tree.plan_of(node),
            {sleeper.task: sleeper.footprint for sleeper in node.sleepers_at_parent()},
            Habit.TURNS if self.counts is not None else _drawn(begun) if elsewhere else _habit(begun),
            alone=node.is_only_child(),
            seed=begun,
            steps=max(self._longest, LONG),
        )

    def learn(self, execution: Execution, leaf: Node | None = None) -> None:
        """`leaf`: the one that was executed, where that is known."""
        self.tree.is_changing = True
        self._longest = max(self._longest, len(execution.steps))
        path = self.tree.grow(execution, leaf)
        if path is not None:
            self._insert_reversals(execution, path)
        self.tree.is_changing = False

    def learn_above(self, execution: Execution, leaf: Node) -> None:
        """What an execution shows of the branches above a leaf, if all below it is explored elsewhere."""
        path = [*leaf.ancestry(), *leaf.extended(execution.steps[leaf.depth :])]
        self._insert_reversals(execution, path)
        self.tree.clear(leaf)

    def _insert_reversals(self, execution: Execution, path: list[Node]) -> None:
        shared = self._shared(execution)
        order = Causality(execution.steps, self._order, shared)
        self._note_blocking(execution, shared)
        counting = self._counting(execution)
        for later in self._laters(execution, order):
            if counting < 0 or self._counts(execution, later, counting):
                self._reverse(execution, order, path, later, counting)
        self._order = order

    def _counting(self, execution: Execution) -> int:
        """The steps whose order counts."""
        counts = self.counts
        if counts is None:
            return -1
        found = 0
        for number, step in enumerate(execution.steps):
            if counts(step.operation.kind, step.operation.at, step.detail):
                found |= 1 << number
        return found

    def _counts(self, execution: Execution, later: _Later, counting: int) -> bool:
        number = later.number
        if number < len(execution.steps) and execution.steps[number].task == later.task:
            return bool(counting >> number & 1)
        return self.counts is None or self.counts(later.operation.kind, later.operation.at, None)

    def _shared(self, execution: Execution) -> int:
        """How many steps an execution has in common with the one before, because the choices are the same."""
        if self._order is None:
            return 0
        shared = 0
        for one, other in zip(execution.steps, self._order.steps, strict=False):
            if one.task != other.task:
                break
            shared += 1
        return shared

    def _note_blocking(self, execution: Execution, begin: int) -> None:
        blocking = self.blocking
        for step in execution.steps[begin:]:
            for kind, _ in step.shut:
                blocking.add(kind)
            if len(step.pending) > len(step.enabled):
                for task, operation in step.pending.items():
                    if operation.kind not in blocking and task not in step.enabled:
                        blocking.add(operation.kind)
        blocking.update(operation.kind for operation in execution.pending.values())

    def _laters(self, execution: Execution, order: Causality) -> Iterator[_Later]:
        """The steps that are in a race with an earlier one, and the operations that were never done."""
        for number, step in enumerate(execution.steps):
            if not order.direct[number] & ~order.own[number]:
                continue
            pending = step.pending.get(step.task, step.operation)
            done = step.operation.footprint
            both = done if pending.footprint == done else tuple(dict.fromkeys(pending.footprint + done))
            conflicts = order.conflicts(*split(done))
            yield _Later(number, step.task, pending, both, order.own[number], order.past[number], conflicts)
        for task, operation in execution.pending.items():
            yield self._undone(order, order.size, task, operation)
        for number, task, operation in execution.withdrawn():
            yield self._undone(order, number + 1, task, operation)

    def _undone(self, order: Causality, number: int, task: Task, operation: Operation) -> _Later:
        """An operation that was pending until then and never done."""
        own = order.knowledge(task)
        conflicts = order.conflicts(*split(operation.footprint)) & ((1 << number) - 1)
        past = own
        for each in members(conflicts & ~own):
            past |= order.past[each]
        return _Later(number, task, operation, operation.footprint, own, past, conflicts)

    def _reverse(
        self, execution: Execution, order: Causality, path: list[Node], later: _Later, counting: int
    ) -> None:
        """Inserts the reversal of each race that ends in a step, with a step that counts."""
        opposed = later.conflicts & ((1 << later.number) - 1) & ~later.own
        candidates = opposed & counting
        blocking = later.operation.kind in self.blocking
        everything = (1 << order.size) - 1
        while candidates:
            number = candidates.bit_length() - 1
            steps = everything & ~((1 << number) - 1) & ~order.future[number]
            feasible = not blocking or self._feasible(execution, order, later, number, steps)
            if not feasible and opposed & steps:
                for other in members(opposed & steps):
                    steps &= ~order.future[other]
                feasible = self._feasible(execution, order, later, number, steps)
            if feasible:
                moved = self._moved(execution, order, later, number)
                self.tree.insert(path[number], path[number + 1], Sequence(order, steps, moved))
                candidates &= ~order.past[number]
            else:
                candidates ^= 1 << number

    def _moved(self, execution: Execution, order: Causality, later: _Later, number: int) -> _Later:
        """The later step as it may be done at an earlier one: what it was about to touch there counts too."""
        pending = execution.steps[number].pending.get(later.task)
        if pending is None or (order.of_task.get(later.task, 0) & later.own) >> number:
            return later
        if pending.footprint == later.operation.footprint:
            return later
        return later._replace(footprint=tuple(dict.fromkeys(later.footprint + pending.footprint)))

    def _feasible(
        self, execution: Execution, order: Causality, later: _Later, number: int, steps: int
    ) -> bool:
        """Whether the later step may be enabled after what precedes step `number` and then `steps`."""
        operation, recorded = later.operation, execution.steps
        if not operation.waits:
            return True
        there = ((1 << number) - 1) | steps
        things = [access.thing for access in operation.footprint]
        changed = {access.thing for access in operation.footprint if access.writes}
        writers = 0
        for thing in things:
            # Who only reads it is not concerned by others who do.
            met = order.accessed if thing in changed else order.written
            missing = met.get(thing, 0) & ~there & ((1 << later.number) - 1)
            if missing:
                first = (missing & -missing).bit_length() - 1
                if (ANY, thing) in recorded[first].shut:
                    return False
                if (operation.kind, thing) in recorded[first].shut and (
                    thing == operation.thing
                    or (first == number and thing.startswith(SLOT))  # when both begin does not change
                    or self._same_otherwise(order, later, thing, there)
                ):
                    return False
                if operation.kind == RESUME and thing != operation.thing and _opens(recorded, missing, thing):
                    return False
            writers |= order.written.get(thing, 0)
        if operation.kind == SPIN and not self._changed(order, later, things, there):
            return False
        return self._seen_enabled(execution, order, later, writers, there)

    def _same_otherwise(self, order: Causality, later: _Later, thing: str, there: int) -> bool:
        """Whether all else that an operation touches is there as it was when the operation was recorded.

        If not, it may be another thing that it waits for: which item a `get` takes depends on those before.
        """
        before = (1 << later.number) - 1
        others = (access.thing for access in later.operation.footprint if access.thing != thing)
        return all(order.written.get(other, 0) & (before ^ there) & before == 0 for other in others)

    def _changed(self, order: Causality, later: _Later, things: list[str], there: int) -> bool:
        """Whether something that a spinning task read may have been written afterwards.

        Its own writes count: that a task cannot wait for itself is for the runtime to know.
        """
        mine = order.of_task.get(later.task, 0) & later.own
        for thing in things:
            written = order.written.get(thing, 0)
            seen = (order.accessed.get(thing, 0) & ~written & mine).bit_length()
            if not seen or (written & there).bit_length() > seen:
                return True
        return False

    def _seen_enabled(
        self, execution: Execution, order: Causality, later: _Later, writers: int, there: int
    ) -> bool:
        """False if the task was seen waiting when all that its operation touches was in the same state."""
        mine = order.of_task.get(later.task, 0) & later.own
        begin = mine.bit_length() if mine else order.creator.get(later.task, order.size - 1) + 1
        wanted = writers & there
        for number in range(begin, min(later.number, order.size - 1) + 1):
            step, until = execution.steps[number], (1 << number) - 1
            if writers & until & ~wanted:
                return True
            if writers & until == wanted and self._same_then(order, later, step, until, there):
                return later.task in step.enabled
        return True

    def _same_then(self, order: Causality, later: _Later, step: Step, until: int, there: int) -> bool:
        """Whether what the task was about to do then, if it was something else, touches the same state."""
        pending = step.pending.get(later.task)
        if pending is None or pending.footprint == later.operation.footprint:
            return pending is not None
        return all(order.written.get(a.thing, 0) & (until ^ there) == 0 for a in pending.footprint)
