"""Dependencies between transactions: who must come before whom, and why.

ww: it wrote the version before. wr: the other read what it wrote. rw: it read a version, and the other
wrote the next. rt: it returned before the other was called. Between the two of a real-time pair stand
moments of a clock, so that the edges are as many as the transactions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from possibly.detection.transactions.versions import Key, Lists
from possibly.trace.histories.model import Value, shown
from possibly.trace.histories.transactions import Transaction
from possibly.verdict.transactions import Edge

WW, WR, RW, RT = "ww", "wr", "rw", "rt"


class Graph:
    """Edges by the transaction that they leave. Moments of the clock are negative numbers."""

    def __init__(self) -> None:
        self.edges: dict[int, dict[int, Edge]] = {}
        """For each pair one edge, of those in the order ww, wr, rw, rt the first."""

    def add(self, edge: Edge) -> None:
        if edge.first == edge.second:
            return
        before = self.edges.setdefault(edge.first, {})
        known = before.get(edge.second)
        if known is None or _RANK[edge.kind] < _RANK[known.kind]:
            before[edge.second] = edge

    def after(self, node: int) -> Iterable[Edge]:
        return self.edges.get(node, {}).values()


_RANK = {WW: 0, WR: 1, RW: 2, RT: 3}


def of_lists(lists: Lists) -> Graph:
    """The dependencies that appends and reads of lists show."""
    graph = Graph()
    for name, key in lists.keys.items():
        _add_key(graph, name, key, lists.happened)
    return graph


def _add_key(graph: Graph, name: Value, key: Key, happened: frozenset[int]) -> None:
    writers = [key.writer.get(element) for element in key.order]
    about = f"key {shown(name)}"
    for number in range(1, len(writers)):
        first, second = writers[number - 1], writers[number]
        if first is not None and second is not None:
            why = f"{shown(key.order[number])} was appended to {about} after {shown(key.order[number - 1])}"
            graph.add(Edge(first, second, WW, why))
    last = writers[-1] if writers else None
    for later in key.unread:
        if last is not None:
            graph.add(Edge(last, later, WW, f"it appended to {about} what nobody had read"))
    for read in key.reads:
        _add_read(graph, read.transaction, read.elements, key, writers, about)


def _add_read(
    graph: Graph,
    reader: int,
    elements: Sequence[Value],
    key: Key,
    writers: Sequence[int | None],
    about: str,
) -> None:
    count = len(elements)
    if count and (writer := key.writer.get(elements[-1])) is not None:
        graph.add(Edge(writer, reader, WR, f"it read {shown(elements[-1])} from {about}"))
    following = [writer for writer in writers[count:] if writer not in (None, reader)][:1]
    for later in following or key.unread:
        if later is not None:
            graph.add(Edge(reader, later, RW, f"it appended to {about} what had not been read yet"))


def add_real_time(graph: Graph, transactions: Sequence[Transaction], happened: Iterable[int]) -> None:
    """Transactions that returned before others were called, by way of a clock."""
    known = set(happened)
    moments = sorted(
        (moment, is_call, each.number)
        for each in transactions
        if each.number in known
        for moment, is_call in ((each.operation.called, True), (each.operation.returned, False))
        if moment is not None
    )
    clock = 0
    for _, is_call, number in moments:
        if is_call:
            if clock:
                graph.add(Edge(clock, number, RT))
        else:
            graph.add(Edge(number, clock - 1, RT))
            if clock:
                graph.add(Edge(clock, clock - 1, RT))
            clock -= 1
