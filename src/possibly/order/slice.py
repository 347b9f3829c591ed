"""A slice: the cuts of a computation that satisfy added constraints, without visiting any of them.

Here belongs the slice as a structure: what it is made of, its least and greatest cut, how slices combine.
Which slice a formula has is decided in `detection.slicing`.

Theory of operation (Sen's thesis, section 4.2). Adding edges to a computation leaves a sublattice of its
cuts: an edge (e, f) says that a cut with f contains e. Three forms of edges are kept apart because they are
compact: bounds (an edge from a fictitious event: every cut contains e, no cut contains f); for each process
one byte a local state that says whether a cut may stop there (a forbidden state s is the edge from event
s + 1 to event s); and a list of all others. Nothing of the size events x processes is stored.

`least` raises each process to its next allowed state and follows edges from there; every edge is read at
most once and internal events cost nothing, so it takes time linear in what lies inside the cut. `greatest`
is the mirror image. Both can start from a given cut, which is how the least cut containing an event, the
slice's join-irreducible cuts and the enumeration of all its cuts are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from possibly.order.computation import Arcs, Computation, Cut, Place, join, meet
from possibly.records import dataclass, field, replace

Edge = tuple[Place, Place]
"""(e, f): a cut with f contains e."""


@dataclass(frozen=True)
class Slice:
    """Constraints on the cuts of a computation; the cuts that meet them all form a sublattice."""

    computation: Computation
    low: Cut
    """Every cut contains at least these."""
    high: Cut
    """No cut contains more than these."""
    allowed: Mapping[int, bytes] = field(default_factory=dict)
    """For some processes one byte a local state: 1 where a cut may stop."""
    edges: tuple[Edge, ...] = ()
    void: bool = False
    """There is no cut at all."""
    lean: bool | None = True
    """Every cut satisfies the predicate (None: not known)."""
    exact: bool = True
    """It is the smallest sublattice with all cuts that satisfy the predicate (False: it may be larger)."""

    # ---- the ends -------------------------------------------------------------------------------

    @cached_property
    def least(self) -> Cut | None:
        return self.least_from(self.low)

    @cached_property
    def greatest(self) -> Cut | None:
        return self.greatest_from(self.high)

    @property
    def is_empty(self) -> bool:
        return self.least is None

    @cached_property
    def _needs(self) -> Arcs:
        """For each f the events e of edges (e, f)."""
        return Arcs(len(self.low), ((f, e) for e, f in self.edges))

    @cached_property
    def _enables(self) -> Arcs:
        """For each e the events f of edges (e, f)."""
        return Arcs(len(self.low), self.edges)

    def least_from(self, start: Sequence[int]) -> Cut | None:
        """The least cut of the slice that contains `start`; None if there is none."""
        return _Rise(self).to(start)

    def greatest_from(self, end: Sequence[int]) -> Cut | None:
        """The greatest cut of the slice inside `end`; None if there is none."""
        return _greatest(self, end)

    def _next_allowed(self, process: int, count: int) -> int | None:
        states = self.allowed.get(process)
        if states is None:
            return count
        found = states.find(1, count)
        return None if found < 0 else found

    def _last_allowed(self, process: int, count: int) -> int | None:
        states = self.allowed.get(process)
        if states is None:
            return count if count >= 0 else None
        found = states.rfind(1, 0, count + 1)
        return None if found < 0 else found

    # ---- its cuts -------------------------------------------------------------------------------

    def contains(self, cut: Sequence[int]) -> bool:
        """Whether a consistent cut of the computation belongs to the slice."""
        bounds = zip(self.low, cut, self.high, strict=True)
        if self.void or any(not low <= count <= high for low, count, high in bounds):
            return False
        if any(not states[cut[process]] for process, states in self.allowed.items()):
            return False
        return all(cut[i] < y or cut[j] >= x for (j, x), (i, y) in self.edges)

    def cuts(self) -> Iterator[Cut]:
        """Every cut once: the least, and from each cut the least ones with one event more."""
        if self.least is None:
            return
        seen = {self.least}
        todo = [self.least]
        while todo:
            cut = todo.pop()
            yield cut
            for process, count in enumerate(cut):
                if count < self.high[process]:
                    start = list(cut)
                    start[process] += 1
                    following = self.least_from(start)
                    if following is not None and following not in seen:
                        seen.add(following)
                        todo.append(following)

    def irreducible(self, process: int) -> Iterator[Cut | None]:
        """For each event of a process the least cut of the slice that contains it, None if there is none."""
        rise = _Rise(self)
        start = list(self.computation.initial)
        for position in range(1, self.computation.lengths[process] + 1):
            start[process] = position
            yield rise.to(start)

    def all_edges(self) -> Iterator[tuple[Place | None, Place | None]]:
        """Every edge; None as e is the fictitious last event, None as f the fictitious first one."""
        if self.is_empty:
            yield None, None
            return
        for process, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if low:
                yield (process, low), None
            if high < self.computation.lengths[process]:
                yield None, (process, high + 1)
        for process, states in self.allowed.items():
            for state in _forbidden(states):
                last = state == len(states) - 1
                e = None if last else (process, state + 1)
                f = (process, state) if state else None
                yield e, f
        yield from self.edges


class _Rise:
    """A search for least cuts that goes on from where it stood: no edge is read twice."""

    def __init__(self, slice_: Slice) -> None:
        self.slice = slice_
        self.cut = list(slice_.low)
        self.failed = slice_.void
        self.sources = (slice_.computation.needs, slice_._needs)
        self.read = [[0] * len(self.cut) for _ in self.sources]
        self.fresh = True

    def to(self, start: Sequence[int]) -> Cut | None:
        """The least cut that contains `start` and all that was asked for before."""
        cut = self.cut
        todo = [process for process, count in enumerate(start) if self.fresh or count > cut[process]]
        self.fresh = False
        for process in todo:
            cut[process] = max(cut[process], start[process])
        waiting = set(todo)
        while todo and not self.failed:
            process = todo.pop()
            waiting.discard(process)
            for other in self._settle(process):
                if other not in waiting:
                    waiting.add(other)
                    todo.append(other)
        return None if self.failed else tuple(cut)

    def _settle(self, process: int) -> Iterator[int]:
        """Raise a process to an allowed state and yield those that its events raise in turn."""
        cut = self.cut
        count = self.slice._next_allowed(process, cut[process])
        if count is None or count > self.slice.high[process]:
            self.failed = True
            return
        cut[process] = count
        for arcs, read in zip(self.sources, self.read, strict=True):
            positions, ends, number = arcs.positions[process], arcs.ends[process], read[process]
            while number < len(positions) and positions[number] <= count:
                for other, position in ends[number]:
                    if cut[other] < position:
                        cut[other] = position
                        yield other
                number += 1
            read[process] = number


def _greatest(slice_: Slice, end: Sequence[int]) -> Cut | None:
    """The mirror image of `_Rise`: lower to allowed states, follow edges forward from what is left out."""
    cut = list(map(min, slice_.high, end))
    sources = (slice_.computation.enables, slice_._enables)
    unread = [[len(positions) for positions in arcs.positions] for arcs in sources]
    todo = [] if slice_.void else list(range(len(cut)))
    while todo:
        process = todo.pop()
        count = slice_._last_allowed(process, cut[process])
        if count is None or count < slice_.low[process]:
            return None
        cut[process] = count
        for arcs, left in zip(sources, unread, strict=True):
            positions, ends, number = arcs.positions[process], arcs.ends[process], left[process]
            while number and positions[number - 1] > count:
                number -= 1
                for other, position in ends[number]:
                    if cut[other] >= position:
                        cut[other] = position - 1
                        todo.append(other)
            left[process] = number
    return None if slice_.void else tuple(cut)


def _forbidden(states: bytes) -> Iterator[int]:
    state = states.find(0)
    while state >= 0:
        yield state
        state = states.find(0, state + 1)


# ---- making -----------------------------------------------------------------------------------------


def whole(computation: Computation) -> Slice:
    """The slice for true: every cut."""
    return Slice(computation, computation.initial, computation.final)


def nothing(computation: Computation) -> Slice:
    """The slice for false: no cut."""
    return Slice(computation, computation.initial, computation.final, void=True)


def conjunction(slices: Sequence[Slice]) -> Slice:
    """The cuts in all of them: all constraints together."""
    first = slices[0]
    allowed: dict[int, bytes] = {}
    for part in slices:
        for process, states in part.allowed.items():
            allowed[process] = _both(allowed[process], states) if process in allowed else states
    low, high = first.low, first.high
    for part in slices[1:]:
        low, high = join(low, part.low), meet(high, part.high)
    return replace(
        first,
        low=low,
        high=high,
        allowed=allowed,
        edges=tuple(dict.fromkeys(edge for part in slices for edge in part.edges)),
        void=any(part.void for part in slices),
        lean=None if any(part.lean is not True for part in slices) else True,
        exact=all(part.exact and part.lean is True for part in slices) or (len(slices) == 1 and first.exact),
    )


def _both(first: bytes, second: bytes) -> bytes:
    size = len(first)
    return (int.from_bytes(first, "little") & int.from_bytes(second, "little")).to_bytes(size, "little")


def disjunction(slices: Sequence[Slice]) -> Slice:
    """The smallest sublattice with the cuts of all of them.

    The least cut of it that contains an event is the meet of the parts' least ones. The edges are found by
    following these along each process and keeping what changes.
    """
    parts = [part for part in slices if not part.is_empty]
    if not parts:
        return slices[0]
    if len(parts) == 1:
        return parts[0]
    computation = parts[0].computation
    low, high = parts[0].least, parts[0].greatest
    for part in parts[1:]:
        low, high = meet(low or (), part.least or ()), join(high or (), part.greatest or ())
    assert low is not None and high is not None
    edges = tuple(_edges_of_union(computation, parts, low))
    exact = all(part.exact for part in parts)
    return Slice(computation, low, high, {}, edges, lean=None, exact=exact)


def _edges_of_union(computation: Computation, parts: Sequence[Slice], low: Cut) -> Iterator[Edge]:
    """Where the least cut with an event grows beyond what the trace itself makes it."""
    trace = whole(computation)
    for process in range(len(low)):
        before = low
        together = zip(
            trace.irreducible(process), *(part.irreducible(process) for part in parts), strict=True
        )
        for position, (own, *cuts) in enumerate(together, start=1):
            found = [cut for cut in cuts if cut is not None]
            if not found or own is None:
                break
            least = found[0]
            for cut in found[1:]:
                least = meet(least, cut)
            for other, count in enumerate(least):
                if count > max(before[other], own[other]):
                    yield (other, count), (process, position)
            before = least
