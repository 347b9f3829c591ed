"""Cures where nobody can go on: who waits for what, as the end of the execution tells it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from possibly.control.minimise import decisive
from possibly.session.why import sources
from possibly.session.why.case import Case, Remedy
from possibly.trace.place import place_in
from possibly.verdict.waiting import HELD

BEGINS_JOB = "set_running_or_notify_cancel"


def lock_order(case: Case) -> Remedy | None:
    rows = {row["task"]: row for row in case.details.get("waiting", ())}
    cycle = [rows[task] for task in case.details.get("cycle", ()) if task in rows]
    if not cycle or any(row["does"] not in (*HELD, "use", "await") for row in cycle):
        return None
    if len(cycle) == 1:
        row = cycle[0]
        words = (
            f"{row['name']} holds {row['thing']} already: do not take it again ({row['at']}), or use an RLock"
        )
        return Remedy("a lock taken twice", words)
    names = sorted(dict.fromkeys(row["thing"] for row in cycle))
    ways = [f"{row['name']} takes {_held(row, cycle)} and then {row['thing']}" for row in cycle]
    return Remedy("lock order", f"take {' and '.join(names)} in one order everywhere; {', '.join(ways)}")


def _held(row: dict[str, Any], cycle: list[dict[str, Any]]) -> str:
    """What the next one of the cycle may wait for; a semaphore tells of its units and no task does."""
    held = [each["thing"] for each in row["holds"]]
    units = [each["thing"] for each in cycle if each["does"] == "take" and row["task"] in each["for"]]
    return " and ".join(each for each in dict.fromkeys([*held, *units]) if each != row["thing"]) or "another"


def lost_wake_up(case: Case) -> Remedy | None:
    for row in case.details.get("waiting", ()):
        if not row["missed"] or row["does"] != "wake":
            continue
        test = sources.test_around(row["at"])
        if test is None:
            words = f"{row['name']} waits for what was notified before: keep that in a variable,"
            return Remedy("lost wake-up", f"{words} and test that before wait() at {case.line(row['at'])}")
        question = ast.unparse(test.test)
        words = f"test `{question}` with {row['thing']} held, and wait in a loop: `while {question}: wait()`"
        return Remedy("lost wake-up", words)
    return None


def nobody_notifies(case: Case) -> Remedy | None:
    """A task has changed what another asks for in a loop around wait(), and has not told it of that."""
    steps = case.execution.steps
    for row in case.details.get("waiting", ()):
        test = sources.test_around(row["at"]) if row["does"] == "wake" and row["at"] else None
        if test is None or row["missed"]:
            continue
        asking = f"{place_in(row['at']).file}:{test.lineno}"
        told = [(steps[number].task, moment) for number, moment in case.moments()]
        last = max(
            (n for n, (task, m) in enumerate(told) if task == row["task"] and m["at"] == asking), default=0
        )
        asked = {m["thing"] for task, m in told if task == row["task"] and m["at"] == asking}
        changes = [m for task, m in told[last:] if task != row["task"] and _changes_one(m, asked)]
        notifies = any(_does(m) in ("notify", "notify_all") for _, m in told[last:])
        if changes and not notifies:
            question = ast.unparse(test.test)
            words = (
                f"{case.line(changes[-1]['at'])} changes what `{question}` asks for at {case.line(asking)}"
            )
            return Remedy("missing notify", f"{words}: notify {row['thing']} after it, while it is held")
    return None


def _changes_one(moment: dict[str, Any], things: set[str]) -> bool:
    return moment["kind"] == "write" and moment["thing"] in things and bool(moment["at"])


def _does(moment: dict[str, Any]) -> str:
    return str(moment.get("method", moment["kind"]))


def nobody_left(case: Case) -> Remedy | None:
    """A task waits for an item, and all who could bring one are gone."""
    for row in case.details.get("waiting", ()):
        if row["does"] == "receive" and not row["for"]:
            words = f"nobody is left who sends into {row['thing']}, and it is open: close each sending end"
            return Remedy("missing end", f"{words} when its sender is done (`async with` does)")
        if row["does"] == "get" and not row["for"] and row["thing"].startswith("the pipe "):
            return _first_to_send(case, row)
        if row["does"] == "get" and not row["for"]:
            words = f"nobody is left who puts into {row['thing']}: put an end mark for each who gets from it"
            return Remedy("missing item", words)
    return None


def _first_to_send(case: Case, row: dict[str, Any]) -> Remedy:
    """At a pipe whoever receives could send as well."""
    rows = [each for each in case.details["waiting"] if each["does"] == "get"]
    names = [each["name"] for each in rows if each["thing"].startswith("the pipe ")]
    if len(names) > 1:
        return Remedy(
            "all receive first", f"{' and '.join(names)} wait to receive: let one of them send first"
        )
    words = f"nobody is left who sends into {row['thing']}: close the other end, or send an end mark"
    return Remedy("missing item", words)


def full_queues(case: Case) -> Remedy | None:
    """Tasks wait for room, and those who could make some wait for room as well, or are gone."""
    rows = [row for row in case.details.get("waiting", ()) if row["does"] == "put" and not row["for"]]
    taking = [row for row in case.details.get("waiting", ()) if row["does"] == "get"]
    if not rows or taking:
        return None
    ways = [f"{row['name']} in {row['thing']} ({case.line(row['at'])})" for row in rows]
    if len(rows) > 1:
        words = f"they wait for room: {', '.join(ways)}; take from one before you put into the other"
    else:
        words = f"nobody is left who takes from what is full: {ways[0]}; take until all is put"
    return Remedy("full queues", f"{words}, or let them hold more")


TELLERS = {
    "event": "sets", "condition": "notifies", "future": "gives its result to", "semaphore": "gives a unit of",
}  # fmt: skip
_MADE = re.compile(r".*:([a-z]+)[0-9]+")


def nobody_tells(case: Case) -> Remedy | None:
    """A task waits for a word that nobody can give any more; told where nothing else is known."""
    for row in case.details.get("waiting", ()):
        if row["does"] not in ("wake", "await", "result", "take") or row["for"]:
            continue
        kinds = [kind[1] for kind in map(_MADE.fullmatch, _awaited(case, row["task"])) if kind is not None]
        if "barrier" in kinds:
            return _too_few(case, row)
        found = next((TELLERS[kind] for kind in kinds if kind in TELLERS), None)
        if found is not None:
            words = f"nobody is left who {found} {row['thing']}, for which {row['name']} waits"
            where = f" at {case.line(row['at'])}" if row["at"] else ""
            return Remedy("missing signal", f"{words}{where}: tell of it on every way, failures included")
    return None


def _too_few(case: Case, row: dict[str, Any]) -> Remedy:
    """Tasks wait at a barrier, and nobody else is left who could come there."""
    waiting = [each for each in case.details["waiting"] if _is_at_barrier(case, each["task"])]
    if len({each["thing"] for each in waiting}) > 1:
        ways = [f"{each['name']} at {each['thing']} ({case.line(each['at'])})" for each in waiting]
        words = f"they wait at different barriers: {', '.join(ways)}; let all come to them in one order"
        return Remedy("order of barriers", words)
    rows = [each for each in case.details["waiting"] if each["thing"] == row["thing"]]
    names = " and ".join(each["name"] for each in rows)
    words = f"only {names} came to {row['thing']}, which waits for more: make it for as many as come"
    return Remedy("too few for a barrier", f"{words}, or abort() it where one gives up")


def _is_at_barrier(case: Case, task: str) -> bool:
    kinds = map(_MADE.fullmatch, _awaited(case, task))
    return any(kind is not None and kind[1] == "barrier" for kind in kinds)


def _awaited(case: Case, task: str) -> Iterator[str]:
    """What a task that cannot go on waits for."""
    pending = case.execution.pending.get(task)
    if pending is not None:
        yield from (pending.thing, *(access.thing for access in pending.footprint))
    steps = case.execution.steps
    turns = [m["thing"] for n, m in case.moments() if steps[n].task == task and m["kind"] == "awaits"]
    yield from turns[-1:]


def pool_waits_for_itself(case: Case) -> Remedy | None:
    """A worker waits for the result of a job that nobody has begun: all who could are waiting as well."""
    steps = decisive(case.execution)
    begun = {step.operation.thing: step.task for step in steps if step.operation.kind == BEGINS_JOB}
    for row in case.details.get("waiting", ()):
        job = case.execution.pending.get(row["task"])
        is_worker = row["task"] in begun.values()
        if is_worker and job is not None and job.kind == "result" and job.thing not in begun:
            who = f"{row['name']} waits at {case.line(row['at'])}"
            words = f"{who} for a job that its own pool has no worker left for"
            return Remedy("a pool that waits for itself", f"{words}: call it there, or use another pool")
    return None


def waiting_in_circles(case: Case) -> Remedy | None:
    """Tasks that go round until another changes something, which does not before they do."""
    rows = [row for row in case.details.get("waiting", ()) if row["spins"] and row["at"]]
    if len(rows) < 2:
        return None
    loops = [case.line(_loop_of(row["at"])) for row in rows]
    ways = [
        f"{row['name']} at {loop} until {row['thing'].replace(', ', ' or ')} changes"
        for row, loop in zip(rows, loops, strict=True)
    ]
    words = (
        f"each goes round and waits for another: {', '.join(ways)}; let one of them go on without the others"
    )
    return Remedy("waiting in circles", words)


def _loop_of(at: str) -> str:
    """The line of the loop that a line is in."""
    loops = [node for node in sources.around(at) if isinstance(node, ast.While | ast.For | ast.AsyncFor)]
    return f"{place_in(at).file}:{loops[-1].lineno}" if loops else at
