"""The strongly connected components of a slice: the events that every cut has all of, or none of.

Here belongs one algorithm (Tarjan, "Depth-first search and linear graph algorithms") over the sparse graph
of a slice: an event needs the one before it on its process, what its links say, and, where a cut may not
stop after it, the one that follows. Nothing of the size events x processes is built; the compiled twin
takes about sixteen bytes an event. The components are the slice's skeletal representation (Sen's thesis,
section 4.2): the least cuts that contain one of them are its join-irreducible cuts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from possibly.errors import TraceError
from possibly.order.bitmaps import Bits
from possibly.order.compiled import kernels
from possibly.order.kernels import Source, from_the_first
from possibly.order.slice import Slice


class Components(NamedTuple):
    """Events are numbered along the processes, one process after the other."""

    number: Sequence[int]
    """Of each event the number of its component."""
    total: int
    """How many there are."""
    last: Sequence[int]
    """Of each process the last position that is in a component of several events, 0 if none is."""


def components(part: Slice) -> Components:
    """Of all events, whatever the bounds of the slice."""
    computation = part.computation
    own = ((f, e) for e, f in part.edges)
    links = (computation.needed, *([computation.links_of(own)] if part.edges else []))
    sources = tuple(map(from_the_first, links))
    try:
        kernel = kernels()
        if kernel is None:
            return _components(computation.lengths, part.bitmaps, sources)
        lengths = array("i", computation.lengths)
        number, count, last = kernel.components(lengths, part.bitmaps.data, sources)
    except IndexError:
        message = "an event depends on one that is not there"
        raise TraceError(message, file=computation.trace.file) from None
    return Components(memoryview(number).cast("i"), count, memoryview(last).cast("i"))


def last_of_several_steps(part: Slice) -> Sequence[int]:
    """Of each process the last position that is in a component of several steps, 0 if none is."""
    computation = part.computation
    found = components(part)
    if not computation.joint:
        return found.last
    steps: dict[int, set[int]] = {}
    members = [(p, x) for p, length in enumerate(computation.lengths) for x in range(1, length + 1)]
    for (process, position), number in zip(members, found.number, strict=True):
        step = computation.step(computation.at(process, position))
        steps.setdefault(number, set()).add(step)
    last = [0] * len(computation.lengths)
    for (process, position), number in zip(members, found.number, strict=True):
        if len(steps[number]) > 1:
            last[process] = position
    return last


# ---- the plain twin ---------------------------------------------------------------------------------


def _components(
    lengths: Sequence[int], states: Sequence[Bits | None], sources: tuple[Source, ...]
) -> Components:
    needs = [list(_needs(process, lengths, states, sources)) for process in range(len(lengths))]
    edges = [ends for process in needs for ends in process]
    number, count = tarjan(edges)
    size = [0] * count
    for component in number:
        size[component] += 1
    base = [0, *accumulate(lengths)]
    last = []
    for process, length in enumerate(lengths):
        inside = [x for x in range(1, length + 1) if size[number[base[process] + x - 1]] > 1]
        last.append(max(inside, default=0))
    return Components(number, count, last)


def _needs(
    process: int, lengths: Sequence[int], states: Sequence[Bits | None], sources: tuple[Source, ...]
) -> Iterator[list[int]]:
    """For each event of a process the events that it needs."""
    base = [0, *accumulate(lengths)]
    found: list[list[int]] = [[] for _ in range(lengths[process])]
    bits = states[process]
    for position in range(1, lengths[process] + 1):
        node = base[process] + position - 1
        if position > 1:
            found[position - 1].append(node - 1)
        if bits is not None and position < lengths[process] and not bits[position]:
            found[position - 1].append(node + 1)
    for start, near, end, shift, _ in sources:
        for link in range(start[process], start[process + 1]):
            other, far = end[link] >> shift, end[link] & ((1 << shift) - 1)
            if not 1 <= far <= lengths[other]:
                raise IndexError("a link leads out of the trace")
            found[near[link] - 1].append(base[other] + far - 1)
    yield from found


def tarjan(edges: Sequence[Sequence[int]]) -> tuple[list[int], int]:
    """Of each node the number of its component, in the order in which they are completed; and how many."""
    index, low = [0] * len(edges), [0] * len(edges)
    number = [-1] * len(edges)
    stack: list[int] = []
    clock, count = 1, 0
    for root in range(len(edges)):
        frames = [] if index[root] else [(root, 0)]
        while frames:
            node, cursor = frames.pop()
            if not cursor:
                index[node] = low[node] = clock
                clock += 1
                stack.append(node)
            if cursor < len(edges[node]):
                frames.append((node, cursor + 1))
                need = edges[node][cursor]
                if not index[need]:
                    frames.append((need, 0))
                elif number[need] < 0:
                    low[node] = min(low[node], index[need])
                continue
            if low[node] == index[node]:
                while number[node] < 0:
                    number[stack.pop()] = count
                count += 1
            if frames:
                parent = frames[-1][0]
                low[parent] = min(low[parent], low[node])
    return number, count
