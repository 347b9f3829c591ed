"""What would cure a failure, where its pattern is one of the known ones.

A pattern is recognised by what was executed (who waited for what, which order decides, what should have been
atomic) and by the syntax of the user's lines; each is a function that yields words or nothing, and the first
that knows something is told. Nothing is told that was not executed or does not stand in the source.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from possibly.control.execution import CALLED_FROM, Execution
from possibly.control.minimise import decisive
from possibly.control.naming import Sort, parent_of, sort_of
from possibly.control.why import Atomic, Cause, Moment, Pair
from possibly.session.why import sources
from possibly.session.why.case import Case, Remedy
from possibly.session.why.stuck import (
    lock_order,
    lost_wake_up,
    nobody_left,
    pool_waits_for_itself,
    waiting_in_circles,
)
from possibly.trace.place import is_of_library, line_text, place_in

CLOSING = frozenset({"close", "aclose", "shutdown", "stop", "terminate", "disconnect", "unlink", "clear"})
ARRIVING = frozenset({"put", "put_nowait", "append", "appendleft", "send", "write"})
TAKING = frozenset({"get", "get_nowait"})
GIVING_BACK = {"get": "put", "get_nowait": "put", "acquire": "release", "take": "give", "receive": "send"}

TELLING = frozenset({"set", "notify", "notify_all", "put", "put_nowait", "send", "send_nowait", "release"})
HEARING = frozenset({"await", "wait", "is_set", "wake", "get", "get_nowait", "receive", "acquire", "look"})
"""What a task does to tell others that something is so, and what these do to hear of it."""

WRONG_END = "takes what came last: pop(0), or popleft() of a deque, takes the oldest"


def remedy_of(execution: Execution, details: dict[str, Any], cause: Cause | None) -> Remedy | None:
    case = Case(execution, details, cause or Cause())
    return next((found for pattern in PATTERNS if (found := pattern(case)) is not None), None)


# ---- waking up, being cancelled -----------------------------------------------------------------


def _if_not_while(case: Case) -> Remedy | None:
    """The failing task was woken, and did not look again."""
    task = case.details.get("task")
    waits = [step for step in decisive(case.execution) if step.task == task and step.operation.kind == "wake"]
    if case.details.get("kind") not in ("assertion", "exception") or not waits:
        return None
    test = sources.test_around(waits[-1].operation.at)
    if not isinstance(test, ast.If):
        return None
    question = ast.unparse(test.test)
    words = (
        f"use `while {question}:` instead of `if` at line {test.lineno}: it may be true again after wait()"
    )
    return Remedy("if instead of while", words)


def _cancelled_inside(case: Case) -> Remedy | None:
    told = list(case.moments())
    for number, moment in told:
        if moment["kind"] != "cancelled" or sources.is_tidied_up(moment["at"]):
            continue
        task = case.execution.steps[number].task
        mine = [m for n, m in told if case.execution.steps[n].task == task and n < number]
        taken = [m for m in mine if m.get("method") in GIVING_BACK]
        who = f"{case.name(task)} is cancelled at {line_text(moment['at'])}"
        if taken:
            what, back = case.name(taken[-1]["thing"]), GIVING_BACK[taken[-1]["method"]]
            since = line_text(taken[-1]["at"])
            words = f"{who}, after {taken[-1]['method']}() at {since}: {back}() {what} in a `finally`"
            return Remedy("cancellation in a critical section", words)
        if any(m["kind"] == "write" for m in mine):
            words = f"{who}, in the middle of what it changes: undo or finish that in a `finally`"
            return Remedy("cancellation in a critical section", words)
    return None


# ---- who comes first ----------------------------------------------------------------------------


def _forgotten_await(case: Case) -> Remedy | None:
    mark = b"' was never awaited"
    before, found, _ = case.execution.output.partition(mark)
    if not found:
        return None
    name = before.rpartition(b"coroutine '")[2].decode("utf-8", "replace")
    return Remedy("forgotten await", f"write `await` before the call of {name}(): it never ran")


def _missing_join(case: Case) -> Remedy | None:
    """The parent looks before its child has written."""
    for pair in case.cause.pairs:
        first, then = pair.first, pair.then
        thing = _passed_on(pair)
        if thing is None or not _is_ancestor(first.task, then.task):
            continue
        child, place = case.name(then.task), _place_on(case, first, thing)
        line = line_text(place)
        if sources.is_async(place):
            return Remedy("missing await", f"await {child} before {line}, which uses what it writes")
        return Remedy("missing join", f"wait for the end of {child} (join) before {line} uses what it writes")
    return None


def _told_too_early(case: Case) -> Remedy | None:
    """A task tells another that something is done, and does it afterwards."""
    told, steps = list(case.moments()), decisive(case.execution)
    for pair in case.cause.pairs:
        reader, writer = pair.first, pair.then
        if reader.number is None or _passed_on(pair) is None:
            continue
        before = [(steps[n].task, m) for n, m in told if n < reader.number or steps[n].task == reader.task]
        said = {m["thing"]: m for task, m in before if task == writer.task and _does(m) in TELLING}
        heard = [m["thing"] for task, m in before if task == reader.task and _does(m) in HEARING]
        for thing in heard:
            if thing in said and said[thing]["at"] and sort_of(thing) is not Sort.MEMORY:
                early, late = line_text(said[thing]["at"]), line_text(_place_on(case, writer, pair.thing))
                who = f"{case.name(writer.task)} tells of it at {early} ({case.name(thing)})"
                return Remedy("told too early", f"{who} before {late} is done: put {late} first")
    return None


def _does(moment: dict[str, Any]) -> str:
    return str(moment.get("method", moment["kind"]))


def _changed_while_iterating(case: Case) -> Remedy | None:
    """The interpreter refuses to go on with a loop over what another task has changed."""
    message = str(case.details.get("message", ""))
    if not any(words in message for words in ("changed size during iteration", "mutated during iteration")):
        return None
    place = str(case.details.get(CALLED_FROM) or case.details.get("place", ""))
    changes = [
        moment
        for pair in case.cause.pairs
        for moment in (pair.first, pair.then)
        if moment.task != case.details.get("task") and _writes(moment, pair.thing)
    ]
    if not changes:
        return None
    line, change = line_text(place), line_text(case.at(changes[0]))
    words = f"hold one lock around the loop at {line} and around {change}"
    name = sources.iterated_at(place)
    return Remedy(
        "changed while it is gone through", words + (f", or go through a copy: list({name})" if name else "")
    )


def _empty_is_not_done(case: Case) -> Remedy | None:
    """Whoever asks whether a queue is empty goes on when the last item was taken."""
    told, steps = list(case.moments()), decisive(case.execution)
    for pair in case.cause.pairs:
        for look, other in ((pair.first, pair.then), (pair.then, pair.first)):
            asked = [m for n, m in told if n == look.number and m.get("method") in ("empty", "qsize")]
            before = [m for n, m in told if n < (look.number or 0) and steps[n].task == other.task]
            taken = {m["thing"] for m in before if m.get("method") in TAKING}
            for moment in asked:
                if moment["thing"] in taken:
                    return _waits_until_done(case, moment)
    return None


def _waits_until_done(case: Case, asked: dict[str, Any]) -> Remedy:
    name = case.name(asked["thing"])
    call = "queue.join()" if " " in name else f"{name.rpartition('.')[2]}.join()"
    call = f"await {call}" if sources.is_async(asked["at"]) else call
    asks = f"{asked['method']}() at {line_text(asked['at'])}"
    return Remedy(
        "empty is not done", f"{asks} tells that all was taken, not that it is done: `{call}` waits for that"
    )


def _use_after_close(case: Case) -> Remedy | None:
    message = str(case.details.get("message", "")).lower()
    for pair in case.cause.pairs:
        for one, other in ((pair.first, pair.then), (pair.then, pair.first)):
            at = case.at(one)
            closing = (sources.methods_at(at) | {sources.function_of(at)}) & CLOSING
            is_told = any(word in message for word in ("closed", "shutdown", "shut down", "after "))
            if closing and (is_told or pair.first is one):
                name = case.name(other.task)
                words = f"let {name} come to its end before {min(closing)}() at {line_text(at)}"
                return Remedy("use after close", words)
    return None


def _order_of_arrival(case: Case) -> Remedy | None:
    """Two tasks bring something, and whoever takes it relies on their order."""
    for pair in case.cause.pairs:
        both = [sources.methods_at(_place_on(case, each, pair.thing)) for each in (pair.first, pair.then)]
        kinds = {pair.first.operation.kind, pair.then.operation.kind}
        if not all(methods & ARRIVING for methods in both) and not kinds <= {"put", "send"}:
            continue
        thing = case.name(pair.thing or pair.then.operation.thing)
        pops = [m for _, m in case.moments() if m["at"] and sources.plain_pops(m["at"])]
        if pops:
            return Remedy("wrong end of a queue", f"pop() at {line_text(pops[-1]['at'])} {WRONG_END}")
        words = f"what arrives in {thing} comes in the order in which tasks get there: number it, or sort it"
        return Remedy("order of arrival", words)
    return None


def _wrong_end(case: Case) -> Remedy | None:
    """The failing line itself takes from the wrong end of what it relies on as a queue."""
    if case.details.get("kind") != "assertion":
        return None
    appended = {m["thing"] for _, m in case.moments() if m["at"] and "append" in sources.methods_at(m["at"])}
    for _, moment in case.moments():
        if moment["thing"] in appended and moment["at"] and sources.plain_pops(moment["at"]):
            return Remedy("wrong end of a queue", f"pop() at {line_text(moment['at'])} {WRONG_END}")
    return None


# ---- what should be atomic ----------------------------------------------------------------------


def _two_at_once(case: Case) -> Remedy | None:
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


def _not_atomic(case: Case) -> Remedy | None:
    atomic = case.cause.atomic
    if atomic is None:
        return None
    first, last = section_of(case.execution, atomic)
    if not first or not last:
        return None
    return _locked(_kind_of(case, atomic.first, atomic.last, first, last), first, last)


def _both_look_first(case: Case) -> Remedy | None:
    """A task looks while another one is between looking at the same line and doing what depends on that.

    The failure may come before the other one has done it, so that no interval of the execution says so.
    """
    for pair in case.cause.pairs:
        look, act = (_place_on(case, each, pair.thing) for each in (pair.first, pair.then))
        if look and act and _writes(pair.then, pair.thing) and sources.decides_on(look, act):
            return _locked("check-then-act", look, act)
    return None


def _locked(pattern: str, first: str, last: str) -> Remedy:
    """The words for what a lock has to be held around."""
    lines = _lines(first, last)
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
    return "read-modify-write" if thing is not None else "not atomic"


def _common(case: Case, one: Moment, other: Moment) -> str | None:
    written = {access.thing for access in other.operation.footprint if access.writes}
    shared = (a.thing for a in one.operation.footprint if a.thing in written)
    return next((thing for thing in shared if sort_of(thing) is Sort.MEMORY), None)


def section_of(execution: Execution, atomic: Atomic) -> tuple[str, str]:
    """The lines at which an interval begins and ends: where what both of its ends touch is touched."""
    case = Case(execution, execution.failure or {}, Cause())
    thing = _common(case, atomic.first, atomic.last)
    return _place_on(case, atomic.first, thing), _place_on(case, atomic.last, thing, last=True)


def _order_needed(case: Case) -> Remedy | None:
    """Nothing more is known than that one has to come before the other."""
    pair = case.pair
    if pair is None or case.details.get("waiting"):
        return None
    first, then = (_place_on(case, each, pair.thing) for each in (pair.first, pair.then))
    if not first or not then or sort_of(pair.thing or "") is not Sort.MEMORY:
        return None
    one, other = (
        f"{line_text(at)} of {case.name(m.task)}" for at, m in ((first, pair.first), (then, pair.then))
    )
    wrote, writes = (_writes(each, pair.thing) for each in (pair.first, pair.then))
    if wrote and writes:
        return Remedy(
            "the last one wins", f"keep {other} from undoing {one}: cancel or ignore what is out of date"
        )
    if wrote or writes:
        return Remedy("missing order", f"let {one} wait until {other} is done")
    return None


def _writes(moment: Moment, thing: str | None) -> bool:
    return any(access.writes and access.thing == thing for access in moment.operation.footprint)


PATTERNS: tuple[Callable[[Case], Remedy | None], ...] = (
    lock_order, lost_wake_up, nobody_left, pool_waits_for_itself, waiting_in_circles, _forgotten_await,
    _empty_is_not_done, _cancelled_inside, _if_not_while, _changed_while_iterating, _use_after_close,
    _missing_join, _told_too_early, _order_of_arrival, _two_at_once, _not_atomic, _wrong_end,
    _both_look_first, _order_needed,
)  # fmt: skip
"""Those that need more to be there come first."""


# ---- reading an execution -----------------------------------------------------------------------


def _is_ancestor(one: str, other: str) -> bool:
    while other := parent_of(other):
        if one == other:
            return True
    return False


def _passed_on(pair: Pair) -> str | None:
    """The memory that the first reads and the other writes; or wrote, where it came first and was done."""
    read = {a.thing for a in pair.first.operation.footprint if not a.writes}
    done = (step.operation.footprint for step in pair.other.steps if step.task == pair.then.task)
    is_known = any(sort_of(a.thing) is Sort.MEMORY for a in pair.then.operation.footprint)
    accesses = pair.then.operation.footprint if is_known else (a for footprint in done for a in footprint)
    written = (a.thing for a in accesses if a.writes and sort_of(a.thing) is Sort.MEMORY)
    return next((thing for thing in written if thing in read), None)


def _place_on(case: Case, moment: Moment, thing: str | None, last: bool = False) -> str:
    """Where a moment touches a thing: in the middle of a turn, if it is one."""
    number = moment.number
    found = [m["at"] for n, m in case.moments() if n == number and m["thing"] == thing and m["at"]]
    if not found:
        return case.at(moment)
    return str(found[-1 if last else 0])


def _lines(first: str, last: str) -> str:
    one, other = place_in(first), place_in(last)
    if is_of_library(first) and is_of_library(last):
        places = line_text(first) if one == other else f"{line_text(first)} and {line_text(last)}"
        return f"around the call of yours that leads to {places}"
    if one == other:
        return f"around line {one.line}"
    here, there = sources.function_of(first), sources.function_of(last)
    if here and there and here != there:
        return f"around what calls {here}() ({line_text(first)}) and then {there}() ({line_text(last)})"
    if one.file != other.file or one.line > other.line:
        return f"from {first} to {last}"
    return f"from line {one.line} to line {other.line}"
