"""The direct order between processes: which event comes directly after which of another process.

Here belongs how messages, `after`, conflicting accesses, joint events and added pairs become edges. The pass
over all of them is written twice: plainly here, and in `_edges.c`, which is built when a compiler is there.
Both yield the same two columns, the later and the earlier event of each edge, ascending and each once.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise

from possibly.errors import TraceError
from possibly.order.compiled import edge_kernel
from possibly.trace.model import NONE, Ints, Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FIRST = (1 << 32) - 1
"""Of an edge as a number: the event that comes first; the one behind it stands above."""


def direct_edges(
    trace: Trace, order: str, joint: Mapping[int, tuple[int, ...]], extra: Iterable[tuple[int, int]]
) -> tuple[Ints, Ints]:
    """Each event that has predecessors on other processes, as often as it has, and these predecessors."""
    more = [second << 32 | first for first, second in _in_order(trace, extra)]
    more += [event << 32 | line for event, lines in joint.items() for line in lines if line != event]
    kernel = edge_kernel()
    if kernel is None:
        return plain_edges(trace, order, more)
    return _compiled_edges(kernel, trace, order, more)


def _compiled_edges(kernel: Any, trace: Trace, order: str, more: list[int]) -> tuple[Ints, Ints]:
    conflicts = [trace.read_start, trace.read_variable, trace.write_start, trace.write_variable]
    if order != "causal" or trace.write_start is None:
        conflicts = [None] * 4
    messages = [trace.delivery_send, trace.delivery_receive]
    columns = [trace.process, *messages, trace.after_start, trace.after_event, *conflicts]
    try:
        found = kernel.edges(len(trace.strings), array("Q", sorted(more)), *map(_buffer, columns))
    except IndexError:
        raise TraceError("an event depends on one that is not there", file=trace.file) from None
    later, earlier = (memoryview(column).cast("i") for column in found)
    return later, earlier


def _buffer(column: Ints | None) -> Any:
    """The column as a kernel reads it."""
    return column if column is None or isinstance(column, array | memoryview) else array("i", column)


def plain_edges(trace: Trace, order: str, more: Iterable[int]) -> tuple[Ints, Ints]:
    """The twin of the compiled pass."""
    process, found = trace.process, array("Q")
    stated = _stated_order(trace)
    found.extend(second << 32 | first for first, second in stated if process[first] != process[second])
    found.extend(_conflicting_accesses(trace, order, process))
    found.extend(edge for edge in more if process[edge >> 32] != process[edge & _FIRST])
    edges = sorted(found)
    distinct = [edge for edge, before in zip(edges, chain((None,), edges), strict=False) if edge != before]
    return array("i", [edge >> 32 for edge in distinct]), array("i", [edge & _FIRST for edge in distinct])


def message_edges(trace: Trace) -> tuple[Ints, Ints]:
    """The same where messages are all that orders processes: each receive has one send."""
    process = trace.process
    sent = array("i", [NONE]) * len(trace)
    for send, receive in zip(trace.delivery_send, trace.delivery_receive, strict=True):
        if receive != NONE and process[send] != process[receive]:
            sent[receive] = send
    later = array("i", (event for event, send in enumerate(sent) if send != NONE))
    return later, array("i", (send for send in sent if send != NONE))


def _in_order(trace: Trace, extra: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for first, second in extra:
        if first >= second:
            raise TraceError(
                f"{trace.name(second)} comes before {trace.name(first)}, which has to happen first",
                file=trace.file,
            )
        yield first, second


def _stated_order(trace: Trace) -> Iterator[tuple[int, int]]:
    """Messages and `after`."""
    for send, receive in zip(trace.delivery_send, trace.delivery_receive, strict=True):
        if receive != NONE:
            yield send, receive
    if trace.after_start is not None:
        for event in _with_entries(trace.after_start):
            for earlier in trace.after(event):
                yield earlier, event


def _conflicting_accesses(trace: Trace, order: str, process: Ints) -> Iterator[int]:
    """In causal order, the conflicts of accesses to shared variables that no others imply, as edges.

    Of the reads by one process between two writes the first is behind the one and the last before the other.
    """
    if order != "causal" or trace.write_start is None:
        return
    read_start = trace.read_start if trace.read_start is not None else bytes(len(trace) + 1)
    written, last_write = trace.write_variable, dict[int, int]()
    last_reads: dict[int, dict[int, int]] = defaultdict(dict)
    bounds = zip(pairwise(read_start), pairwise(trace.write_start), strict=True)
    for event, ((first_read, end_read), (first_write, end_write)) in enumerate(bounds):
        if first_read == end_read and first_write == end_write:
            continue
        own, behind = process[event], event << 32
        writes = written[first_write:end_write] if first_write != end_write else ()
        for variable in trace.read_variable[first_read:end_read]:
            reads, earlier = last_reads[variable], last_write.get(variable, NONE)
            if earlier != NONE and own not in reads and process[earlier] != own:
                yield behind | earlier
            if variable not in writes:
                reads[own] = event
        for variable in writes:
            for reader, earlier in last_reads.pop(variable, {}).items():
                if reader != own:
                    yield behind | earlier
            earlier = last_write.get(variable, NONE)
            if earlier != NONE and process[earlier] != own:
                yield behind | earlier
            last_write[variable] = event


def _with_entries(start: Ints) -> Iterator[int]:
    """The events whose range is not empty."""
    for event, (first, last) in enumerate(pairwise(start)):
        if first != last:
            yield event
