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
from possibly.control.why import Cause
from possibly.session.why import sources
from possibly.session.why.cancelled import cancelled_inside, cancelled_with_its_group
from possibly.session.why.case import Case, Remedy
from possibly.session.why.early import (
    missing_join,
    not_waited_for,
    order_needed,
    seen_too_early,
    told_too_early,
)
from possibly.session.why.misused import (
    in_one_generator,
    in_order_of_their_ends,
    not_made_for_several,
    time_out_first,
    used_after_its_end,
    used_from_another_thread,
)
from possibly.session.why.reading import place_on, writes
from possibly.session.why.stuck import (
    full_queues,
    lock_order,
    lost_wake_up,
    nobody_left,
    nobody_notifies,
    nobody_tells,
    pool_waits_for_itself,
    waiting_in_circles,
)
from possibly.session.why.together import (
    both_look_first,
    calls_in_turn,
    half_written,
    not_atomic,
    through_a_library,
    two_at_once,
)
from possibly.trace.place import place_in

CLOSING = frozenset({"close", "aclose", "shutdown", "stop", "terminate", "disconnect", "unlink", "clear"})
ARRIVING = frozenset({"put", "put_nowait", "append", "appendleft", "send", "write"})
TAKING = frozenset({"get", "get_nowait"})

WRONG_END = "takes what came last: pop(0), or popleft() of a deque, takes the oldest"


def remedy_of(execution: Execution, details: dict[str, Any], cause: Cause | None) -> Remedy | None:
    case = Case(execution, details, cause or Cause())
    return next((found for pattern in PATTERNS if (found := pattern(case)) is not None), None)


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
    line = case.line(f"{place_in(waits[-1].operation.at).file}:{test.lineno}")
    words = f"use `while {question}:` instead of `if` at {line}: it may be true again after wait()"
    return Remedy("if instead of while", words)


def _forgotten_await(case: Case) -> Remedy | None:
    mark = b"' was never awaited"
    before, found, _ = case.execution.output.partition(mark)
    if not found:
        return None
    name = before.rpartition(b"coroutine '")[2].decode("utf-8", "replace")
    return Remedy("forgotten await", f"write `await` before the call of {name}(): it never ran")


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
        if moment.task != case.details.get("task") and writes(moment, pair.thing)
    ]
    if not changes:
        return None
    line, change = case.line(place), case.line(case.at(changes[0]))
    words = f"hold one lock around the loop at {line} and around {change}"
    if line == change:
        words = f"hold one lock around {line}, the same for all tasks"
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
    asks = f"{asked['method']}() at {case.line(asked['at'])}"
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
                words = f"let {name} come to its end before {min(closing)}() at {case.line(at)}"
                return Remedy("use after close", words)
    return None


def _order_of_arrival(case: Case) -> Remedy | None:
    """Two tasks bring something, and whoever takes it relies on their order."""
    for pair in case.cause.pairs:
        both = [sources.methods_at(place_on(case, each, pair.thing)) for each in (pair.first, pair.then)]
        kinds = {pair.first.operation.kind, pair.then.operation.kind}
        if not all(methods & ARRIVING for methods in both) and not kinds <= {"put", "send"}:
            continue
        thing = case.name(pair.thing or pair.then.operation.thing)
        pops = [m for _, m in case.moments() if m["at"] and sources.plain_pops(m["at"])]
        if pops:
            return Remedy("wrong end of a queue", f"pop() at {case.line(pops[-1]['at'])} {WRONG_END}")
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
            return Remedy("wrong end of a queue", f"pop() at {case.line(moment['at'])} {WRONG_END}")
    return None


PATTERNS: tuple[Callable[[Case], Remedy | None], ...] = (
    used_from_another_thread, lock_order, lost_wake_up, nobody_notifies, full_queues, nobody_left,
    pool_waits_for_itself, waiting_in_circles, _forgotten_await, used_after_its_end, in_one_generator,
    _empty_is_not_done, cancelled_inside, _if_not_while, _changed_while_iterating, _use_after_close,
    missing_join, told_too_early, seen_too_early, in_order_of_their_ends, _order_of_arrival, two_at_once,
    not_atomic, _wrong_end, both_look_first, calls_in_turn,
    through_a_library, not_made_for_several, half_written, order_needed,
    time_out_first, cancelled_with_its_group, not_waited_for, nobody_tells,
)  # fmt: skip
"""Those that need more to be there come first."""
