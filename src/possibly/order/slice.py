"""A slice: the cuts of a computation that satisfy added constraints, without visiting any of them.

Here belongs the slice as a structure: what it is made of, its least and greatest cut, how slices combine.
Which slice a formula has is decided in `detection.slicing`.

Theory of operation (Sen's thesis, section 4.2). Adding edges to a computation leaves a sublattice of its
cuts: an edge (e, f) says that a cut with f contains e. Three forms of edges are kept apart because they are
compact: bounds (an edge from a fictitious event: every cut contains e, no cut contains f); for each process
one bit a local state that says whether a cut may stop there (a forbidden state s is the edge from event
s + 1 to event s); and a list of all others. Nothing of the size events x processes is stored.

`least` raises each process to its next allowed state and follows edges from there; every edge is read at
most once and internal events cost nothing, so it takes time linear in what lies inside the cut. `greatest`
is the mirror image. Both are in `kernels`, in Python and in C, and can start from a given cut, which is how
the least cut containing an event, the slice's join-irreducible cuts and all its cuts are found.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from operator import gt

from possibly.errors import TraceError
from possibly.order.bitmaps import Bits, States
from possibly.order.computation import Computation, Cut, Place, join, meet
from possibly.order.kernels import Bitmaps, fall, from_the_first, from_the_last, rise
from possibly.records import dataclass, field, replace
from possibly.trace.index import Links

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
    allowed: Mapping[int, States] = field(default_factory=dict)
    """For some processes by local state: 1 where a cut may stop."""
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
    def bitmaps(self) -> Bitmaps:
        """`allowed` by process, for the kernels."""
        if not self.allowed:
            return self.computation.unconstrained
        return Bitmaps(len(self.low), {process: Bits.of(states) for process, states in self.allowed.items()})

    @cached_property
    def needed(self) -> Links:
        """What its own edges say that events need, in the form of the computation's."""
        return self.computation.links_of((f, e) for e, f in self.edges)

    def least_from(self, start: Sequence[int]) -> Cut | None:
        """The least cut of the slice that contains `start`; None if there is none."""
        return Rise(self).to(start)

    def greatest_from(self, end: Sequence[int]) -> Cut | None:
        """The greatest cut of the slice inside `end`; None if there is none."""
        if self.void:
            return None
        computation = self.computation
        cut = computation.column(end) if end is self.high else array("i", map(min, self.high, end))
        # Processes with all their events inside that may stop there need not be looked at.
        todo = list(self.allowed if end is self.high is computation.final else range(len(cut)))
        links = (computation.enabling, *([computation.links_of(self.edges)] if self.edges else []))
        sources = tuple(map(from_the_last, links))
        with _Whole(computation):
            found = fall(cut, computation.column(self.low), self.bitmaps, sources, todo)
        return tuple(cut) if found else None

    # ---- its cuts -------------------------------------------------------------------------------

    def contains(self, cut: Sequence[int]) -> bool:
        """Whether a consistent cut of the computation belongs to the slice."""
        if self.void or (self.low is not self.computation.initial and any(map(gt, self.low, cut))):
            return False
        if self.high is not self.computation.final and any(map(gt, cut, self.high)):
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
        rise = Rise(self)
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


class Rise:
    """A search for least cuts that goes on from where it stood: no link is read twice."""

    def __init__(self, slice_: Slice) -> None:
        self.slice = slice_
        computation = slice_.computation
        self.cut = computation.column(slice_.low)
        self.high = computation.column(slice_.high)
        self.failed = slice_.void
        links = (computation.needed, *([slice_.needed] if slice_.edges else []))
        self.sources = tuple(map(from_the_first, links))
        self.fresh = True

    def to(self, start: Sequence[int]) -> Cut | None:
        """The least cut that contains `start` and all that was asked for before."""
        cut = self.cut
        todo: list[int] = []
        if start is not self.slice.low:
            todo = list(compress(range(len(cut)), map(gt, start, cut)))
        for process in todo:
            cut[process] = start[process]
        if self.fresh:
            todo, self.fresh = self._at_first(todo), False
        if not self.failed:
            with _Whole(self.slice.computation):
                self.failed = not rise(cut, self.high, self.slice.bitmaps, self.sources, todo)
        return None if self.failed else tuple(cut)

    def at_least(self, process: int, position: int) -> array[int] | None:
        """The same with so many events of one process; what is yielded changes with the next search."""
        if position > self.cut[process]:
            self.cut[process] = position
        todo, self.fresh = self._at_first([process]) if self.fresh else [process], False
        if not self.failed:
            with _Whole(self.slice.computation):
                self.failed = not rise(self.cut, self.high, self.slice.bitmaps, self.sources, todo)
        return None if self.failed else self.cut

    def _at_first(self, todo: list[int]) -> list[int]:
        """Processes that have no event inside and may stop there need not be looked at."""
        is_bare = self.slice.low is self.slice.computation.initial
        return list({*todo, *self.slice.allowed} if is_bare else range(len(self.cut)))


class _Whole:
    """Takes a link that leads nowhere for what it is: a file that is damaged."""

    def __init__(self, computation: Computation) -> None:
        self.file = computation.trace.file

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None and issubclass(kind, IndexError):
            raise TraceError("an event depends on one that is not there", file=self.file) from None


def _forbidden(states: States) -> Iterator[int]:
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
    allowed: dict[int, States] = {}
    for part in slices:
        for process, states in part.allowed.items():
            allowed[process] = _both(allowed[process], states) if process in allowed else states
    low, high, computation = first.low, first.high, first.computation
    for part in slices[1:]:
        low = _narrower(low, part.low, computation.initial, join)
        high = _narrower(high, part.high, computation.final, meet)
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


def _narrower(one: Cut, other: Cut, widest: Cut, both: Callable[[Cut, Cut], Cut]) -> Cut:
    """The bound for both. Most slices have that of the computation, the very same tuple."""
    if one is widest or one is other:
        return other
    return one if other is widest else both(one, other)


def _both(first: States, second: States) -> States:
    return Bits.of(first).both(Bits.of(second))


def unimplied(computation: Computation, edges: Iterable[Edge]) -> Iterator[Edge]:
    """The edges that the trace itself does not imply. The events of a process are gone through in order, so
    that its own order is followed once for each process, not once for each edge."""
    groups: dict[int, list[Edge]] = {}
    for edge in edges:
        groups.setdefault(edge[1][0], []).append(edge)
    for process, group in groups.items():
        search = Rise(whole(computation))
        for e, f in sorted(group, key=_later_position):
            clock = search.at_least(process, f[1])
            if clock is not None and clock[e[0]] < e[1]:
                yield e, f


def _later_position(edge: Edge) -> int:
    return edge[1][1]


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
