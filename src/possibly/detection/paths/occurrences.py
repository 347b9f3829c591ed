"""`never` and `watch`: every occurrence of an expression in a run.

An occurrence is a set of events whose order is in the language and which is *convex*: no other event of the
expression lies causally between two of them. Occurrences grow one event at a time, off-line or while a
program runs.

Theory of operation. An event that comes after a member of a set under way and does not join it bars its
process from the set for ever: whatever that process does later would have it in between. A set remembers
when each process was barred. An event of a process that is not barred may join unless one of its predecessors
is an event that a barred process did since then: the predecessors are the latest events before it, and one of
a process that is not barred has nothing of the kind in its past. A joint event with one barred process comes
after what barred it, so it bars all its processes. Sets are kept in groups by who is barred, so
an event meets only the sets that its process can still extend; a set that nobody who can still act can extend
is dropped. No clocks are needed.

Departure from Modeling Concurrency in Parallel Debugging, which lets the expressions run along with the
program and leaves open what lies between the events of one occurrence.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator
from types import ModuleType

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.projection import Projected, fed, flat, projection
from possibly.logic.paths.machine import ALL, Machine, State
from possibly.logic.paths.run import kernels

MOST_OPEN = 200_000
"""Sets under way that are kept in memory."""

Played = tuple[tuple[int, int], ...]
"""Which event each atom stands for: pairs (atom, event)."""


class Partial:
    """A convex set of events that is the beginning of an occurrence."""

    __slots__ = ("barriers", "events", "played", "slots", "state", "values")

    def __init__(
        self,
        events: tuple[int, ...],
        state: State,
        slots: tuple[int, ...] = (),
        values: tuple[Hashable, ...] = (),
        played: tuple[Played, ...] = ((),),
    ) -> None:
        self.events = events
        self.state = state
        self.slots = slots
        """The events that the slots of the state stand for."""
        self.values = values
        self.played = played
        """For each reading of the state."""
        self.barriers: array[int] = array("q")
        """When each process was barred that cannot extend the set any more, by its number."""

    @property
    def is_complete(self) -> bool:
        return self.state.ends


Owner = Callable[[int], int]
"""A process of an event: any one, if it has several."""


class Growth:
    """All occurrences under way. `feed` it every event of the expression in an order that could be."""

    def __init__(
        self,
        machine: Machine,
        owner: Owner,
        budget: Budget | None = None,
        tells: bool = True,
        when: Callable[[int], int] = lambda event: event,
        most: int | None = None,
    ) -> None:
        self.machine = machine
        self.owner = owner
        self.budget = budget
        self.tells = tells
        """Whether somebody asks which atom an event played."""
        self.when = when
        """The place of an event among those that were fed: numbers that ascend."""
        self.most = most
        """Sets to keep: beyond that the oldest ones are forgotten. None: all, or an error."""
        self.has_forgotten = False
        self.groups: dict[int, list[Partial]] = {}
        """The sets under way, by the processes that are barred from them, a bit each."""
        self.able = -1
        """A bit for each process that may still act."""
        self._seed = Partial((), machine.initial)
        self._size = 0

    @property
    def open(self) -> list[Partial]:
        return [partial for group in self.groups.values() for partial in group]

    def feed(self, event: Projected, processes: tuple[int, ...]) -> list[Partial]:
        """The sets that the event begins or joins; `processes` are those that take part in it."""
        bits = 0
        for process in processes:
            bits |= 1 << process
        met = [(mask, group) for mask, group in self.groups.items() if not mask & bits]
        if len(processes) > 1:
            self._bar_partners(processes, bits, self.when(event.step))
        if self.budget is not None:
            self.budget.visit(1 + sum([len(group) for _, group in met]))
        first = self._with(self._seed, event, ())
        grown = [] if first is None else [(0, first)]
        for mask, group in met:
            self._meet(event, processes, bits, mask, group, grown)
        for mask, partial in grown:
            self.groups.setdefault(mask, []).append(partial)
        self._size += len(grown)
        if self._size > (self.most or MOST_OPEN):
            self._shrink()
        return [partial for _, partial in grown]

    def _meet(
        self,
        event: Projected,
        processes: tuple[int, ...],
        bits: int,
        mask: int,
        group: list[Partial],
        grown: list[tuple[int, Partial]],
    ) -> None:
        """The event meets the sets of one group: those that it comes after are barred from its processes."""
        predecessors = event.predecessors
        barred: list[Partial] = []
        for partial in group:
            inside: tuple[int, ...] = ()
            is_disturbed = False
            if predecessors:
                members = partial.events
                inside = tuple([other for other in predecessors if other in members])
                if mask and len(inside) < len(predecessors):
                    is_disturbed = self._is_disturbed(partial, mask, predecessors)
            if not is_disturbed and (found := self._with(partial, event, inside)) is not None:
                grown.append((mask, found))
            if inside or is_disturbed:
                barred.append(partial)
        if barred:
            self._bar(barred, processes, bits, mask, group, self.when(event.step))

    def _bar_partners(self, processes: tuple[int, ...], bits: int, now: int) -> None:
        """A joint event comes after what barred one of its processes: from now on it bars the others."""
        touched = [mask for mask in self.groups if mask & bits and bits & ~mask]
        for mask in touched:
            partners = tuple([process for process in processes if not mask >> process & 1])
            self._bar(self.groups[mask], partners, bits, mask, self.groups[mask], now)

    def _is_disturbed(self, partial: Partial, mask: int, predecessors: tuple[int, ...]) -> bool:
        members = partial.events
        for other in predecessors:
            if other not in members:
                process = self.owner(other)
                if mask >> process & 1 and partial.barriers[_place(mask, process)] <= self.when(other):
                    return True
        return False

    def _bar(
        self,
        barred: list[Partial],
        processes: tuple[int, ...],
        bits: int,
        mask: int,
        group: list[Partial],
        now: int,
    ) -> None:
        if len(barred) == len(group):
            del self.groups[mask]
        else:
            gone = set(map(id, barred))
            self.groups[mask] = [partial for partial in group if id(partial) not in gone]
        if not self.able & ~(mask | bits):
            self._size -= len(barred)
            return
        for process in processes:
            place = _place(mask, process)
            for partial in barred:
                partial.barriers.insert(place, now)
            mask |= 1 << process
        self.groups.setdefault(mask | bits, []).extend(barred)

    def _shrink(self) -> None:
        """Too many: the oldest half is forgotten, if that is allowed."""
        if self.most is None:
            raise LimitReachedError(f"more than {MOST_OPEN:,} sets of events are under way at once")
        kept = sorted(self.open, key=lambda partial: partial.events[-1])[self._size // 2 :]
        wanted = set(map(id, kept))
        groups = {
            mask: [partial for partial in group if id(partial) in wanted]
            for mask, group in self.groups.items()
        }
        self.groups = {mask: group for mask, group in groups.items() if group}
        self._size = len(kept)
        self.has_forgotten = True

    def only(self, able: int) -> None:
        """From now on only these processes act."""
        if able != self.able:
            self.able = able
            self.groups = {mask: group for mask, group in self.groups.items() if able & ~mask}
            self._size = sum(map(len, self.groups.values()))

    def _with(self, partial: Partial, event: Projected, before: tuple[int, ...]) -> Partial | None:
        step, symbols, _, given = event
        slots, values = partial.slots, partial.values
        at: tuple[int, ...] = before
        if before:
            try:
                at = tuple(sorted([slots.index(other) for other in before]))
            except ValueError:
                # An event that nobody remembers precedes nothing any more.
                return None
        numbers: tuple[int, ...] = ()
        if given:
            values = (*values, *(value for value in dict.fromkeys(given) if value not in values))
            numbers = tuple([values.index(value) for value in given])
        state = partial.state
        move = state.moves.get((symbols, at, numbers)) or self.machine.move(state, symbols, at, numbers)
        following, kept, kept_values, origins, keeps = move
        if following is None:
            return None
        slots = (*slots, step)
        if keeps != ALL:
            slots = tuple([slots[old] for old in kept])
        if values:
            values = tuple([values[old] for old in kept_values])
        found = Partial((*partial.events, step), following, slots, values)
        if partial.barriers:
            found.barriers = partial.barriers[:]
        if self.tells:
            found.played = tuple(
                [(*partial.played[number], *((atom, step) for atom in atoms)) for number, atoms in origins]
            )
        return found


def _place(mask: int, process: int) -> int:
    """Where a process comes among those of the mask."""
    return (mask & (1 << process) - 1).bit_count()


class Occurrences:
    """Grows all occurrences of a recorded run."""

    def __init__(
        self, meaning: Meaning, machine: Machine, budget: Budget | None = None, tells: bool = True
    ) -> None:
        self.meaning = meaning
        computation = meaning.computation
        owner = computation.trace.process.__getitem__
        if computation.joint:
            places = {step: place for place, step in enumerate(computation.steps)}
            self.growth = Growth(machine, owner, budget, tells, places.__getitem__)
        else:
            self.growth = Growth(machine, owner, budget, tells)

    @property
    def open(self) -> list[Partial]:
        return self.growth.open

    def __iter__(self) -> Iterator[tuple[Projected, Partial]]:
        """Every set, in the order of its last event, with that event; complete ones are occurrences."""
        growth, last = self.growth, self._last_of_each()
        processes = self._processes()
        growth.only(sum(1 << process for process in last.values()))
        for event in projection(self.meaning):
            for partial in growth.feed(event, processes(event.step)):
                yield event, partial
            if event.step in last:
                growth.only(growth.able & ~(1 << last[event.step]))

    def _processes(self) -> Callable[[int], tuple[int, ...]]:
        """Who takes part in a step."""
        computation = self.meaning.computation
        process = computation.trace.process
        if computation.joint:
            return lambda step: tuple([process[line] for line in computation.events(step)])
        alone = [(number,) for number in range(len(computation.lengths))]
        return lambda step: alone[process[step]]

    def _last_of_each(self) -> dict[int, int]:
        """The last line of each process that plays a symbol; with joint events, simply its last line."""
        computation = self.meaning.computation
        process = computation.trace.process
        if computation.joint:
            return {lines[-1]: number for number, lines in enumerate(computation.trace.events_of) if lines}
        last = {process[event]: event for event, own in enumerate(self.meaning.all_symbols) if own}
        return {event: number for number, event in last.items()}


def occurrences(
    meaning: Meaning, machine: Machine, budget: Budget | None = None
) -> Iterator[tuple[int, ...]]:
    """The events of every occurrence, ascending."""
    kernel = kernels()
    processes = len(meaning.computation.lengths)
    if kernel is None or meaning.computation.joint or meaning.has_arguments or processes > MOST_PROCESSES:
        return plain_occurrences(meaning, machine, budget)
    return compiled_occurrences(kernel, meaning, machine, budget)


def plain_occurrences(
    meaning: Meaning, machine: Machine, budget: Budget | None = None
) -> Iterator[tuple[int, ...]]:
    for _, partial in Occurrences(meaning, machine, budget, tells=False):
        if partial.is_complete:
            yield tuple(sorted(partial.events))


# ---- the compiled twin ----------------------------------------------------------------------------

MOST_PROCESSES = 63
SMALLEST_CHUNK, CHUNK = 1 << 4, 1 << 14
"""Sets that are met between two looks at the budget: few at first, as what is found meanwhile is lost."""
GOES_ON, TOO_MANY, TOO_WIDE = range(3)


def compiled_occurrences(
    kernel: ModuleType, meaning: Meaning, machine: Machine, budget: Budget | None = None
) -> Iterator[tuple[int, ...]]:
    """The same by `_feed.c`, in some other order, without joint events and arguments."""
    budget = budget if budget is not None else Budget()
    last = Occurrences(meaning, machine)._last_of_each()
    growth = kernel.Growth(machine.move, machine.initial, MOST_OPEN, sum(1 << p for p in last.values()))
    events, process = fed(meaning), flat(meaning.computation.trace.process)
    told: set[tuple[int, ...]] = set()
    is_granted, status, need, chunk = False, GOES_ON, 1, SMALLEST_CHUNK
    while status == GOES_ON and need:
        used, found, need, status = growth.grow(events, process, last, _allowed(budget, chunk), is_granted)
        chunk = min(2 * chunk, CHUNK)
        budget.visit(used)
        told.update(found)
        yield from found
        if status == GOES_ON and need:
            budget.visit(need)
            is_granted = True
    if status == TOO_MANY:
        raise LimitReachedError(f"more than {MOST_OPEN:,} sets of events are under way at once")
    if status == TOO_WIDE:
        yield from (each for each in plain_occurrences(meaning, machine, budget) if each not in told)


def _allowed(budget: Budget, chunk: int) -> int:
    return chunk if budget.max_cuts is None else min(chunk, budget.max_cuts - budget.visited)
