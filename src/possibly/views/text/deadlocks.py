"""Predicted deadlocks as text and as JSON: who holds what, who waits for whom, and the way there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from possibly.session.checking.deadlocks import DeadlockReport
from possibly.trace.model import Trace
from possibly.verdict.deadlocks import END, ITEM, LOCK, OUTCOME, ROOM, SIGNAL, UNIT, Deadlock, Request
from possibly.views.text.words import plain

Quote = Callable[[str | None], str | None]
NONE_FOUND = "no deadlocks: no order of the run that keeps the order of critical sections reaches one"
TOLD = ("acquire", "release", "spawn", "join", "wake", "notify", "send", "receive", "set", "wait")
WORDS = {
    LOCK: "{thing} of {others}",
    END: "the end of {others}",
    UNIT: "a unit of {thing}, held by {others}",
    ROOM: "room in {thing}, from {others}",
    ITEM: "an item in {thing}, from {others}",
    SIGNAL: "a signal of {thing}, from {others}",
    OUTCOME: "the result of {others}",
}
"""What is waited for."""
MOST_STEPS = 12
"""Of the order that are told."""


def lines_of(report: DeadlockReport, quote: Quote) -> Iterator[str]:
    """The report for a reader."""
    for deadlock in report.deadlocks:
        yield from deadlock_lines(report.trace, deadlock, quote)
    for assumed in report.assumed:
        yield f"  assumed: {assumed}"
        if report.remedy is not None:
            yield plain(f"  to record them: {report.remedy}")
    if report.reason is not None:
        yield f"undecided: {report.reason}"
    elif not report.deadlocks:
        yield NONE_FOUND


def deadlock_lines(trace: Trace, deadlock: Deadlock, quote: Quote) -> Iterator[str]:
    """One deadlock for a reader."""
    yield from map(plain, _told(trace, deadlock, quote))


def _told(trace: Trace, deadlock: Deadlock, quote: Quote) -> Iterator[str]:
    names = [trace.processes[each.process].name for each in deadlock.requests]
    yield f"DEADLOCK  {', '.join(names[:-1])} and {names[-1]} wait for each other"
    for request in deadlock.requests:
        yield f"    {_holding(trace, request)}"
        at = trace.text(trace.place, request.event)
        source = f"  {quoted}" if (quoted := quote(at)) else ""
        yield f"        waits for {_wanted(trace, request)}{f' at {at}' if at else ''}{source}"
    steps = [event for event in deadlock.path if trace.strings[trace.kind[event]] in TOLD]
    yield f"  After {len(deadlock.path):,} of {len(trace):,} events, in this order:"
    if len(steps) > MOST_STEPS:
        yield f"    … {len(steps) - MOST_STEPS:,} steps"
    yield from (f"    {_step(trace, event)}" for event in steps[-MOST_STEPS:])


def _holding(trace: Trace, request: Request) -> str:
    held = [f"{trace.strings[each.thing]}{_where(trace, each.acquire, ' since ')}" for each in request.holds]
    name = trace.processes[request.process].name
    return f"{name} holds {', '.join(held)}" if held else f"{name} holds no lock"


def _wanted(trace: Trace, request: Request) -> str:
    others = " and ".join(trace.processes[target].name for target in request.targets)
    return WORDS[request.want.kind].format(thing=_thing(trace, request), others=others)


def _thing(trace: Trace, request: Request) -> str | None:
    return None if request.want.kind in (END, OUTCOME) else trace.strings[request.want.thing]


def _where(trace: Trace, event: int, before: str) -> str:
    at = trace.text(trace.place, event)
    return f"{before}{at}" if at else ""


def _step(trace: Trace, event: int) -> str:
    tag = trace.text(trace.tag, event)
    words = (trace.processes[trace.process[event]].name, trace.strings[trace.kind[event]], tag)
    return " ".join(word for word in words if word) + _where(trace, event, "  ")


# ---- JSON ---------------------------------------------------------------------------------------


def document(report: DeadlockReport, path: str) -> dict[str, Any]:
    """The report for a program."""
    verdict = "violated" if report.deadlocks else "unknown" if report.reason else "holds"
    return {
        "trace": path,
        "verdict": verdict,
        "assumed": list(report.assumed),
        "reason": report.reason,
        "deadlocks": [_deadlock(report.trace, each) for each in report.deadlocks],
    }


def _deadlock(trace: Trace, deadlock: Deadlock) -> dict[str, Any]:
    names = [process.name for process in trace.processes]
    return {
        "requests": [_request(trace, each) for each in deadlock.requests],
        "cut": dict(zip(names, deadlock.cut, strict=True)),
        "path": [trace.name(event) for event in deadlock.path],
    }


def _request(trace: Trace, request: Request) -> dict[str, Any]:
    return {
        "process": trace.processes[request.process].name,
        "event": trace.name(request.event),
        "at": trace.text(trace.place, request.event),
        "waits_for": trace.processes[request.targets[0]].name,
        "wants": request.want.kind,
        "from": [trace.processes[target].name for target in request.targets],
        "lock": _thing(trace, request),
        "holds": [
            {
                "lock": trace.strings[each.thing],
                "event": trace.name(each.acquire),
                "at": trace.text(trace.place, each.acquire),
            }
            for each in request.holds
        ],
    }
