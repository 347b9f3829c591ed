"""Whether a formula allows arbitrarily long steps from a state: a cycle from which an end can be reached.

"It is possible to identify during a search when such a cycle exists and report it to the user" ("Temporal
debugging for concurrent systems", section 5). A depth-first search does so as it goes (`Path.loop`); this
file decides it exactly, whatever the search: the reachable pairs, those of them from which an accepting pair
can be reached, and a cycle among these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from possibly.control.temporal.product import Pair, Product
from possibly.control.temporal.system import State

MOST_PAIRS = 2_000_000


class TooManyPairsError(Exception):
    """The product is too large to decide it."""


def loop_of(
    product: Product, check: Callable[[int], None] = lambda visited: None
) -> tuple[State, ...] | None:
    """The system states of a cycle that allows arbitrarily long steps; None: there is none."""
    graph = _reachable(product, check)
    useful = _leading_to(graph, [pair for pair in graph if product.is_accepting(pair)])
    cycle = _cycle(
        {pair: [after for after in graph[pair] if after in useful] for pair in graph if pair in useful}
    )
    return None if cycle is None else tuple([pair[0] for pair in cycle])


def _reachable(product: Product, check: Callable[[int], None]) -> dict[Pair, list[Pair]]:
    graph: dict[Pair, list[Pair]] = {}
    pending = product.roots()
    while pending:
        pair = pending.pop()
        if pair in graph:
            continue
        graph[pair] = [after for _, after in product.successors(pair)]
        pending.extend([after for after in graph[pair] if after not in graph])
        if len(graph) % 1024 == 0:
            check(len(graph))
        if len(graph) > MOST_PAIRS:
            raise TooManyPairsError
    return graph


def _leading_to(graph: dict[Pair, list[Pair]], goals: Sequence[Pair]) -> set[Pair]:
    before: dict[Pair, list[Pair]] = {}
    for pair, following in graph.items():
        for after in following:
            before.setdefault(after, []).append(pair)
    found, pending = set(goals), list(goals)
    while pending:
        for pair in before.get(pending.pop(), ()):
            if pair not in found:
                found.add(pair)
                pending.append(pair)
    return found


def _cycle(graph: dict[Pair, list[Pair]]) -> list[Pair] | None:
    """Some cycle of a graph, by depth-first search."""
    finished: set[Pair] = set()
    for root in graph:
        if root in finished:
            continue
        way: dict[Pair, Iterator[Pair]] = {root: iter(graph[root])}
        while way:
            pair, rest = next(reversed(way.items()))
            for after in rest:
                if after in way:
                    pairs = list(way)
                    return pairs[pairs.index(after) :]
                if after not in finished:
                    way[after] = iter(graph[after])
                    break
            else:
                finished.add(pair)
                del way[pair]
    return None
