"""Cycles of dependencies: a shortest one, and what it is called.

"Generalized isolation level definitions" (Adya, Liskov and O'Neil), section 5, gives the names. For
snapshot isolation a cycle counts only if no two anti-dependencies (rw) of it follow each other ("Analysing
snapshot isolation", Cerone and Gotsman, theorem 4): it is a cycle of a graph in which a node remembers
whether an rw led to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from possibly.detection.transactions.dependencies import RT, RW, WW, Graph
from possibly.verdict.transactions import Edge

Node = tuple[int, bool]
"""A transaction or a moment of the clock, and for snapshots whether an rw led to it."""
Step = tuple[Node, Edge]
Follow = Callable[[Node], Iterable[Step]]


def cycle_of(graph: Graph, snapshot: bool = False) -> tuple[Edge, ...] | None:
    """A shortest cycle, without the moments of the clock; None if there is none."""
    follow = _without_adjacent(graph) if snapshot else _plain(graph)
    cyclic = _in_cycles([(node, False) for node in graph.edges], follow)
    found = [cycle for node in cyclic if (cycle := _shortest(node, follow, cyclic)) is not None]
    return min(found, key=_weight, default=None)


def _weight(cycle: Sequence[Edge]) -> tuple[int, int]:
    return sum(edge.kind in (RW, RT) for edge in cycle), len(cycle)


def _plain(graph: Graph) -> Follow:
    return lambda node: [((edge.second, False), edge) for edge in graph.after(node[0])]


def _without_adjacent(graph: Graph) -> Follow:
    def follow(node: Node) -> Iterable[Step]:
        number, after_rw = node
        for edge in graph.after(number):
            if edge.kind != RW:
                yield (edge.second, False), edge
            elif not after_rw:
                yield (edge.second, True), edge

    return follow


def _in_cycles(starts: Sequence[Node], follow: Follow) -> list[Node]:
    """A node of each strongly connected component that has a cycle (Tarjan, without recursion)."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    on_stack: set[Node] = set()
    stack: list[Node] = []
    found: list[Node] = []
    for start in starts:
        if start in index:
            continue
        work = [(start, iter(list(follow(start))))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, rest = work[-1]
            for other, _ in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(list(follow(other)))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found += _component(node, stack, on_stack)
    return found


def _component(node: Node, stack: list[Node], on_stack: set[Node]) -> list[Node]:
    """Takes a component off the stack: all its nodes if they are several."""
    members = []
    while True:
        members.append(stack.pop())
        on_stack.discard(members[-1])
        if members[-1] == node:
            return members if len(members) > 1 else []


MOST_STARTS = 200
"""Nodes of which a shortest cycle is looked for."""


def _shortest(start: Node, follow: Follow, inside: Sequence[Node]) -> tuple[Edge, ...] | None:
    if start not in inside[:MOST_STARTS]:
        return None
    came: dict[Node, tuple[Node, Edge]] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other, edge in follow(node):
            if other == start:
                return _told(start, node, edge, came)
            if other not in came:
                came[other] = node, edge
                queue.append(other)
    return None


def _told(start: Node, node: Node, last: Edge, came: dict[Node, tuple[Node, Edge]]) -> tuple[Edge, ...]:
    edges = [last]
    while node != start:
        node, edge = came[node]
        edges.append(edge)
    return tuple(_without_clock(edges[::-1]))


def _without_clock(edges: Sequence[Edge]) -> list[Edge]:
    """Edges through moments become one from a transaction to a transaction."""
    if all(edge.first < 0 for edge in edges):
        return list(edges)
    while edges[0].first < 0:
        edges = [*edges[1:], edges[0]]
    found: list[Edge] = []
    for edge in edges:
        if edge.first < 0:
            found[-1] = Edge(found[-1].first, edge.second, RT, "it had returned before the other was called")
        else:
            found.append(edge)
    return found


def name_of(cycle: Sequence[Edge]) -> str:
    """G0, G1c, G-single or G2, and whether real time is part of it."""
    kinds = [edge.kind for edge in cycle]
    conflicts = kinds.count(RW)
    if conflicts:
        name = "G-single" if conflicts == 1 else "G2"
    else:
        name = "G0" if set(kinds) <= {WW, RT} else "G1c"
    return f"{name}-realtime" if RT in kinds else name
