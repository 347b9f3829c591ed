"""Cures where nobody can go on: who waits for what, as the end of the execution tells it."""

from __future__ import annotations

import ast
from typing import Any

from possibly.control.minimise import decisive
from possibly.session.why import sources
from possibly.session.why.case import Case, Remedy
from possibly.trace.place import line_text, place_in

BEGINS_JOB = "set_running_or_notify_cancel"


def lock_order(case: Case) -> Remedy | None:
    rows = {row["task"]: row for row in case.details.get("waiting", ())}
    cycle = [rows[task] for task in case.details.get("cycle", ()) if task in rows]
    if not cycle or any(row["does"] not in ("acquire", "use", "await") for row in cycle):
        return None
    if len(cycle) == 1:
        row = cycle[0]
        words = (
            f"{row['name']} holds {row['thing']} already: do not take it again ({row['at']}), or use an RLock"
        )
        return Remedy("a lock taken twice", words)
    names = sorted(dict.fromkeys(row["thing"] for row in cycle))
    ways = [f"{row['name']} takes {_held(row)} and then {row['thing']}" for row in cycle]
    return Remedy("lock order", f"take {' and '.join(names)} in one order everywhere; {', '.join(ways)}")


def _held(row: dict[str, Any]) -> str:
    return " and ".join(each["thing"] for each in row["holds"]) or "another"


def lost_wake_up(case: Case) -> Remedy | None:
    for row in case.details.get("waiting", ()):
        if not row["missed"] or row["does"] != "wake":
            continue
        test = sources.test_around(row["at"])
        if test is None:
            words = f"{row['name']} waits for what was notified before: keep that in a variable,"
            return Remedy("lost wake-up", f"{words} and test that before wait() at {line_text(row['at'])}")
        question = ast.unparse(test.test)
        words = f"test `{question}` with {row['thing']} held, and wait in a loop: `while {question}: wait()`"
        return Remedy("lost wake-up", words)
    return None


def nobody_left(case: Case) -> Remedy | None:
    """A task waits for an item, and all who could bring one are gone."""
    for row in case.details.get("waiting", ()):
        if row["does"] == "receive" and not row["for"]:
            words = f"nobody is left who sends into {row['thing']}, and it is open: close each sending end"
            return Remedy("missing end", f"{words} when its sender is done (`async with` does)")
        if row["does"] == "get" and not row["for"]:
            words = f"nobody is left who puts into {row['thing']}: put an end mark for each who gets from it"
            return Remedy("missing item", words)
    return None


def pool_waits_for_itself(case: Case) -> Remedy | None:
    """A worker waits for the result of a job that nobody has begun: all who could are waiting as well."""
    steps = decisive(case.execution)
    begun = {step.operation.thing: step.task for step in steps if step.operation.kind == BEGINS_JOB}
    for row in case.details.get("waiting", ()):
        job = case.execution.pending.get(row["task"])
        is_worker = row["task"] in begun.values()
        if is_worker and job is not None and job.kind == "result" and job.thing not in begun:
            who = f"{row['name']} waits at {line_text(row['at'])}"
            words = f"{who} for a job that its own pool has no worker left for"
            return Remedy("a pool that waits for itself", f"{words}: call it there, or use another pool")
    return None


def waiting_in_circles(case: Case) -> Remedy | None:
    """Tasks that go round until another changes something, which does not before they do."""
    rows = [row for row in case.details.get("waiting", ()) if row["spins"] and row["at"]]
    if len(rows) < 2:
        return None
    ways = [
        f"{row['name']} at line {_loop_of(row['at'])} until {row['thing'].replace(', ', ' or ')} changes"
        for row in rows
    ]
    words = (
        f"each goes round and waits for another: {', '.join(ways)}; let one of them go on without the others"
    )
    return Remedy("waiting in circles", words)


def _loop_of(at: str) -> int:
    """The line of the loop that a line is in."""
    loops = [node for node in sources.around(at) if isinstance(node, ast.While | ast.For | ast.AsyncFor)]
    return loops[-1].lineno if loops else place_in(at).line
