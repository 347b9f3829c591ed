"""A recorded run as a history: its events of kind `call` and `return`, in the order of the lines.

A call has the operation in `fn`, and in `set` what else is known: `argument`, `key`. A return has `result`,
and `outcome` (`ok`, `fail` or `info`) if it is not ok. A program that is recorded writes them by
`possibly.event("call", fn="put", ...)` and `possibly.event("return", fn="put", ...)`: then they are labels,
and `fn` is a variable. Functions that are entered and left do not count, since nothing tells what they
returned.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.errors import TraceError
from possibly.trace.histories.entries import INVOKE, OUTCOMES, Entry, history_from
from possibly.trace.histories.model import History
from possibly.trace.histories.read import frozen
from possibly.trace.model import Event, Trace

CALLS = {"call": INVOKE, "return": "ok"}


def history_of_trace(trace: Trace) -> History:
    """The calls and returns of the run."""
    events = [trace.event(number) for number in range(len(trace))]
    entries = list(_entries(events))
    if not entries:
        raise TraceError(
            "no calls and returns in this run", file=trace.file, hint="events of kind call and return with fn"
        )
    return history_from(entries, trace.file)


def _entries(events: list[Event]) -> Iterator[Entry]:
    for event in events:
        kind = CALLS.get(event.kind) or CALLS.get(event.label or "")
        name = event.fn or event.set.get("fn")
        if kind is not None and isinstance(name, str):
            yield _entry(event, kind, name)


def _entry(event: Event, kind: str, name: str) -> Entry:
    said = event.set
    outcome = said.get("outcome")
    if kind != INVOKE and isinstance(outcome, str) and outcome in OUTCOMES:
        kind = outcome
    value = frozen(said.get("argument" if kind == INVOKE else "result"))
    return Entry(event.process, kind, name, value, frozen(said.get("key")), None, event.number + 2)
