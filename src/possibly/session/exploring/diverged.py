"""An execution that did not go the way it had gone before: who should have gone on, where, what can be done.

The user sees the task by its name, the line of the user's that was done last, and what the task waits for
now. Where that was inside a package, the package is named: its own input and output decide, most likely.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from possibly.control.execution import CALLED_FROM, Execution, Operation
from possibly.trace.place import is_of_library, place_in
from possibly.verdict.reasons import SAME_AGAIN, Reason
from possibly.verdict.waiting import WAITING

OUTSIDE_DECIDES = "something outside control decides: "
_TASK = re.compile(r"\btask ([0-9]+(?:\.[0-9]+)*)\b")


def diverged(
    execution: Execution, prefix: tuple[str, ...], before: Iterable[Execution] = ()
) -> tuple[str, Reason]:
    """What is told of an execution that could not follow the beginning of an earlier one.

    `before`: some of those; what the one that goes the same way longest did otherwise is told.
    """
    failure, count = execution.failure or {}, len(execution.steps)
    task = str(failure.get("task", prefix[count] if count < len(prefix) else ""))
    if not task:
        return f"{OUTSIDE_DECIDES}step {count + 1} is another one than before", Reason("", SAME_AGAIN)
    place, package = _last(execution)
    where = f", after {place}" if place else ""
    told = f"in step {count + 1}{where}, {execution.name_of(task)} went on before and cannot now"
    told += _waits(execution, task) + _other_step(execution, before)
    return OUTSIDE_DECIDES + told, Reason(place, remedy_for(package))


def remedy_for(package: str) -> str:
    if not package:
        return SAME_AGAIN
    return f"{SAME_AGAIN}; if that is inside {package}: --trust {package} takes its calls as one step each"


def in_words(text: str, names: dict[str, str]) -> str:
    """The same with tasks called as users call them."""
    return _TASK.sub(lambda found: names.get(found[1], found[0]), text)


def _last(execution: Execution) -> tuple[str, str]:
    """The user's line that was done last, and the package that it was in, if it was in one."""
    for step in reversed(execution.steps):
        detail = step.detail if isinstance(step.detail, dict) else {}
        at = step.operation.at
        if at:
            package = place_in(at).file.partition("/")[0].removesuffix(".py") if is_of_library(at) else ""
            return str(detail.get(CALLED_FROM, at)), package
    return "", ""


def _other_step(execution: Execution, before: Iterable[Execution]) -> str:
    """The first step at which an earlier execution of the same schedule did something else."""
    earlier = max(before, key=lambda each: _common(each, execution), default=None)
    if earlier is None:
        return ""
    for number in range(_common(earlier, execution)):
        then, now = earlier.steps[number].operation, execution.steps[number].operation
        if (then.kind, then.thing, then.at) != (now.kind, now.thing, now.at):
            who = execution.name_of(execution.steps[number].task)
            did, does = _did(earlier, then), _did(execution, now)
            return f"; they part in step {number + 1}: {who} did {did} before, and now {does}"
    return ""


def _common(one: Execution, other: Execution) -> int:
    """In how many steps the same tasks go on in both."""
    pairs = zip(one.steps, other.steps, strict=False)
    return len(list(takewhile(lambda pair: pair[0].task == pair[1].task, pairs)))


def _did(execution: Execution, operation: Operation) -> str:
    thing = execution.things.get(operation.thing, execution.name_of(operation.thing))
    return f"{operation.kind} {thing}" + (f" ({operation.at})" if operation.at else "")


def _waits(execution: Execution, task: str) -> str:
    pending: Any = execution.pending.get(task)
    if pending is None:
        return ": it is not there any more" if execution.pending else ""
    if pending.kind not in WAITING or pending.thing == task:
        return f" (it is at {pending.at})" if pending.at else ""
    at = f" at {pending.at}" if pending.at else ""
    return f": it {WAITING[pending.kind]} {execution.name_of(pending.thing)}{at}"
