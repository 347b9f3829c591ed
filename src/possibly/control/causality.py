"""Which steps of one execution happened before which: the order that all its equivalent executions share.

Theory of operation. Steps are numbered; a set of steps is an integer with one bit a step, so unions and
inclusions of causal pasts are single operations of the machine's long arithmetic. A step's direct
predecessors are the previous step of its task (the creating step, for the first one), the last write of each
thing it reads, and the last write and the reads since of each thing it writes. Pasts are the unions of these,
futures the same from the end.

Happened-before is that of Mazurkiewicz traces, the dependence that of `execution.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from possibly.control.execution import Access, Execution, Operation, Step, Task, Thing

Things = tuple[Thing, ...]


@lru_cache(maxsize=1 << 16)
def split(footprint: tuple[Access, ...]) -> tuple[Things, Things]:
    """The things that are only read, and those that are written."""
    writes = tuple(dict.fromkeys(access.thing for access in footprint if access.writes))
    reads = tuple(dict.fromkeys(a.thing for a in footprint if not a.writes and a.thing not in writes))
    return reads, writes


def meet(one: tuple[Access, ...], other: tuple[Access, ...]) -> bool:
    """Whether two footprints share a thing that at least one of them writes."""
    reads, writes = split(one)
    other_reads, other_writes = split(other)
    return any(t in other_writes or t in other_reads for t in writes) or any(t in other_writes for t in reads)


def members(mask: int) -> Iterator[int]:
    """The numbers in a set of steps, from the first to the last."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _highest(mask: int) -> int:
    return 1 << mask.bit_length() >> 1


def _cut(masks: dict[str, int], kept: int) -> dict[str, int]:
    return {name: mask & kept for name, mask in masks.items() if mask & kept}


class Causality:
    """The happened-before of an execution's steps."""

    __slots__ = (
        "_future",
        "accessed",
        "creator",
        "direct",
        "last",
        "of_task",
        "own",
        "past",
        "size",
        "steps",
        "written",
    )

    def __init__(self, steps: Sequence[Step], known: Causality | None = None, shared: int = 0) -> None:
        """Of all steps; the first `shared` ones are those of an execution whose order is known."""
        self.steps = steps
        self.size = len(steps)
        self.past: list[int] = known.past[:shared] if known else []
        """The causal past of each step, itself included."""
        self.own: list[int] = known.own[:shared] if known else []
        """What its task knew before each step: the past of its previous or creating step."""
        self.direct: list[int] = known.direct[:shared] if known else []
        """The direct predecessors of each step."""
        kept = (1 << shared) - 1
        self.of_task: dict[Task, int] = _cut(known.of_task, kept) if known else {}
        self.accessed: dict[Thing, int] = _cut(known.accessed, kept) if known else {}
        self.written: dict[Thing, int] = _cut(known.written, kept) if known else {}
        self.last: dict[Task, int] = {task: mask.bit_length() - 1 for task, mask in self.of_task.items()}
        self.creator: dict[Task, int] = (
            {task: at for task, at in known.creator.items() if at < shared - 1} if known else {}
        )
        """The step that created each task; -1 for those that were there from the beginning."""
        self._future: list[int] | None = None
        for number in range(shared, self.size):
            self._add(number, steps[number])

    def _add(self, number: int, step: Step) -> None:
        creator = self.creator
        for each in step.pending:
            if each not in creator:
                creator[each] = number - 1
        task, bit, pasts = step.task, 1 << number, self.past
        reads, writes = split(step.operation.footprint)
        previous = self.last.get(task, -2)
        if previous == -2:
            previous = creator.get(task, -1)
        own = pasts[previous] if previous >= 0 else 0
        direct = 1 << previous if previous >= 0 else 0
        accessed, written = self.accessed, self.written
        before = 0
        for thing in reads:
            # The last write is the highest bit: all earlier ones are in its past.
            before |= _highest(written.get(thing, 0))
            accessed[thing] = accessed.get(thing, 0) | bit
        for thing in writes:
            writer = _highest(written.get(thing, 0))
            before |= writer | (accessed.get(thing, 0) & ~((writer << 1) - 1 if writer else 0))
            accessed[thing] = accessed.get(thing, 0) | bit
            written[thing] = written.get(thing, 0) | bit
        past = own | bit
        rest = before & ~own
        while rest:
            highest = rest.bit_length() - 1
            past |= pasts[highest]
            rest &= ~pasts[highest]
        pasts.append(past)
        self.own.append(own)
        self.direct.append(direct | before)
        self.last[task] = number
        self.of_task[task] = self.of_task.get(task, 0) | bit

    @property
    def future(self) -> list[int]:
        """What happened after each step because of it, itself included."""
        if self._future is None:
            future = [1 << number for number in range(self.size)]
            for number in range(self.size - 1, -1, -1):
                for before in members(self.direct[number]):
                    future[before] |= future[number]
            self._future = future
        return self._future

    def conflicts(self, reads: Iterable[Thing], writes: Iterable[Thing]) -> int:
        """All steps whose footprints meet one that reads and writes these things."""
        mask = 0
        for thing in reads:
            mask |= self.written.get(thing, 0)
        for thing in writes:
            mask |= self.accessed.get(thing, 0)
        return mask

    def knowledge(self, task: Task) -> int:
        """The past of what a task has done so far, its creation included."""
        at = self.last.get(task, self.creator.get(task, self.size - 1))
        return self.past[at] if at >= 0 else 0


def events(steps: Sequence[Step]) -> list[tuple[object, ...]]:
    """Every step with its causal past: what it has in common with its like in equivalent executions.

    The past is told by how many steps of each task are in it; so a step is also named, by its own task's.
    """
    order = Causality(steps)
    masks = sorted(order.of_task.items())
    return [
        (
            step.task,
            _described(step.operation),
            tuple((t, (past & m).bit_count()) for t, m in masks if past & m),
        )
        for step, past in zip(steps, order.past, strict=True)
    ]


def canonical(execution: Execution) -> frozenset[tuple[object, ...]]:
    """What equivalent executions have in common, and no others."""
    return frozenset(events(execution.steps))


def _described(operation: Operation) -> tuple[object, ...]:
    return operation.kind, operation.thing, frozenset(operation.footprint)
