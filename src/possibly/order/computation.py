"""Happened-before of a recorded run, kept sparse.

Here belongs the partial order itself: direct edges, joint events, clocks, closures of cuts. Not walking
the lattice (`lattice`), not values (`state`).

Theory of operation. The order is the transitive closure of: process order; send before receive; `after`;
and in causal order every conflicting pair of accesses to a shared variable, in the order of the lines.
Only direct edges between processes are kept: by process as `Links` (`needed`, `enabling`), which a mapped
trace without other order than its messages has for nothing, and by event (two flat columns, one range an
event) where a caller asks for single events. Nothing is computed before it is asked for. For conflicts it
suffices to put a write after the last write and the reads since, and a read after the last write.
The lines of one `meet` are one joint event: they are given edges in both directions, so that a closed
set of events has all or none of them. A cut is a sequence with one number a process: how many of its
events it contains. A *step* is one event or one joint event; it is named by its earliest line.

Vector clocks are not stored with the events: `clock` computes them when a caller needs them, from a table
if that stays small and by closure from the sparse edges otherwise.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, compress

from possibly.errors import TraceError, UsageError
from possibly.order.kernels import Bitmaps, Source, copied, from_the_first, rise
from possibly.trace.index import Links, linked
from possibly.trace.model import NONE, Ints, Trace

Cut = tuple[int, ...]
"""How many events of each process belong to the cut."""

ORDERS = ("causal", "sync")

CLOCK_TABLE_LIMIT = 4_000_000
"""Entries (events x processes) up to which clocks are kept as one table."""


Place = tuple[int, int]
"""An event as (process, position from 1)."""


class Arcs:
    """Edges by process: for each, the positions that have some, ascending, with the far ends."""

    def __init__(self, processes: int, pairs: Iterable[tuple[Place, Place]]) -> None:
        self.positions: list[list[int]] = [[] for _ in range(processes)]
        self.ends: list[list[list[Place]]] = [[] for _ in range(processes)]
        for (process, position), end in sorted(pairs):
            if not self.positions[process] or self.positions[process][-1] != position:
                self.positions[process].append(position)
                self.ends[process].append([])
            self.ends[process][-1].append(end)


class Computation:
    """The events of a trace with their order; `order` is "causal" or "sync".

    `extra` adds pairs (first, second) to the order; first must have been observed before second.
    """

    def __init__(self, trace: Trace, order: str = "causal", extra: Iterable[tuple[int, int]] = ()) -> None:
        if order not in ORDERS:
            raise UsageError(f"unknown order {order!r}: choose one of {', '.join(ORDERS)}")
        self.trace = trace
        self.order = order
        self.lengths: Cut = tuple(trace.lengths)
        self.joint: Mapping[int, tuple[int, ...]] = _joint_events(trace)
        """For each line of a joint event of several lines: all its lines, ascending."""
        self._extra = tuple(extra)
        if self.joint or self._extra:
            self._check()

    def with_pairs(self, pairs: Iterable[tuple[int, int]]) -> Computation:
        """The same events with more order."""
        return Computation(self.trace, self.order, (*self._extra, *pairs))

    def _check(self) -> None:
        """Joint events and added pairs alone can contradict the order of the lines: that is an error."""
        if self._extra or not self.has_lines_together:
            self.steps  # noqa: B018

    @cached_property
    def has_lines_together(self) -> bool:
        """Whether nothing stands between the lines of a joint event: their order is one of the steps."""
        return all(lines[-1] - lines[0] < len(lines) for lines in self.joint.values())

    @cached_property
    def steps(self) -> Sequence[int]:
        """The observed run: the steps in an order in which they could have happened."""
        if not self.joint and not self._extra:
            return range(len(self.trace))
        if not self._extra and self.has_lines_together:
            is_step = bytearray(b"\1" * len(self.trace))
            for event, lines in self.joint.items():
                is_step[event] = lines[0] == event
            return array("i", compress(range(len(self.trace)), is_step))
        return _observed_order(self.trace, self.joint, *self.edge_columns)

    def __len__(self) -> int:
        """The number of steps: the length of every observation."""
        return len(self.steps)

    @property
    def processes(self) -> tuple[str, ...]:
        return tuple(process.name for process in self.trace.processes)

    @cached_property
    def initial(self) -> Cut:
        return (0,) * len(self.lengths)

    @property
    def final(self) -> Cut:
        return self.lengths

    def column(self, cut: Sequence[int]) -> array[int]:
        """A cut for the kernels. The two ends, of which nearly all are, cost no look at single processes."""
        if cut is self.initial:
            return array("i", bytes(4 * len(cut)))
        return copied(self.trace.lengths) if cut is self.final else array("i", cut)

    @cached_property
    def unconstrained(self) -> Bitmaps:
        """Every process may stop anywhere."""
        return Bitmaps(len(self.lengths), {})

    # ---- events ---------------------------------------------------------------------------------

    def place(self, event: int) -> tuple[int, int]:
        """Process and position (from 1) of an event."""
        return self.trace.process[event], self.trace.position[event]

    def at(self, process: int, position: int) -> int:
        """The event at that position (from 1) of the process."""
        return self.trace.events_of[process][position - 1]

    def step(self, event: int) -> int:
        """The step that executes this event."""
        return self.joint[event][0] if event in self.joint else event

    def events(self, step: int) -> tuple[int, ...]:
        """The lines that the step executes together."""
        return self.joint.get(step, (step,))

    def predecessors(self, event: int) -> Ints:
        """Direct predecessors on other processes; the other lines of a joint event are among them."""
        if not self._has_messages_alone:
            start, edges = self.edge_columns
            return edges[start[event] : start[event + 1]]
        process, position = self.place(event)
        near, end, shift = self.needed.position, self.needed.end, self.needed.shift
        last = self.needed.start[process + 1]
        link = bisect_left(near, position, self.needed.start[process], last)
        found = []
        while link < last and near[link] == position:
            found.append(self.at(end[link] >> shift, end[link] & ((1 << shift) - 1)))
            link += 1
        return sorted(found)

    @cached_property
    def edge_columns(self) -> tuple[Ints, Ints]:
        """Where the direct predecessors of each event begin, and these, as flat columns for kernels."""
        later, edges = self._pairs
        counts = array("i", bytes(4 * (len(self.trace) + 1)))
        for event in later:
            counts[event + 1] += 1
        return array("i", accumulate(counts)), edges

    @cached_property
    def _has_messages_alone(self) -> bool:
        """Whether messages are all that orders the processes."""
        trace = self.trace
        is_sync = self.order == "sync" or trace.write_start is None
        return is_sync and trace.after_start is None and not self.joint and not self._extra

    @cached_property
    def needed(self) -> Links:
        """By process its events with predecessors elsewhere, and these."""
        return self.trace.receives if self._has_messages_alone else self.trace.links(*self._pairs)

    @cached_property
    def enabling(self) -> Links:
        """By process its events with successors elsewhere, and these."""
        return self.trace.sends if self._has_messages_alone else self.trace.links(*self._pairs[::-1])

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints]:
        """Every edge: the later event, the earlier one; ascending."""
        from possibly.order.edges import direct_edges, message_edges

        if self._has_messages_alone:
            return message_edges(self.trace)
        return direct_edges(self.trace, self.order, self.joint, self._extra)

    def links_of(self, pairs: Iterable[tuple[Place, Place]]) -> Links:
        """Other pairs of places (near, far) in the same form."""
        return linked(pairs, len(self.lengths), max(self.lengths, default=0).bit_length())

    # ---- order ----------------------------------------------------------------------------------

    def clock(self, event: int) -> Cut:
        """The least cut that contains the event: its vector clock."""
        if self._small:
            return self._clocks[event]
        process, position = self.place(event)
        return self.closure({process: position})

    @cached_property
    def _small(self) -> bool:
        return len(self.trace) * len(self.lengths) <= CLOCK_TABLE_LIMIT

    @cached_property
    def _clocks(self) -> Sequence[Cut]:
        return list(_clock_table(self))

    def happened_before(self, first: int, second: int) -> bool:
        """Whether `first` is executed before `second` in every observation."""
        process, position = self.place(first)
        return self.step(first) != self.step(second) and self.clock(second)[process] >= position

    def concurrent(self, first: int, second: int) -> bool:
        """Whether the two can be executed in either order."""
        if self.step(first) == self.step(second):
            return False
        return not self.happened_before(first, second) and not self.happened_before(second, first)

    # ---- cuts -----------------------------------------------------------------------------------

    def closure(self, least: Mapping[int, int], start: Sequence[int] | None = None) -> Cut:
        """The least cut that contains at least that many events of those processes (and all of `start`)."""
        start = self.initial if start is None else start
        todo = [process for process, count in least.items() if count > start[process]]
        if not todo:
            return tuple(start)
        cut, source = self.column(start), from_the_first(self.needed)
        if start is not self.initial:
            _skip_read(source, cut)
        for process in todo:
            cut[process] = least[process]
        self._rise(cut, source, todo)
        return tuple(cut)

    def closed(self, counts: Sequence[int]) -> Cut:
        """The least cut that contains at least that many events of each process."""
        if not any(counts):
            return self.initial
        cut = array("i", counts)
        self._rise(cut, from_the_first(self.needed), list(range(len(cut))))
        return tuple(cut)

    def _rise(self, cut: array[int], source: Source, todo: list[int]) -> None:
        try:
            is_inside = rise(cut, self.column(self.final), self.unconstrained, (source,), todo)
        except IndexError:
            is_inside = False
        if not is_inside:
            raise TraceError("an event depends on one that is not there", file=self.trace.file)

    def is_consistent(self, cut: Sequence[int]) -> bool:
        """Whether the set is closed: it contains whatever happened before one of its events."""
        inside = all(0 <= count <= length for count, length in zip(cut, self.lengths, strict=True))
        return inside and self.closed(cut) == tuple(cut)

    def frontier(self, cut: Sequence[int]) -> tuple[int, ...]:
        """The last event of each process that has one in the cut."""
        return tuple(self.at(process, count) for process, count in enumerate(cut) if count)

    def enabled(self, cut: Sequence[int]) -> Iterator[int]:
        """The steps that may be executed next."""
        for process, count in enumerate(cut):
            if count == self.lengths[process]:
                continue
            event = self.at(process, count + 1)
            if self.step(event) == event and self._is_enabled(event, cut):
                yield event

    def _is_enabled(self, step: int, cut: Sequence[int]) -> bool:
        lines = self.events(step)
        for event in lines:
            process, position = self.place(event)
            if cut[process] != position - 1:
                return False
            for other in self.predecessors(event):
                there, needed = self.place(other)
                if cut[there] < needed and other not in lines:
                    return False
        return True

    def after(self, cut: Sequence[int], step: int) -> Cut:
        """The cut with that step executed."""
        following = list(cut)
        for event in self.events(step):
            following[self.trace.process[event]] += 1
        return tuple(following)

    def successors(self, cut: Sequence[int]) -> Iterator[tuple[int, Cut]]:
        """Each enabled step with the cut it leads to."""
        for step in self.enabled(cut):
            yield step, self.after(cut, step)

    def join_irreducible(self) -> Iterator[tuple[int, Cut]]:
        """Each step with the least cut that contains it."""
        for step in self.steps:
            yield step, self.clock(step)

    def meet_irreducible(self) -> Iterator[tuple[int, Cut]]:
        """Each step with the greatest cut that does not contain it."""
        for step in self.steps:
            yield step, self.greatest_without(step)

    def greatest_without(self, event: int) -> Cut:
        """The greatest cut that does not contain the event: all that it did not happen before."""
        process, position = self.place(event)
        return tuple(self._first_knowing(other, process, position) for other in range(len(self.lengths)))

    def _first_knowing(self, process: int, whose: int, position: int) -> int:
        """How many events of `process` come before its first one that has that event in its past."""
        low, high = 0, self.lengths[process]
        while low < high:
            middle = (low + high) // 2
            if self.clock(self.at(process, middle + 1))[whose] >= position:
                high = middle
            else:
                low = middle + 1
        return low

    def self_check(self) -> None:
        """The invariants, for tests: the observed order respects every edge and is complete."""
        cut = list(self.initial)
        for step in self.steps:
            assert self._is_enabled(step, cut), f"{self.trace.name(step)} is not enabled when it was observed"
            cut = list(self.after(cut, step))
        assert tuple(cut) == self.final, "the observed order does not execute every event"


def _skip_read(source: Source, cut: Sequence[int]) -> None:
    """Takes the links of events inside the cut for read."""
    start, position, _, _, read = source
    for process, count in enumerate(cut):
        if count:
            read[process] = bisect_right(position, count, start[process], start[process + 1])


def meet(first: Sequence[int], second: Sequence[int]) -> Cut:
    """The intersection of two cuts, again a cut."""
    return tuple(map(min, first, second))


def join(first: Sequence[int], second: Sequence[int]) -> Cut:
    """The union of two cuts, again a cut."""
    return tuple(map(max, first, second))


# ---- building ---------------------------------------------------------------------------------------


def _joint_events(trace: Trace) -> Mapping[int, tuple[int, ...]]:
    if trace.meet is None:
        return {}
    lines: dict[int, list[int]] = {}
    for event in compress(range(len(trace)), map(NONE.__ne__, trace.meet)):
        lines.setdefault(trace.meet[event], []).append(event)
    groups = (tuple(group) for group in lines.values() if len(group) > 1)
    return {event: group for group in groups for event in group}


def _observed_order(
    trace: Trace, joint: Mapping[int, tuple[int, ...]], start: Ints, edges: Ints
) -> Sequence[int]:
    """The order of the lines; with joint events, an order of the steps that stays as near to it as it can."""
    if not joint:
        return range(len(trace))
    from heapq import heapify, heappop, heappush

    steps = [event for event in range(len(trace)) if event not in joint or joint[event][0] == event]
    before = {step: _steps_before(trace, joint, start, edges, step) for step in steps}
    after: dict[int, list[int]] = {}
    waiting = {step: len(earlier) for step, earlier in before.items()}
    for step, earlier in before.items():
        for other in earlier:
            after.setdefault(other, []).append(step)
    ready = [step for step, count in waiting.items() if not count]
    heapify(ready)
    found: list[int] = []
    while ready:
        step = heappop(ready)
        found.append(step)
        for later in after.get(step, ()):
            waiting[later] -= 1
            if not waiting[later]:
                heappush(ready, later)
    if len(found) < len(steps):
        raise _cycle(trace, before, set(steps) - set(found))
    return found


def _steps_before(
    trace: Trace, joint: Mapping[int, tuple[int, ...]], start: Ints, edges: Ints, step: int
) -> set[int]:
    lines = joint.get(step, (step,))
    found: set[int] = set()
    for event in lines:
        position = trace.position[event]
        earlier = list(edges[start[event] : start[event + 1]])
        if position > 1:
            earlier.append(trace.events_of[trace.process[event]][position - 2])
        found.update(joint[other][0] if other in joint else other for other in earlier if other not in lines)
    return found


def _cycle(trace: Trace, before: Mapping[int, set[int]], stuck: set[int]) -> TraceError:
    """The error for joint events that each have to come before the other."""
    path = [min(stuck)]
    while (earlier := min(before[path[-1]] & stuck)) not in path:
        path.append(earlier)
    names = [trace.name(step) for step in path[path.index(earlier) :]][::-1]
    return TraceError(
        f"the order has a cycle through joint events: {' before '.join([*names, names[0]])}",
        file=trace.file,
        line=trace.line(max(path)),
        hint="lines of one `meet` happen at once, so nothing between them may depend on one of them",
    )


def _clock_table(computation: Computation) -> Iterator[Cut]:
    """Vector clocks of all events, in the order of the lines."""
    trace = computation.trace
    clocks: list[Cut] = [()] * len(trace)
    for step in computation.steps:
        clock = list(computation.initial)
        lines = computation.events(step)
        for event in lines:
            process, position = computation.place(event)
            earlier = [other for other in computation.predecessors(event) if other not in lines]
            if position > 1:
                earlier.append(computation.at(process, position - 1))
            for other in earlier:
                clock = list(map(max, clock, clocks[other]))
        for event in lines:
            process, position = computation.place(event)
            clock[process] = position
        for event in lines:
            clocks[event] = tuple(clock)
    return iter(clocks)
