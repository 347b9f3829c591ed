"""An execution as bytes, from the process that ran it to the one that asked.

Operations are written once and then meant by their number; of what is pending only the changes are written.
"""

from __future__ import annotations

import marshal
from functools import lru_cache
from typing import Any

from possibly.control.execution import Access, Execution, Operation, Outcome, Step


class _Table:
    """The operations of an execution, as plain data."""

    def __init__(self) -> None:
        self.operations: list[Any] = []
        self._numbers: dict[int, int] = {}
        """By identity: the execution keeps them all."""

    def number(self, operation: Operation) -> int:
        found = self._numbers.get(id(operation))
        if found is None:
            kind, thing, footprint, at, waits = operation
            found = self._numbers[id(operation)] = len(self.operations)
            self.operations.append((kind, thing, tuple([tuple(a) for a in footprint]), at, waits))
        return found


def encoded(execution: Execution, extra: dict[str, Any]) -> bytes:
    """`extra` is plain data that travels along."""
    table = _Table()
    rows = []
    before: dict[str, Operation] = {}
    for step in execution.steps:
        changes = {
            task: table.number(operation)
            for task, operation in step.pending.items()
            if before.get(task) is not operation
        }
        gone = [task for task in before if task not in step.pending]
        before = step.pending
        number = table.number(step.operation)
        rows.append((step.task, number, step.enabled, changes, gone, step.detail, step.shut))
    pending = {task: table.number(each) for task, each in execution.pending.items()}
    return marshal.dumps(
        (
            table.operations, rows, execution.outcome.value, execution.names, execution.failure,
            execution.uncontrolled, execution.output, execution.things,
            pending, extra,
        )
    )  # fmt: skip


def decoded(data: bytes) -> tuple[Execution, dict[str, Any]]:
    given, rows, outcome, names, failure, uncontrolled, output, things, left, extra = marshal.loads(data)
    operations = [_operation(each) for each in given]
    steps = []
    pending: dict[str, Operation] = {}
    for task, number, enabled, changes, gone, detail, shut in rows:
        pending = dict(pending)
        for each in gone:
            del pending[each]
        for each, changed in changes.items():
            pending[each] = operations[changed]
        steps.append(Step(task, operations[number], enabled, pending, detail, shut))
    last = {task: operations[number] for task, number in left.items()}
    execution = Execution(
        tuple(steps), Outcome(outcome), names, failure, tuple(uncontrolled), output, last, things
    )
    return execution, extra


@lru_cache(maxsize=1 << 14)
def _operation(given: tuple[str, str, tuple[tuple[str, bool], ...], str, bool]) -> Operation:
    """Most operations of an execution were in the one before."""
    kind, thing, footprint, at, waits = given
    return Operation(kind, thing, tuple([Access(a, w) for a, w in footprint]), at, waits)
