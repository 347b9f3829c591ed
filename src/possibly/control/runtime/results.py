"""What an execution that is over was, and what else it showed: as plain data, to be told."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from possibly.control.execution import SPIN, Execution, Operation, Outcome, Step
from possibly.control.loading import evaluated, packages
from possibly.control.loading import instrumented as loading
from possibly.control.runtime.insert import inserted, with_hidden
from possibly.control.runtime.kernel import CLOCK, Kernel
from possibly.control.runtime.memory import Memory
from possibly.control.runtime.things import label_of
from possibly.probes import port


def result(
    kernel: Kernel, memory: Memory, outcome: Outcome, failure: dict[str, Any] | None, output: bytes
) -> tuple[Execution, dict[str, Any]]:
    kernel.settle_labels()
    last: dict[str, Operation] = {task.name: task.operation for task in kernel.tasks if task.operation}
    enabled = tuple(task.name for task in kernel.enabled_in_time())
    steps = kernel.steps
    _keep_apart(kernel, memory)
    found = {family for family in memory.racy if family not in memory.overflowed}
    if memory.tells:
        steps = with_hidden(steps, [each for each in memory.log if each.family not in found])
    if found:
        kept = [each for each in memory.log if each.family in found]
        if kernel.alike is not None:
            kept = [each._replace(operation=kernel.alike.plain(each.operation)) for each in kept]
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
        "in_turns": list(memory.in_turns),
        "racy": [*memory.racy, *([CLOCK] if kernel.repeat else [])],
        "ordering": {lock: sorted(ordered) for lock, ordered in memory.ordering.items()},
        "repeat": kernel.repeat or bool(memory.racy.keys() & memory.overflowed),
        "initial": {label_of(thing, kernel.labels) or thing: v for thing, v in memory.initial.items()},
        "assumed": list(kernel.assumed),
        "claims": kernel.claims,
        "places": kernel.uncontrolled.places,
        "remedies": dict(kernel.uncontrolled),
        "files": list(loading.codes),
        "compiled": list(dict.fromkeys(loading.loaded)),
        "texts": list(evaluated.made),
        "modules": _imported(_is_standard),
        "installed": _imported(_is_installed),
        "entered": [tuple(each) for each in memory.codes],
        "alone": _alone(memory),
    }
    return execution, extra


def _alone(memory: Memory) -> list[tuple[str, str, int]]:
    """What was entered by one task alone in packages that are watched, or will be."""
    met = packages.watched.union(packages.root_of_file(each.file) for each in memory.codes)
    found = (each for each in packages.alone.values() if packages.root_of_file(each.co_filename) in met)
    new = (each for each in map(packages.entered, found) if each not in packages.wanted)
    return [(each.file, each.name, each.line) for each in new]


def _keep_apart(kernel: Kernel, memory: Memory) -> None:
    """Accesses before something that their step did in its middle cannot become steps after it.

    And what a task waits for in a loop is not known of those that were hidden. Where time orders steps, those
    of a task are numbered (`models.moments`): one more among them would give all later ones another number.
    """
    if any(step.operation.kind == SPIN for step in kernel.steps):
        memory.overflowed.update(memory.racy)
    for each in memory.log:
        is_late = kernel.timed or each.step in kernel.late
        if is_late and each.family in memory.racy and not each.inside:
            memory.overflowed.add(each.family)


def _touched(steps: list[Step]) -> dict[str, None]:
    found: dict[str, None] = {}
    for step in steps:
        _, thing, footprint, _, _ = step.operation
        found[thing] = None
        for each, _ in footprint:
            found[each] = None
        if isinstance(step.detail, dict):
            if "of" in step.detail:
                found[step.detail["of"]] = None
            for moment in (*step.detail.get("turn", ()), *step.detail.get("inside", ())):
                found[moment["thing"]] = None
    return found


_before: frozenset[str] = frozenset()
_folders: tuple[str, ...] = ()
"""Where modules were looked for before the program could say otherwise."""


def remember_modules() -> None:
    """What is imported now need not be told."""
    global _before, _folders
    _before = frozenset(sys.modules)
    _folders = tuple(f"{folder}{os.sep}" for folder in sys.path if folder)


def _imported(wanted: Callable[[str], bool]) -> list[str]:
    """Modules of that kind; what they import for themselves in C comes with them."""
    if len(sys.modules) == len(_before):
        return []
    new = [name for name in sys.modules if name not in _before and not name.startswith("_")]
    return [name for name in new if wanted(name)]


def _is_standard(name: str) -> bool:
    """Of the standard library, or ours."""
    return name.partition(".")[0] in packages.STANDARD


def _is_installed(name: str) -> bool:
    """Of an installed package."""
    file = getattr(sys.modules[name], "__file__", None)
    if not isinstance(file, str) or _is_standard(name):
        return False
    return any(file.startswith(folder) for folder in _folders) and bool(port.module_path(file))
