"""Which names a formula about a trace may use."""

from __future__ import annotations

from possibly.logic.bind import Vocabulary
from possibly.trace.model import NONE, Ints, Trace


def vocabulary(trace: Trace) -> Vocabulary:
    """Every process, every variable that the header or an event sets, every function and label."""
    local: list[set[str]] = [set(process.init) for process in trace.processes]
    for number, name in trace.course_numbers:
        local[number].add(name)
    shared = set(trace.shared)
    shared.update(trace.strings[name] for name in set(trace.write_variable))
    return Vocabulary(
        processes=tuple(process.name for process in trace.processes),
        locals={p.name: frozenset(names) for p, names in zip(trace.processes, local, strict=True)},
        shared=frozenset(shared),
        functions=_strings(trace, trace.function),
        labels=_strings(trace, trace.label),
        remedy=_remedy(trace) if "recorded" in trace.header else "",
    )


def _remedy(trace: Trace) -> str:
    from possibly.trace.recorded import recorded_of

    recorded = recorded_of(trace.header)
    return "" if recorded is None else f"`{recorded.watching}` records it"


def _strings(trace: Trace, column: Ints | None) -> frozenset[str]:
    if column is None:
        return frozenset()
    return frozenset(trace.strings[number] for number in set(column) if number != NONE)
