"""Entries `invoke`, `ok`, `fail`, `info` of processes: the first and one of the others make an operation.

A process has one operation at a time. One that never returns, or returns `info`, is unknown: it may have
happened. Whatever is not of a client (a nemesis that breaks the network) is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from possibly.errors import TraceError
from possibly.trace.histories.model import History, Keyword, Operation, Outcome, Value

INVOKE = "invoke"
OUTCOMES = {each.value: each for each in Outcome}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a history."""

    process: Value
    type: str
    name: str
    value: Value
    key: Value = None
    error: Value = None
    line: int = 0

    @property
    def is_of_a_client(self) -> bool:
        """Whether it is no doing of what breaks the system."""
        return not (isinstance(self.process, Keyword) and self.process.name == "nemesis")


def history_from(entries: Iterable[Entry], file: str | None = None) -> History:
    """The operations that the entries tell of."""
    pending: dict[Value, tuple[int, Entry]] = {}
    done: list[Operation] = []
    moment = 0
    for entry in entries:
        if not entry.is_of_a_client:
            continue
        if entry.type == INVOKE:
            if entry.process in pending:
                raise _error(entry, f"process {entry.process} calls {entry.name} inside another call", file)
            pending[entry.process] = moment, entry
        else:
            if entry.process not in pending:
                raise _error(entry, f"process {entry.process} returns from {entry.name} without a call", file)
            done.append(_operation(*pending.pop(entry.process), entry, moment, file))
        moment += 1
    done += [_unfinished(called, entry) for called, entry in pending.values()]
    return History(tuple(sorted(done, key=lambda each: each.called)), moment, file)


def _operation(called: int, call: Entry, end: Entry, moment: int, file: str | None) -> Operation:
    if end.name != call.name:
        raise _error(end, f"process {end.process} returns from {end.name} but called {call.name}", file)
    if end.key is not None and call.key is not None and end.key != call.key:
        raise _error(end, f"process {end.process} returns with another key than it called with", file)
    outcome = OUTCOMES[end.type]
    return replace(
        _unfinished(called, call),
        key=call.key if call.key is not None else end.key,
        result=end.value if outcome is Outcome.OK else None,
        outcome=outcome,
        returned=moment if outcome is not Outcome.UNKNOWN else None,
        error=end.error,
    )


def _unfinished(called: int, call: Entry) -> Operation:
    process = str(call.process)
    return Operation(
        process, call.name, call.value, None, Outcome.UNKNOWN, called, None, call.key, None, call.line
    )


def _error(entry: Entry, message: str, file: str | None) -> TraceError:
    return TraceError(message, file=file, line=entry.line, hint="a process has one operation at a time")
