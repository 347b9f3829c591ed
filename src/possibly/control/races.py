"""The data races of an execution: conflicting accesses that synchronisation does not order.

Theory of operation. Happened-before is taken from what tasks do besides reading and writing memory: their own
order, creation, and the order of operations on the same lock, queue, condition, ...; two accesses to one
thing, at least one of them a write, that are not ordered by it are a race. It is told once for each pair of
places (Netzer and Miller: What Are Race Conditions?, LOPLAS 1992: these are its feasible data races as far as
this execution shows them; a race that this execution's synchronisation hides shows in another one).
"""

from __future__ import annotations

from typing import Any

from possibly.control.causality import Causality, members, split
from possibly.control.execution import SPIN, Execution, Step, Thing

MEMORY = frozenset({"read", "write", SPIN})
"""The kinds of operation that are accesses to memory; all others synchronise."""


def data_races(execution: Execution) -> list[dict[str, Any]]:
    """Plain data: the thing, and two accesses with task, name, kind, place and number of the step."""
    steps = execution.steps
    order = Causality([_synchronisation_of(step) for step in steps])
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    accessed: dict[Thing, int] = {}
    written: dict[Thing, int] = {}
    for number, step in enumerate(steps):
        if step.operation.kind not in MEMORY:
            continue
        reads, writes = split(step.operation.footprint)
        for thing in (*reads, *writes):
            others = (accessed if thing in writes else written).get(thing, 0) & ~order.past[number]
            for earlier in members(others):
                _note(found, execution, thing, earlier, number)
            accessed[thing] = accessed.get(thing, 0) | 1 << number
        for thing in writes:
            written[thing] = written.get(thing, 0) | 1 << number
    return list(found.values())


def _synchronisation_of(step: Step) -> Step:
    if step.operation.kind not in MEMORY:
        return step
    return step._replace(operation=step.operation._replace(footprint=()))


def _note(
    found: dict[tuple[Any, ...], dict[str, Any]], execution: Execution, thing: Thing, one: int, other: int
) -> None:
    first, second = execution.steps[one], execution.steps[other]
    places = sorted((s.operation.at, s.operation.kind) for s in (first, second))
    key = (thing, *places) if all(at for at, _ in places) else (thing, first.task, second.task)
    if key not in found:
        found[key] = {
            "thing": execution.things.get(thing, thing),
            "first": _access(execution, one),
            "second": _access(execution, other),
        }


def _access(execution: Execution, number: int) -> dict[str, Any]:
    step = execution.steps[number]
    return {
        "task": step.task,
        "name": execution.names.get(step.task, step.task),
        "kind": step.operation.kind,
        "at": step.operation.at,
        "step": number,
    }
