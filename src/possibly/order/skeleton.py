"""The skeletal representation of a slice: for each event and each process, the first event that needs it.

Here belongs F of Sen's thesis (section 4.2, figure 4.2): F(e)[j] is the earliest event of process j that no
cut of the slice contains without e. The edges from each e to its successor and to every F(e)[j] have the
same cuts as the slice, and there are at most n for each event. It is made from J(f), the least cut with f,
of one process after another: along a process both never go back, so two pointers suffice for each pair of
processes. Nothing but one row of J for each event of one process is held at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.order.computation import Place
from possibly.order.slice import Edge, Slice


def first_needing(part: Slice) -> Iterator[tuple[Place, int, int]]:
    """(e, j, y): event y of process j is the first that needs e; y is one too many if none does."""
    lengths = part.computation.lengths
    for j, length in enumerate(lengths):
        least = list(part.irreducible(j))
        for i, count in enumerate(lengths):
            y = 0
            for x in range(1, count + 1):
                while y < length and not _needs(least[y], i, x):
                    y += 1
                yield (i, x), j, y + 1


def _needs(least: tuple[int, ...] | None, process: int, position: int) -> bool:
    """No cut at all contains an event without a least cut, so it needs everything."""
    return least is None or least[process] >= position


def skeleton(part: Slice) -> Iterator[Edge]:
    """The edges (e, f) of the skeletal representation between events, those to later events of e's own
    process left out; what is in every cut or in none stands in the bounds of the slice."""
    lengths = part.computation.lengths
    for (i, x), j, y in first_needing(part):
        if y <= lengths[j] and not (i == j and y >= x):
            yield (i, x), (j, y)
