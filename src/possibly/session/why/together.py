"""Cures where steps of a task belong together, and those of another come between them."""

from __future__ import annotations

import re

from possibly.control.execution import Execution
from possibly.control.naming import Sort, parent_of, sort_of
from possibly.control.why import Atomic, Cause, Moment
from possibly.control.why.pairs import are_turns
from possibly.session.why import sources
from possibly.session.why.case import Case, Remedy
from possibly.session.why.reading import lines_around, place_on, writes
from possibly.trace.place import is_of_library, place_in

LOCK_OF = re.compile(r"the lock of ([^:]+)")
"""What the lock of a shared value is called."""


def two_at_once(case: Case) -> Remedy | None:
    """A property forbids what happens while a task is in a function."""
    atomic = case.cause.atomic
    if atomic is None or not (function := function_of(atomic.first, case.execution)):
        return None
    others = [case.execution.steps[number] for number in atomic.between]
    names = [function_of(Moment(None, each.task, each.operation), case.execution) for each in others]
    called = " and ".join(dict.fromkeys([function, *filter(None, names)]))
    return Remedy("two at once", f"hold one lock, the same for all tasks, around each call of {called}")


def function_of(moment: Moment, execution: Execution) -> str:
    """The function that a moment enters."""
    kind, thing, *_ = moment.operation
    return execution.name_of(thing) if kind == "enter" else ""


def not_atomic(case: Case) -> Remedy | None:
    atomic = case.cause.atomic
    if atomic is None:
        return None
    first, last = section_of(case.execution, atomic)
    if not first or not last:
        return None
    owner = LOCK_OF.fullmatch(case.name(atomic.first.operation.thing))
    if owner is not None:
        words = f"hold {owner[1]}.get_lock() {lines_around(case, first, last)} as a whole"
        return Remedy("not atomic", f"{words}: each use of it is atomic alone")
    return _locked(case, _kind_of(case, atomic.first, atomic.last, first, last), first, last)


def both_look_first(case: Case) -> Remedy | None:
    """A task looks while another one is between looking at the same line and doing what depends on that.

    The failure may come before the other one has done it, so that no interval of the execution says so.
    """
    for pair in case.cause.pairs:
        look, act = (place_on(case, each, pair.thing) for each in (pair.first, pair.then))
        if look and act and writes(pair.then, pair.thing) and sources.decides_on(look, act):
            return _locked(case, "check-then-act", look, act)
    return None


def _locked(case: Case, pattern: str, first: str, last: str) -> Remedy:
    """The words for what a lock has to be held around."""
    lines = lines_around(case, first, last)
    if sources.is_async(last):
        words = f"hold one {sources.loop_of(last)}.Lock {lines}, or do not await in between"
    else:
        words = f"hold one lock {lines}"
    if pattern == "double initialisation":
        words += ", or make it before the tasks start"
    return Remedy(pattern, words)


def _kind_of(case: Case, one: Moment, other: Moment, first: str, last: str) -> str:
    thing = _common(case, one, other)
    value = next((m.get("value") for n, m in case.moments() if n == one.number and m["thing"] == thing), 0)
    if sources.is_test(first):
        return "double initialisation" if value is None else "check-then-act"
    return "read-modify-write" if thing is not None and writes(other, thing) else "not atomic"


def calls_in_turn(case: Case) -> Remedy | None:
    """Two calls of one coroutine come between each other, and one after the other they do not fail."""
    if case.cause.in_turn is None:
        return None
    steps = case.execution.steps
    begun = {steps[n].task: m for n, m in case.moments() if m["kind"] == "begin" and m["at"]}
    one, other = (begun.get(task) for task in case.cause.in_turn)
    if one is None or other is None or one["at"] != other["at"]:
        return None
    name = str(one["thing"]).rpartition(".")[2]
    words = f"hold one {sources.loop_of(one['at'])}.Lock around what {name}() does ({case.line(one['at'])})"
    return Remedy("not atomic", f"{words}: its calls come between each other")


def through_a_library(case: Case) -> Remedy | None:
    """Tasks that a library has started decide, for two calls of one coroutine: there the lock belongs.

    One call looks before the other has stored, so the line that looks comes first in the coroutine.
    """
    if case.pair is None or not are_turns(case.pair):
        return None
    (one, look), (other, act) = _asked_for(case, case.pair.first), _asked_for(case, case.pair.then)
    begun = {case.execution.steps[n].task: m["at"] for n, m in case.moments() if m["kind"] == "begin"}
    is_one = one != other and begun.get(one) == begun.get(other) and bool(begun.get(one))
    if not is_one or not _is_before(look, act):
        return None
    return _locked(case, "not atomic", look, act)


def _is_before(one: str, other: str) -> bool:
    (file, line), (same, later) = place_in(one), place_in(other)
    return bool(line and later) and file == same and line < later


def _asked_for(case: Case, moment: Moment) -> tuple[str, str]:
    """The task that called what a library's own task does, and the line at which it waits for that."""
    task, at = moment.task, ""
    while not at and is_of_library(moment.operation.at) and (task := parent_of(task)):
        waits = [
            m["at"]
            for n, m in case.moments()
            if case.execution.steps[n].task == task and n <= (moment.number or 0) and m["kind"] == "awaits"
        ]
        at = next((each for each in reversed(waits) if each and not is_of_library(each)), "")
    return task, at


def _common(case: Case, one: Moment, other: Moment) -> str | None:
    """The memory that both ends of an interval touch: rather what the last one writes."""
    first, last = one.operation.footprint, other.operation.footprint
    written = {access.thing for access in last if access.writes}
    read = {access.thing for access in last} - written
    shared = [a.thing for a in first if a.thing in written]
    shared += [a.thing for a in first if a.writes and a.thing in read]
    return next((thing for thing in shared if sort_of(thing) is Sort.MEMORY), None)


def section_of(execution: Execution, atomic: Atomic) -> tuple[str, str]:
    """The lines at which an interval begins and ends: where what both of its ends touch is touched."""
    case = Case(execution, execution.failure or {}, Cause())
    thing = _common(case, atomic.first, atomic.last)
    return place_on(case, atomic.first, thing), place_on(case, atomic.last, thing, last=True)


def half_written(case: Case) -> Remedy | None:
    """A task reads two things, one of them before and one after another task has written it."""
    for one in case.cause.pairs[:2]:
        for other in case.cause.pairs[:2]:
            late, early = one.then, other.first
            is_same = (one.first.task, late.task) == (other.then.task, early.task)
            if not is_same or one.thing is None or other.thing is None or one.thing == other.thing:
                continue
            pairs = ((late, one.thing, one.first), (early, other.thing, other.then))
            if all(writes(w, thing) and not writes(r, thing) for w, thing, r in pairs):
                first, last = place_on(case, early, other.thing), place_on(case, late, one.thing)
                reading = case.line(place_on(case, one.first, one.thing))
                who = f"{case.name(one.first.task)} reads between two writes of {case.name(late.task)}"
                words = f"{who}: hold one lock {lines_around(case, first, last)}, and around {reading}"
                return Remedy("half written", words)
    return None
