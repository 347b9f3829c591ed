"""What would cure a failure, where its pattern is one of the known ones.

A pattern is recognised by what was executed (who waited for what, which order decides, what should have been
atomic) and by the syntax of the user's lines; each is a function that yields words or nothing, and the first
that knows something is told. Nothing is told that was not executed or does not stand in the source.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from possibly.control.execution import CALLED_FROM, Execution
from possibly.control.minimise import decisive
from possibly.control.naming import Sort, parent_of, sort_of
from possibly.control.why import Atomic, Cause, Moment, Pair
from possibly.session.why import sources
from possibly.trace.place import place_in

CLOSING = frozenset({"close", "aclose", "shutdown", "stop", "terminate", "disconnect", "unlink", "clear"})
ARRIVING = frozenset({"put", "put_nowait", "append", "appendleft", "send", "write"})
TAKING = frozenset({"get", "get_nowait"})
GIVING_BACK = {"get": "put", "get_nowait": "put", "acquire": "release", "take": "give", "receive": "send"}

WRONG_END = "takes what came last: pop(0), or popleft() of a deque, takes the oldest"


class Remedy(NamedTuple):
    pattern: str
    words: str


@dataclass(frozen=True, slots=True)
class Case:
    """What is known of a failure."""

    execution: Execution
    details: dict[str, Any]
    cause: Cause

    def name(self, thing: str) -> str:
        return self.execution.names.get(thing) or self.execution.things.get(thing, thing)

    @property
    def pair(self) -> Pair | None:
        return self.cause.pairs[0] if self.cause.pairs else None

    def moments(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """What happened in each decisive step, with the step's number."""
        for number, step in enumerate(decisive(self.execution)):
            detail = step.detail if isinstance(step.detail, dict) else {}
            kind, thing, _, at, _ = step.operation
            if "turn" not in detail:
                yield number, {"kind": kind, "thing": thing, **detail, "at": detail.get(CALLED_FROM, at)}
            for each in (*detail.get("turn", ()), *detail.get("inside", ())):
                yield number, {**each, "at": each.get(CALLED_FROM, each["at"])}

    def at(self, moment: Moment) -> str:
        """The line of a moment; where that is a library's, the user's that called it."""
        detail = self.execution.steps[moment.number].detail if moment.number is not None else None
        return str((detail or {}).get(CALLED_FROM, moment.operation.at))


def remedy_of(execution: Execution, details: dict[str, Any], cause: Cause | None) -> Remedy | None:
    case = Case(execution, details, cause or Cause())
    return next((found for pattern in PATTERNS if (found := pattern(case)) is not None), None)


# ---- nobody can go on ---------------------------------------------------------------------------


def _lock_order(case: Case) -> Remedy | None:
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


def _lost_wake_up(case: Case) -> Remedy | None:
    for row in case.details.get("waiting", ()):
        if not row["missed"] or row["does"] != "wake":
            continue
        test = sources.test_around(row["at"])
        if test is None:
            words = f"{row['name']} waits for what was notified before: keep that in a variable,"
            return Remedy(
                "lost wake-up", f"{words} and test that before wait() at line {place_in(row['at']).line}"
            )
        question = ast.unparse(test.test)
        words = f"test `{question}` with {row['thing']} held, and wait in a loop: `while {question}: wait()`"
        return Remedy("lost wake-up", words)
    return None


def _nobody_left(case: Case) -> Remedy | None:
    """A task waits for an item, and all who could bring one are gone."""
    for row in case.details.get("waiting", ()):
        if row["does"] == "get" and not row["for"]:
            words = f"nobody is left who puts into {row['thing']}: put an end mark for each who gets from it"
            return Remedy("missing item", words)
    return None


