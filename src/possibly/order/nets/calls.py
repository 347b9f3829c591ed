"""Locals of calls: a variable that begins and ends with a call of its function, also of a recursive one.

Here belongs how a recorder tells of a local `x` of a function f: each event that assigns it sets `x` and
`f.x` to the same value, while f is on top of the task's stack (or is just entered). Where all events of a
task do so, the two are one variable, and it belongs to the call: a new call begins without a value, and
after its end that of the caller, if it has one, is seen again. Variables that are told otherwise, as in
traces written by hand, keep their value whatever is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from possibly.logic.predicates.functions import MISSING
from possibly.trace.model import Trace, Value

Calls = tuple[tuple[str, Value], ...]
"""The functions on the stack, and what the variable is in each."""


@dataclass(frozen=True, slots=True)
class CallLocals:
    """For each count of a task's events the calls under way, those alone whose function has the variable."""

    calls: tuple[Calls, ...]

    def innermost(self, count: int) -> Value:
        return self.calls[count][-1][1] if self.calls[count] else MISSING

    def of(self, function: str, count: int) -> Value:
        """In the innermost call of that function."""
        return next((value for name, value in reversed(self.calls[count]) if name == function), MISSING)


def call_locals(trace: Trace, task: int, name: str) -> CallLocals | None:
    """The variable for each count of the task's events; None where it is not told as one of calls."""
    if name in trace.processes[task].init:
        return None
    functions = {
        owner
        for event in trace.events_of[task]
        for variable, _ in trace.sets(event)
        for owner, _, last in [variable.rpartition(".")]
        if owner and last == name
    }
    found = list(_calls(trace, task, name, functions))
    return None if not functions or None in found else CallLocals(tuple([each or () for each in found]))


def _calls(trace: Trace, task: int, name: str, functions: set[str]) -> Iterator[Calls | None]:
    """None stands where an event tells it otherwise."""
    stack: list[str] = []
    calls: Calls = ()
    is_ending = False
    yield calls
    for event in trace.events_of[task]:
        if is_ending and stack.pop() in functions:
            calls = calls[:-1]
        kind, function = trace.strings[trace.kind[event]], trace.text(trace.function, event)
        if kind == "enter" and function is not None:
            stack.append(function)
            calls = (*calls, (function, MISSING)) if function in functions else calls
        is_ending = kind == "exit" and function is not None and bool(stack)
        told = _told(dict(trace.sets(event)), name)
        if told is not None:
            if not stack or stack[-1] != told[0] or told[1] is MISSING:
                yield None
                return
            calls = (*calls[:-1], told)
        yield calls


def _told(assigned: Mapping[str, Value], name: str) -> tuple[str, Value] | None:
    """The function and the value that an event tells of; MISSING if it is not told as recorders do."""
    owners = [variable.rpartition(".")[0] for variable in assigned if variable.rpartition(".")[2] == name]
    if not owners:
        return None
    (function,) = [owner for owner in owners if owner][:1] or [""]
    is_told = sorted(owners) == ["", function] and assigned[name] == assigned[f"{function}.{name}"]
    return function, assigned[name] if function and is_told else MISSING
