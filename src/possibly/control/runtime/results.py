"""What an execution that is over was, and what else it showed: as plain data, to be told."""

from __future__ import annotations

import sys
from typing import Any

from possibly.control.execution import Execution, Operation, Outcome, Step
from possibly.control.runtime import loading, packages
from possibly.control.runtime.insert import inserted
from possibly.control.runtime.kernel import CLOCK, Kernel
from possibly.control.runtime.memory import Memory
from possibly.control.runtime.things import label_of


def result(
    kernel: Kernel, memory: Memory, outcome: Outcome, failure: dict[str, Any] | None, output: bytes
) -> tuple[Execution, dict[str, Any]]:
    kernel.settle_labels()
    last: dict[str, Operation] = {task.name: task.operation for task in kernel.tasks if task.operation}
    enabled = tuple(task.name for task in kernel.enabled_in_time())
    steps = kernel.steps
    found = {family for family in memory.racy if family not in memory.overflowed}
    if found:
        kept = [each for each in memory.log if each.family in found]
        steps = inserted(steps, kept, (enabled, last))
        if failure is not None and "step" in failure:
            before = sum(each.family in found and not each.inside for each in memory.log[: kernel.logged])
            failure = {**failure, "step": failure["step"] + before}
    things = {thing: label for thing in _touched(steps) if (label := label_of(thing, kernel.labels))}
    execution = Execution(
        tuple(steps), outcome, {task.name: task.label for task in kernel.all}, failure,
        tuple(kernel.uncontrolled), output, last, things,
    )  # fmt: skip
    extra = {
        "left": list(memory.left),
        "racy": [*memory.racy, *([CLOCK] if kernel.repeat else [])],
        "repeat": kernel.repeat or bool(memory.racy.keys() & memory.overflowed),
        "initial": {label_of(thing, kernel.labels) or thing: v for thing, v in memory.initial.items()},
        "assumed": list(kernel.assumed),
        "claims": kernel.claims,
        "places": kernel.uncontrolled.places,
        "remedies": dict(kernel.uncontrolled),
        "files": list(loading.codes),
        "compiled": list(dict.fromkeys(loading.loaded)),
        "modules": _imported(),
    }
    return execution, extra


def _touched(steps: list[Step]) -> dict[str, None]:
    found: dict[str, None] = {}
    for step in steps:
        _, thing, footprint, _, _ = step.operation
        found[thing] = None
        for each, _ in footprint:
            found[each] = None
        if isinstance(step.detail, dict) and "of" in step.detail:
            found[step.detail["of"]] = None
    return found


_before: frozenset[str] = frozenset()


def remember_modules() -> None:
    """What is imported now need not be told."""
    global _before
    _before = frozenset(sys.modules)


def _imported() -> list[str]:
    """Standard modules and ours; what they import for themselves in C comes with them."""
    if len(sys.modules) == len(_before):
        return []
    new = [name for name in sys.modules if name not in _before and not name.startswith("_")]
    new = [name for name in new if not packages.is_watched(name)]
    return [name for name in new if name.partition(".")[0] in _STANDARD]


_STANDARD = frozenset({*sys.stdlib_module_names, "possibly"}) - {"__main__", "antigravity", "this", "idlelib"}