def _waiting_in_circles(case: Case) -> Remedy | None:
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
        line = place_in(moment["at"]).line
        who = f"{case.name(task)} is cancelled at line {line}"
        if taken:
            what, back = case.name(taken[-1]["thing"]), GIVING_BACK[taken[-1]["method"]]
            since = place_in(taken[-1]["at"]).line
            words = f"{who}, after {taken[-1]['method']}() at line {since}: {back}() {what} in a `finally`"
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
        if not _is_ancestor(first.task, then.task) or not _reads_what_is_written(pair):
            continue
        child, place = case.name(then.task), _place_on(case, first, pair.thing)
        line = place_in(place).line
        if sources.is_async(place):
            return Remedy("missing await", f"await {child} before line {line}, which uses what it writes")
        return Remedy(
            "missing join", f"wait for the end of {child} (join) before line {line} uses what it writes"
        )
    return None


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
    line, change = place_in(place).line, place_in(case.at(changes[0])).line
    words = f"hold one lock around the loop at line {line} and around line {change}"
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
    asks = f"{asked['method']}() at line {place_in(asked['at']).line}"
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
                name, line = case.name(other.task), place_in(at).line
                words = f"let {name} come to its end before {min(closing)}() at line {line}"
                return Remedy("use after close", words)
    return None


def _order_of_arrival(case: Case) -> Remedy | None:
    """Two tasks bring something, and whoever takes it relies on their order."""
    for pair in case.cause.pairs:
        both = [sources.methods_at(_place_on(case, each, pair.thing)) for each in (pair.first, pair.then)]
        if not all(methods & ARRIVING for methods in both):
            continue
        thing = case.name(pair.thing or pair.then.operation.thing)
        pops = [m for _, m in case.moments() if m["at"] and sources.plain_pops(m["at"])]
        if pops:
            line = place_in(pops[-1]["at"]).line
            return Remedy("wrong end of a queue", f"pop() at line {line} {WRONG_END}")
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
            line = place_in(moment["at"]).line
            return Remedy("wrong end of a queue", f"pop() at line {line} {WRONG_END}")
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
    return (execution.names.get(thing) or execution.things.get(thing, thing)) if kind == "enter" else ""


def _not_atomic(case: Case) -> Remedy | None:
    atomic = case.cause.atomic
    if atomic is None:
        return None
    first, last = section_of(case.execution, atomic)
    if not first or not last:
        return None
    lines = _lines(first, last)
    pattern = _kind_of(case, atomic.first, atomic.last, first, last)
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
        f"line {place_in(at).line} of {case.name(m.task)}"
        for at, m in ((first, pair.first), (then, pair.then))
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
    _lock_order, _lost_wake_up, _nobody_left, _waiting_in_circles, _forgotten_await, _empty_is_not_done,
    _cancelled_inside, _if_not_while, _changed_while_iterating, _use_after_close, _missing_join,
    _order_of_arrival, _two_at_once, _not_atomic, _wrong_end, _order_needed,
)  # fmt: skip
"""Those that need more to be there come first."""


# ---- reading an execution -----------------------------------------------------------------------


def _is_ancestor(one: str, other: str) -> bool:
    while other := parent_of(other):
        if one == other:
            return True
    return False


def _reads_what_is_written(pair: Pair) -> bool:
    read = {a.thing for a in pair.first.operation.footprint if not a.writes}
    return any(
        a.writes and a.thing in read and sort_of(a.thing) is Sort.MEMORY
        for a in pair.then.operation.footprint
    )


def _place_on(case: Case, moment: Moment, thing: str | None, last: bool = False) -> str:
    """Where a moment touches a thing: in the middle of a turn, if it is one."""
    number = moment.number
    found = [m["at"] for n, m in case.moments() if n == number and m["thing"] == thing and m["at"]]
    if not found:
        return case.at(moment)
    return str(found[-1 if last else 0])


def _lines(first: str, last: str) -> str:
    one, other = place_in(first), place_in(last)
    if one == other:
        return f"around line {one.line}"
    if one.file != other.file or one.line > other.line:
        return f"from {first} to {last}"
    return f"from line {one.line} to line {other.line}"
