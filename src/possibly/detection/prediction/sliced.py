"""What a sliced reordering of the run shows, found in one pass over it.

"Parametrizing reads-from equivalence for predictive monitoring" (Farzan, Mathur): the events of a run, or of
a part of it that is closed under its order, are divided into k + 1 slices, and the slices are executed one
after the other, each in the order of the run. That is a reordering if no event comes before one that it
follows in its process or by synchronisation, and if every read sees what it saw: the same write, or an equal
value. So no process notices a difference, and whatever state is reached, the program can reach. With k the
reorderings grow to all that nobody notices.

The pass goes along the run and holds every way to divide what lies behind, as far as what lies ahead can tell
them apart: in which slice each process is (it never goes back), what each slice has left in each variable,
what must be there when a slice begins, since it reads that and has not written it (earlier slices may still
write it, as long as that is left in the end), and whatever the question has to know: of a state predicate
(`Reached`, asked at the end of each part) or of a linear formula (`regular`). Departures from the paper: only
variables whose accesses race are followed, as synchronisation keeps the order of all others; and there is a
bound on the ways that are held, beyond which those with the fewest changes go on, so that "not found" is no
answer (`is_complete`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from possibly.detection.limits import Budget
from possibly.detection.prediction.facts import Facts, Interned, racing
from possibly.detection.prediction.orders import Deciding, Sights
from possibly.logic.predicates.functions import Predicate
from possibly.logic.syntax import Leaf, Shared, Transit
from possibly.order.computation import Computation
from possibly.trace.model import Trace

MOST_WAYS, FEWEST_WAYS = 2_000, 50
"""Ways to divide what lies behind that are held at once: in a long run fewer."""
MOST_WORK = 600_000
"""Events times ways, about."""

Division = tuple[tuple[int, int], ...]
"""The events from which on their process is in another slice, and which."""

Left = tuple[tuple[int, ...], ...]
Needed = frozenset[tuple[int, int, int]]


class Way(NamedTuple):
    """What the rest of the run can tell of a way to divide the events so far."""

    slices: tuple[int, ...]
    """The slice of each process that goes on; one too many if it has stopped."""
    awaited: tuple[int, ...]
    """The slice of each event that an event ahead must follow."""
    left: Left
    """For each variable that is followed, what each slice has left in it; 0 if it has not written it."""
    needed: Needed
    """Variables, slices, and what must be in the variable when the slice begins."""
    told: tuple[int, ...]
    """What the question has to know."""


class _Line(NamedTuple):
    """What an event does, for all ways alike."""

    event: int
    process: int
    reads: tuple[tuple[int, int], ...]
    """Variables, and what it saw in them."""
    writes: tuple[tuple[int, int], ...]
    before: frozenset[int]
    """The events of other processes that it must follow."""
    tells: bool
    """Whether it can matter in which slice it is; else it is in that of the one before."""
    is_over: bool
    """Whether it is the last of its process."""


class Question(Protocol):
    """What is asked of the ways to divide a run."""

    @property
    def leaves(self) -> Sequence[Leaf]: ...

    @property
    def asked(self) -> Collection[str]:
        """The variables of which it has to know what a way leaves in them."""
        ...

    def start(self, slices: int) -> tuple[int, ...]:
        """What there is to know before the run."""
        ...

    def after(self, told: tuple[int, ...], event: int, number: int) -> tuple[int, ...]:
        """The same after the event in that slice; one too many if it is left out."""
        ...

    def tells(self, event: int) -> bool:
        """Whether it can matter to it in which slice the event is."""
        ...

    def is_shown(self, told: tuple[int, ...], ends: Mapping[str, object], is_last: bool) -> bool:
        """Whether the reordering of what lies behind shows it."""
        ...


class SlicedSearch:
    """Looks for a reordering that shows what is asked for."""

    def __init__(self, trace: Trace, question: Question, cuts: int, budget: Budget) -> None:
        self._trace = trace
        self._question = question
        self._stopped = cuts + 1
        self._budget = budget
        self.is_complete = trace.meet is None and not any(
            isinstance(leaf, Transit) for leaf in question.leaves
        )
        """Whether what is not found is shown by none of these reorderings."""
        self.ends: list[tuple[int, ...]] = []
        """What there was to know after each of them, when none was found."""
        self._computation = Computation(trace, "sync")
        self._sights = Sights(trace)
        self._interned = Interned()
        asked = set(question.asked)
        read = {name for event in range(len(trace)) for name in trace.reads(event)}
        self._variables = sorted(asked | (racing(trace, self._computation) & read))
        self._number = {name: number for number, name in enumerate(self._variables)}
        self._asked = {self._number[name] for name in asked}
        self._last_read: dict[int, int] = {}
        """After it, nobody looks at the variable."""
        self._last_write: dict[tuple[int, int], int] = {}
        """By variable and value: after it, that comes no more."""
        self._last_writes: dict[int, int] = {}
        self._seen = {
            (event, name): self._interned.of(name, each)
            for (event, name), each in self._sights.seen(range(len(trace))).items()
        }
        self._start = tuple(self._interned.of(name, self._sights.before(name)) for name in self._variables)
        self._last_need = self._needs()
        self._lines = [self._line(event) for event in range(len(trace))]

    def found(self) -> Deciding | None:
        """An order of all events, of which a first part shows it unnoticed."""
        if not self.is_complete:
            return None
        start = Way(
            tuple(0 for _ in self._trace.processes),
            (),
            tuple(tuple(0 for _ in range(self._stopped)) for _ in self._variables),
            frozenset(),
            self._question.start(self._stopped),
        )
        ways: dict[Way, Division] = {start: ()}
        awaited: list[int] = []
        for line in self._lines:
            self._budget.look()
            following: dict[Way, Division] = {}
            later = [each for each in (*awaited, line.event) if self._last_need.get(each, -1) > line.event]
            for way, division in ways.items():
                for after, part in self._after(way, division, line, awaited, later):
                    if after not in following:
                        following[after] = part
                        if self._is_shown(after, line.event):
                            return self._order(part, line.event)
            ways, awaited = self._limited(following), later
        self.ends = [way.told for way in ways if self._is_met(way)]
        return None

    def _limited(self, ways: dict[Way, Division]) -> dict[Way, Division]:
        most = max(FEWEST_WAYS, min(MOST_WAYS, MOST_WORK // len(self._trace)))
        if len(ways) <= most:
            return ways
        self.is_complete = False
        return dict(sorted(ways.items(), key=lambda pair: (not self._is_met(pair[0]), len(pair[1])))[:most])

    # ---- one event ----------------------------------------------------------------------------------

    def _line(self, event: int) -> _Line:
        trace, number = self._trace, self._number
        reads = tuple(
            (number[name], self._seen[event, name]) for name in trace.reads(event) if name in number
        )
        writes = tuple(
            (number[name], self._interned.of(name, sight))
            for name, sight in self._sights.written(event).items()
            if name in number
        )
        for variable, _ in reads:
            self._last_read[variable] = event
        for each in writes:
            self._last_write[each] = self._last_writes[each[0]] = event
        before = frozenset(self._computation.predecessors(event))
        tells = bool(event in self._last_need or before or reads or writes or self._question.tells(event))
        process = trace.process[event]
        is_over = trace.position[event] == len(trace.events_of[process])
        return _Line(event, process, reads, writes, before, tells, is_over)

    def _after(
        self, way: Way, division: Division, line: _Line, awaited: Sequence[int], later: Sequence[int]
    ) -> Iterator[tuple[Way, Division]]:
        event, process, now = line.event, line.process, way.slices[line.process]
        places = list(zip(awaited, way.awaited, strict=True))
        least = max([at for each, at in places if each in line.before], default=0)
        at = dict(places)
        for number in range(now, self._stopped + 1) if line.tells else (now,):
            left, needed = way.left, way.needed
            if number < self._stopped:
                if number < least:
                    continue
                left, needed = self._executed(way, line, number)
            rest = self._rest(left, needed, line)
            if rest is None:
                continue
            told = self._question.after(way.told, event, number)
            slices = (*way.slices[:process], 0 if line.is_over else number, *way.slices[process + 1 :])
            at[event] = number
            after = Way(slices, tuple([at[each] for each in later]), *rest, told)
            yield after, division if number == now else (*division, (event, number))

    def _executed(self, way: Way, line: _Line, number: int) -> tuple[Left, Needed]:
        """What is left and needed when the event is executed in the slice; it reads before it writes."""
        left, needed = way.left, way.needed
        for variable, seen in line.reads:
            there = left[variable][number]
            if there != seen:
                # What its own slice has written is there for good; nothing meets a need of what is not.
                needed |= {(variable, number, 0 if there else seen)}
        if line.writes:
            rows = list(left)
            for variable, written in line.writes:
                row = rows[variable]
                rows[variable] = (*row[:number], written, *row[number + 1 :])
            left = tuple(rows)
        return left, needed

    def _rest(self, left: Left, needed: Needed, line: _Line) -> tuple[Left, Needed] | None:
        """What of that the rest of the run can tell; None if a need is not met any more."""
        touched = {variable for variable, _ in (*line.reads, *line.writes)}
        for variable in touched:
            mine = {need for need in needed if need[0] == variable}
            if any(self._is_lost(left, need, mine, line.event) for need in mine):
                return None
            is_last = self._last_writes.get(variable, -1) <= line.event
            if is_last:
                needed -= mine
            if variable not in self._asked and self._last_read.get(variable, -1) <= line.event:
                first = 0 if is_last else max([number for _, number, _ in mine], default=0)
                row = left[variable]
                shorter = (*row[:first], *(0 for _ in row[first:]))
                left = (*left[:variable], shorter, *left[variable + 1 :])
        return left, needed

    def _is_lost(
        self, left: Left, need: tuple[int, int, int], others: Collection[tuple[int, int, int]], event: int
    ) -> bool:
        variable, number, value = need
        if any(other[1] == number and other[2] != value for other in others):
            return True
        return not self._meets(left, need) and self._last_write.get((variable, value), -1) <= event

    def _meets(self, left: Left, need: tuple[int, int, int]) -> bool:
        variable, number, value = need
        last = self._writer(left[variable], number - 1)
        return value == (left[variable][last] if last >= 0 else self._start[variable])

    def _is_met(self, way: Way) -> bool:
        return all(self._meets(way.left, need) for need in way.needed)

    def _writer(self, row: Sequence[int], number: int) -> int:
        """The last slice up to this one that wrote the variable, -1 if none did."""
        return next((each for each in range(number, -1, -1) if row[each]), -1)

    # ---- what is asked ------------------------------------------------------------------------------

    def _is_shown(self, way: Way, event: int) -> bool:
        if not self._is_met(way):
            return False
        ends: dict[str, object] = {}
        for name in self._question.asked:
            variable = self._number[name]
            row, start = way.left[variable], self._start[variable]
            last = self._writer(row, self._stopped - 1)
            ends[name] = self._interned.value(row[last] if last >= 0 else start)
        return self._question.is_shown(way.told, ends, event == len(self._trace) - 1)

    def _order(self, division: Division, last: int) -> Deciding:
        """The slices one after the other, and then what is in none."""
        trace, now = self._trace, [0] * len(self._trace.processes)
        changes = dict(division)
        parts: list[list[int]] = [[] for _ in range(self._stopped + 1)]
        for event in range(len(trace)):
            if event in changes:
                now[trace.process[event]] = changes[event]
            parts[now[trace.process[event]] if event <= last else self._stopped].append(event)
        order = tuple(event for part in parts for event in part)
        return Deciding(order, len(order) - len(parts[self._stopped]))

    def _needs(self) -> dict[int, int]:
        """For each event that one of another process must follow: the last that must."""
        found: dict[int, int] = {}
        for event in range(len(self._trace)):
            for before in self._computation.predecessors(event):
                found[before] = event
        return found


class Reached:
    """Whether a state is reached in which a predicate is true."""

    def __init__(self, trace: Trace, predicate: Predicate) -> None:
        self._predicate = predicate
        self.leaves = predicate.leaves
        self.asked = tuple(dict.fromkeys(leaf.variable for leaf in self.leaves if isinstance(leaf, Shared)))
        self._facts = Facts(trace, predicate.leaves)
        self._stopped = 0

    def start(self, slices: int) -> tuple[int, ...]:
        self._stopped = slices
        return self._facts.start

    def after(self, told: tuple[int, ...], event: int, number: int) -> tuple[int, ...]:
        return self._facts.after(told, event) if number < self._stopped else told

    def tells(self, event: int) -> bool:
        return self._facts.tells(event)

    def is_shown(self, told: tuple[int, ...], ends: Mapping[str, object], is_last: bool) -> bool:
        values = []
        for leaf in self.leaves:
            if isinstance(leaf, Shared):
                values.append(ends[leaf.variable])
            else:
                place = self._facts.place[leaf]
                values.append(self._facts.value(place, told[place]))
        return bool(self._predicate.evaluate(values))
