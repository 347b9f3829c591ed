"""Whether two traces tell the same run, however their tables are numbered."""

from __future__ import annotations

from collections.abc import Iterator

from possibly.trace.model import Trace


def same_run(one: Trace, other: Trace) -> bool:
    """Same header and the same events with the same facts in the same order."""
    return all(a == b for a, b in zip(facts(one), facts(other), strict=False)) and len(one) == len(other)


def facts(trace: Trace) -> Iterator[str]:
    """All that a trace tells, a line a fact; `repr` tells 1, 1.0 and True apart."""
    yield repr(
        [(process.name, dict(process.init), process.declared, process.parent) for process in trace.processes]
    )
    yield repr((dict(trace.shared), dict(trace.header)))
    for event in range(len(trace)):
        yield repr((trace.event(event), dict(trace.extra.get(event, {}))))
    yield repr(list(zip(trace.delivery_send, trace.delivery_receive, trace.delivery_to, strict=True)))
