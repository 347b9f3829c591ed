"""Nobody can go on: what kind of end that is, and who waits for whom.

A deadlock has tasks that wait for what never comes; if some of them holds what another waits for, the cycle
of who waits for whom is told. A lost wake-up is a deadlock in which a task waits on a condition or an event
after the notification that it needed was given. If everybody who is left goes round in a loop that waits
(see `spin`), it is a livelock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possibly.control.endings.labels import name_by_lines
from possibly.control.endings.own import is_broken
from possibly.control.execution import Outcome
from possibly.control.runtime.kernel import INPUT
from possibly.control.runtime.things import label_of
from possibly.verdict.waiting import HELD, WAITING

if TYPE_CHECKING:
    from possibly.control.runtime.kernel import Kernel, Task


LEFT = "left"
"""What the first task does when the program has ended and processes go on that nobody has to wait for."""


def stuck(kernel: Kernel) -> tuple[Outcome, dict[str, Any] | None]:
    """How the execution ends, with what there is to say about it."""
    if INPUT in kernel.uncontrolled or is_broken(kernel.uncontrolled):
        return Outcome.CUT_OFF, None  # the world outside may still have something to say
    first = kernel.all[0].operation
    if first is not None and first.kind == LEFT:
        return Outcome.FINISHED, None  # processes that go on alone wait for somebody else
    kernel.settle_labels()
    name_by_lines(kernel.labels)
    waiting = [task for task in kernel.tasks if task.operation is not None]
    waiting = [task for task in waiting if not _keeps_house(task)] or waiting
    spinning = [task for task in waiting if task.trail.changed is not None]
    rows = [_row(task, kernel) for task in waiting]
    cycle = _cycle({row["task"]: row["for"] for row in rows})
    if spinning and len(spinning) == len([task for task in waiting if _counts(task)]):
        kind, outcome = "livelock", Outcome.LIVELOCK
    else:
        kind, outcome = _kind(rows, cycle), Outcome.DEADLOCK
    return outcome, {
        "kind": kind,
        "message": _message(kind, rows, cycle, kernel),
        "task": (cycle or [rows[0]["task"]])[0],
        "place": next((row["at"] for row in rows if row["task"] == (cycle or [row["task"]])[0]), ""),
        "waiting": rows,
        "cycle": cycle,
    }


def _counts(task: Task) -> bool:
    """A task that waits for others to end is not what holds everything up."""
    operation = task.operation
    return not task.daemon and operation is not None and operation.kind not in ("join", "join any", "exit")


def _keeps_house(task: Task) -> bool:
    """Whether it is a task of an event loop's own, which waits as long as the program runs."""
    return task.why is not None and bool(task.why().get("keeps_house"))


def _row(task: Task, kernel: Kernel) -> dict[str, Any]:
    operation = task.operation
    assert operation is not None
    told = task.why() if task.why is not None else {}
    thing = kernel.labels.get(told["thing"], "") if "thing" in told else _things(task, kernel)
    return {
        "task": task.name,
        "name": task.label,
        "does": told.get("does", operation.kind),
        "thing": told.get("called") or thing,
        "at": operation.at,
        "for": told.get("for", []),
        "since": told.get("since", ""),
        "missed": told.get("missed", ""),
        "holds": [
            {"thing": kernel.labels.get(name, name), "at": at}
            for name, at in [*((each.name, each.taken_at) for each in task.held), *told.get("holds", ())]
        ],
        "spins": task.trail.changed is not None,
    }


def _things(task: Task, kernel: Kernel) -> str:
    operation = task.operation
    assert operation is not None
    things = task.trail.waits_for if task.trail.changed is not None else [operation.thing]
    return ", ".join(label_of(thing, kernel.labels) or kernel_name(kernel, thing) for thing in things)


def _kind(rows: list[dict[str, Any]], cycle: list[str]) -> str:
    if not cycle and any(row["missed"] for row in rows):
        return "lost wake-up"
    return "deadlock"


def _cycle(waits: dict[str, list[str]]) -> list[str]:
    """A cycle of tasks each of which waits for the next, or nothing."""
    for start in waits:
        path: list[str] = []
        at = start
        while at in waits and waits[at] and at not in path:
            path.append(at)
            at = next((other for other in waits[at] if other != at), at)
        if at in path:
            return path[path.index(at) :]
    return []


def _message(kind: str, rows: list[dict[str, Any]], cycle: list[str], kernel: Kernel) -> str:
    told = [row for row in rows if row["task"] in cycle] if cycle else rows
    parts = []
    for row in told:
        verb = WAITING.get(row["does"], f"waits in {row['does']} on")
        text = (
            f"{row['name']} {verb} {row['thing']}".rstrip()
            if row["does"] != "exit"
            else f"{row['name']} {verb}"
        )
        if row["spins"]:
            text = f"{row['name']} goes round and reads {row['thing']}"
        if row["at"]:
            text += f" ({row['at']})"
        holders = [kernel_name(kernel, name) for name in row["for"]]
        if holders and row["does"] in HELD:
            text += f", held by {' and '.join(holders)}"
        if row["missed"]:
            text += f", {row['missed']}"
        parts.append(text)
    return "; ".join(parts)


def kernel_name(kernel: Kernel, task: str) -> str:
    return next((each.label for each in kernel.all if each.name == task), task)
