"""Cures where a task looks or goes on before another one is done."""

from __future__ import annotations

import re
from typing import Any

from possibly.control.minimise import decisive
from possibly.control.naming import Sort, sort_of
from possibly.control.why import Moment
from possibly.session.why import sources
from possibly.session.why.case import Case, Remedy, moments_of
from possibly.session.why.reading import does, is_ancestor, passed_on, place_on, writes
from possibly.trace.place import place_in

TELLING = frozenset({"set", "notify", "notify_all", "put", "put_nowait", "send", "send_nowait", "release"})
HEARING = frozenset({"await", "wait", "is_set", "wake", "get", "get_nowait", "receive", "acquire", "look"})
"""What a task does to tell others that something is so, and what these do to hear of it."""


def missing_join(case: Case) -> Remedy | None:
    """The parent looks before its child has written."""
    for pair in case.cause.pairs:
        first, then = pair.first, pair.then
        thing = passed_on(pair)
        if thing is None or not is_ancestor(first.task, then.task):
            continue
        child, place = case.name(then.task), place_on(case, first, thing)
        line = case.line(place)
        if sources.is_async(place):
            return Remedy("missing await", f"await {child} before {line}, which uses what it writes")
        return Remedy("missing join", f"wait for the end of {child} (join) before {line} uses what it writes")
    return None


def told_too_early(case: Case) -> Remedy | None:
    """A task tells another that something is done, and does it afterwards."""
    told, steps = list(case.moments()), decisive(case.execution)
    for pair in case.cause.pairs:
        reader, writer = pair.first, pair.then
        if reader.number is None or passed_on(pair) is None:
            continue
        before = [(steps[n].task, m) for n, m in told if n < reader.number or steps[n].task == reader.task]
        said = {m["thing"]: m for task, m in before if task == writer.task and _tells(m)}
        heard = [m["thing"] for task, m in before if task == reader.task and does(m) in HEARING]
        for thing in heard:
            if thing in said and said[thing]["at"] and sort_of(thing) is not Sort.MEMORY:
                early, late = case.line(said[thing]["at"]), case.line(place_on(case, writer, pair.thing))
                who = f"{case.name(writer.task)} tells of it at {early} ({case.name(thing)})"
                return Remedy("told too early", f"{who} before {late} is done: put {late} first")
    return None


def _tells(moment: dict[str, Any]) -> bool:
    """Whoever gives a lock back says nothing of what is done; a unit of a semaphore may say it."""
    is_lock = moment["kind"] == "release" or re.fullmatch(r".*:(lock|rlock|condition)\d+", moment["thing"])
    does = str(moment.get("method", moment["kind"]))
    return does in TELLING and not (does == "release" and is_lock)


def seen_too_early(case: Case) -> Remedy | None:
    """A task puts an object where another finds it, and goes on to fill it."""
    if case.pair is None or passed_on(case.pair) is None:
        return None
    reader, writer = case.pair.first, case.pair.then
    late = place_on(case, writer, case.pair.thing)
    for pair in case.cause.pairs[1:]:
        thing = pair.thing
        is_same = (pair.first.task, pair.then.task) == (writer.task, reader.task)
        if not is_same or thing is None or not writes(pair.first, thing) or writes(pair.then, thing):
            continue
        early = place_on(case, pair.first, thing)
        if _gives_object(case, pair.first, thing) and place_in(early).line < place_in(late).line:
            who = f"{case.name(writer.task)} lets others see {case.name(thing)} at {case.line(early)}"
            words = f"{who} before {case.line(late)} is done: finish it first, and put it there last"
            return Remedy("told too early", words)
    return None


def _gives_object(case: Case, moment: Moment, thing: str) -> bool:
    """Whether a moment gives a variable an object, which can be filled after that."""
    values = [m.get("value") for n, m in case.moments() if n == moment.number and m["thing"] == thing]
    return any(isinstance(value, list | dict) or str(value).startswith("<") for value in values)


def not_waited_for(case: Case) -> Remedy | None:
    """The parent looks before its child has come to write, which it does only in another execution."""
    passing, task = case.cause.passing, case.details.get("task")
    if passing is None or task is None or case.cause.pairs:
        return None
    steps = decisive(case.execution)
    mine = [m for n, m in case.moments() if steps[n].task == task and m["kind"] == "read"]
    written = {
        moment["thing"]: passing.steps[number].task
        for number, moment in moments_of(passing)
        if moment["kind"] == "write" and is_ancestor(str(task), passing.steps[number].task)
    }
    for moment in reversed(mine):
        if (child := written.get(moment["thing"])) is not None:
            line, name = case.line(moment["at"]), case.name(child)
            words = f"wait for the end of {name} (join) before {line} uses what it writes: no sleep does that"
            return Remedy("missing join", words)
    return None


def order_needed(case: Case) -> Remedy | None:
    """Nothing more is known than that one has to come before the other."""
    pair = case.pair
    if pair is None or case.details.get("waiting"):
        return None
    first, then = (place_on(case, each, pair.thing) for each in (pair.first, pair.then))
    if not first or not then or sort_of(pair.thing or "") is not Sort.MEMORY:
        return None
    one, other = (
        f"{case.line(at)} in {case.name(m.task)}" for at, m in ((first, pair.first), (then, pair.then))
    )
    is_written, is_undone = (writes(each, pair.thing) for each in (pair.first, pair.then))
    if is_written and is_undone:
        return Remedy(
            "the last one wins", f"keep {other} from undoing {one}: cancel or ignore what is out of date"
        )
    if is_written or is_undone:
        return Remedy("missing order", f"let {one} wait until {other} is done")
    return None
