"""Cures where a task is cancelled in the middle of what it does."""

from __future__ import annotations

from typing import Any

from possibly.session.why import sources
from possibly.session.why.case import Case, Remedy
from possibly.trace.place import place_in

GIVING_BACK = {"get": "put", "get_nowait": "put", "acquire": "release", "take": "give", "receive": "send"}
INSIDE = "cancellation in a critical section"


def cancelled_inside(case: Case) -> Remedy | None:
    """A task that has taken or changed something, and has not given it back or come to the end of that."""
    told = list(case.moments())
    for number, moment in told:
        if moment["kind"] != "cancelled" or sources.is_tidied_up(moment["at"]):
            continue
        task = case.execution.steps[number].task
        mine = [m for n, m in told if case.execution.steps[n].task == task and n < number]
        words = _taken(case, mine) or _changed(case, moment, mine)
        if words:
            who = f"{case.name(task)} is cancelled at {case.line(moment['at'])}"
            return Remedy(INSIDE, f"{who}, {words}")
    return None


def _taken(case: Case, mine: list[dict[str, Any]]) -> str:
    taken = [m for m in mine if m.get("method") in GIVING_BACK]
    if not taken:
        return ""
    what, back = case.name(taken[-1]["thing"]), GIVING_BACK[taken[-1]["method"]]
    since = case.line(taken[-1]["at"])
    return f"after {taken[-1]['method']}() at {since}: {back}() {what} in a `finally`"


def _changed(case: Case, moment: dict[str, Any], mine: list[dict[str, Any]]) -> str:
    changed = sources.changed_around(moment["at"])
    if changed is not None:
        file = place_in(moment["at"]).file
        done, left = (case.line(f"{file}:{line}") for line in changed)
        words = f"after the change at {done} and before that at {left}"
        return f"{words}: undo or finish it in a `finally`"
    if any(m["kind"] == "write" for m in mine):
        return "in the middle of what it changes: undo or finish that in a `finally`"
    return ""


def cancelled_with_its_group(case: Case) -> Remedy | None:
    """One task of a group fails, and the group cancels the others before they are done."""
    steps = case.execution.steps
    for number, moment in case.moments():
        task, failed = steps[number].task, moment["thing"]
        if moment["kind"] == "cancelled" and moment.get("group") and task != case.details.get("task"):
            who = (
                f"{case.name(task)} is cancelled at {case.line(moment['at'])} since {case.name(failed)} fails"
            )
            words = f"{who} in the same task group: let {case.name(failed)} handle its own exception"
            return Remedy("cancelled with its group", f"{words}, if the others are to go on")
    return None
