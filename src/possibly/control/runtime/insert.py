"""Accesses that turned out to race, put into the steps of the execution in which they happened.

While an execution runs, hidden accesses are parts of steps. If their family is visible from now on, the same
execution has further steps: after the step inside which an access happened, in the order of the accesses.
What was pending for a task at a moment is the next thing it did; an access can always be done; and between
two choices nothing else changes what can be done. So the list made here is what the same schedule gives when
it is run again with that family visible.
"""

from __future__ import annotations

from typing import Any

from possibly.control.execution import Operation, Step
from possibly.control.runtime.memory import Logged

Row = tuple[Step, bool]


def inserted(
    steps: list[Step], log: list[Logged], last: tuple[tuple[str, ...], dict[str, Operation]]
) -> list[Step]:
    """The steps with the logged accesses among them; `last` is what was enabled and pending at the end."""
    steps = _with_accesses_inside(steps, [each for each in log if each.inside])
    rows = _rows(steps, [each for each in log if not each.inside], last)
    coming: dict[str, Operation] = {}
    """Accesses that are the next thing a task does."""
    found: list[Step] = []
    for step, is_access in reversed(rows):
        task, pending = step.task, step.pending
        if is_access:
            coming[task] = step.operation
        else:
            coming.pop(task, None)
        alive = [*pending, *([task] if task not in pending else [])]
        now = {each: coming.get(each) or pending[each] for each in alive}
        can = {*step.enabled, *(each for each in now if each in coming), task}
        found.append(step._replace(enabled=tuple(sorted(can, key=_ancestry)), pending=now))
    found.reverse()
    return found


def with_hidden(steps: list[Step], log: list[Logged]) -> list[Step]:
    """The steps, each with the accesses in it that are no choice points, to what several tasks touch.

    Those of a turn are moments of it; those of a thread's step stand in its detail under `inside`.
    """
    touched: dict[str, set[str]] = {}
    written: set[str] = set()
    for each in log:
        for access in each.operation.footprint:
            touched.setdefault(access.thing, set()).add(each.task)
            if access.writes:
                written.add(access.thing)
    met = {thing for thing in written if len(touched[thing]) > 1}
    found = list(steps)
    inside: dict[int, list[Logged]] = {}
    for each in log:
        if each.operation.at and any(access.thing in met for access in each.operation.footprint):
            inside.setdefault(each.step - 1, []).append(each)
    for number, accesses in inside.items():
        if not 0 <= number < len(found):
            continue
        detail = dict(found[number].detail or {})
        if "turn" in detail:
            detail["turn"] = _with_moments(found[number], accesses)
        else:
            detail["inside"] = [_moment(each) for each in accesses]
        found[number] = found[number]._replace(detail=detail)
    return found


def _moment(access: Logged) -> dict[str, Any]:
    kind, thing, _, at, _ = access.operation
    return {"kind": kind, "thing": thing, "at": at, **(access.detail or {})}


def _with_accesses_inside(steps: list[Step], log: list[Logged]) -> list[Step]:
    """Accesses in the turn of an event loop's task belong to the step that the turn is."""
    found = list(steps)
    turns: dict[int, list[Logged]] = {}
    for each in log:
        turns.setdefault(each.step - 1, []).append(each)
    for number, accesses in turns.items():
        step = found[number]
        touched = (access for each in accesses for access in each.operation.footprint)
        footprint = tuple(dict.fromkeys((*step.operation.footprint, *touched)))
        detail = {**(step.detail or {}), "turn": _with_moments(step, accesses)}
        found[number] = step._replace(operation=step.operation._replace(footprint=footprint), detail=detail)
    return found


def _with_moments(step: Step, accesses: list[Logged]) -> list[dict[str, Any]]:
    """What happened in the turn, with these accesses where they happened."""
    told: list[dict[str, Any]] = (step.detail or {}).get("turn", [])
    found: list[dict[str, Any]] = []
    taken = 0
    for each in accesses:
        found += told[taken : each.position]
        taken = max(taken, each.position)
        found.append(_moment(each))
    return found + told[taken:]


def _rows(
    steps: list[Step], log: list[Logged], last: tuple[tuple[str, ...], dict[str, Operation]]
) -> list[Row]:
    rows: list[Row] = []
    position = 0
    for number in range(len(steps) + 1):
        enabled, pending = (steps[number].enabled, steps[number].pending) if number < len(steps) else last
        while position < len(log) and log[position].step <= number:
            each = log[position]
            rows.append((Step(each.task, each.operation, enabled, pending, each.detail), True))
            position += 1
        if number < len(steps):
            rows.append((steps[number], False))
    return rows


def _ancestry(task: str) -> tuple[int, ...]:
    return tuple(map(int, task.split(".")))
