"""Races: two accesses to one shared variable, one of them a write, that no synchronisation orders.

The order is `sync`: program order and synchronisation, without the order of the accesses themselves. One
pass with
vector clocks; for each variable the last accesses of every process since they were ordered are kept. Of many
races between the same two lines on one variable, or on items of one container, the first is reported.

Tasks of one event loop are not interrupted, so they race only where one of them writes what it has read in a
turn before: another one may have written between.

Two operations of the interpreter that each change a container as a whole (`append`, `setdefault`) are told
apart: whichever comes first, none is lost. So is a change beside a copy of the whole (`dict(d)`, `items[:]`)
by a process that does not change the container itself: the copy has all of the change or nothing of it, and
nothing is written back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

from possibly.order.computation import Computation
from possibly.trace.model import Ints, Trace
from possibly.trace.recorded import recorded_of
from possibly.trace.turns import Turn, Turns

WRITE, READ = "write", "read"
MOST_PAIRS = 100_000
"""Pairs of a look and a change whose order is asked for."""


@dataclass(frozen=True, slots=True)
class Access:
    event: int
    process: int
    position: int
    """It is the position-th event of its process, from 1."""
    how: str


@dataclass(frozen=True, slots=True)
class Race:
    variable: str
    first: Access
    second: Access
    is_atomic: bool = False
    """Both are single operations on a container, and neither order of them loses anything."""
    path: tuple[int, ...] | None = None
    """Events in an order after which both come next; None: nothing orders them in the run itself."""


Key = tuple[str, frozenset[str]]


def key_of(trace: Trace, race: Race) -> Key:
    """What races between the same lines have in common."""
    places = frozenset(trace.text(trace.place, each.event) or "" for each in (race.first, race.second))
    return f"{_container(race.variable)}{'[]' if race.is_atomic else ''}", places


def _container(variable: str) -> str:
    """The variable that holds the container an item is in; a variable that is no item is its own."""
    return variable.partition("[")[0]


class Atomic:
    """Which pairs of accesses are two operations of the interpreter of which neither order loses anything."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    @cached_property
    def _changed(self) -> set[tuple[int, str]]:
        """(process, container) of every change."""
        trace = self._trace
        written = _entries(trace.write_start, trace.write_variable)
        return {(trace.process[event], _container(trace.strings[variable])) for event, variable in written}

    @cached_property
    def _looked_at(self) -> set[tuple[int, str]]:
        """(process, variable) of all looks."""
        return {(self._trace.process[event], name) for event, name in self.looks}

    @cached_property
    def looks(self) -> list[tuple[int, str]]:
        """(event, variable) that is read for more than one operation on the items of what it holds.

        Where every access to a variable is told, what looks at all items (`dict(d)`, a loop) is a read of the
        variable alone: what was seen of them, and whether it is written back, nobody knows.
        """
        trace = self._trace
        recorded = recorded_of(trace.header)
        if recorded is None or not recorded.accesses:
            return []
        read = ((each, trace.strings[name]) for each, name in _entries(trace.read_start, trace.read_variable))
        return [each for each in read if "[" not in each[1] and not self._is_operation_on(each[1], each[0])]

    def beside_changes(self) -> str | None:
        """A variable that is looked at beside a change of an item that nothing orders, if there is one."""
        trace, changes = self._trace, dict[str, list[int]]()
        for event, variable in _entries(trace.write_start, trace.write_variable):
            name, bracket, _ = trace.strings[variable].partition("[")
            if bracket:
                changes.setdefault(name, []).append(event)
        looks = [each for each in self.looks if each[1] in changes]
        order = Computation(trace, "sync") if looks else None
        pairs = ((look, name, change) for look, name in looks for change in changes[name])
        for look, name, change in islice(pairs, MOST_PAIRS):
            if order is not None and order.concurrent(look, change):
                return name
        return None

    def _is_operation_on(self, name: str, event: int) -> bool:
        """Whether the next event of the process, in the same line, is about an item of what it holds."""
        trace, process = self._trace, self._trace.process[event]
        position = trace.position[event]
        if position >= len(trace.events_of[process]):
            return False
        following = trace.events_of[process][position]
        items = (*trace.reads(following), *(each for each, _ in trace.writes(following)))
        same = trace.text(trace.place, event) == trace.text(trace.place, following)
        return same and any(f"{name}[" in each for each in items)

    def holds(self, variable: str, first: Access, second: Access) -> bool:
        """Whether neither order of the two loses a change or shows half of one."""
        pair = (first, second)
        return all(self._changes(variable, each) for each in pair) or any(
            self._only_copies(variable, each) for each in pair
        )

    def _changes(self, variable: str, access: Access) -> bool:
        """A change of the whole in one operation; a store of an item is one as far as the extent goes."""
        if access.how == WRITE:
            is_known = (access.process, _container(variable)) not in self._looked_at
            return is_known and self._is_one_operation(access)
        return variable.endswith("[]") and self._stores_into(variable[:-1], access.event)

    def _stores_into(self, container: str, event: int) -> bool:
        return any(name.startswith(container) for name, _ in self._trace.writes(event))

    def _only_copies(self, variable: str, access: Access) -> bool:
        is_copy = access.how == READ and self._is_one_operation(access)
        return is_copy and (access.process, _container(variable)) not in self._changed

    def _is_one_operation(self, access: Access) -> bool:
        return self._trace.extra.get(access.event, {}).get("atomic") is True


Ways = list[tuple[str, str]]
"""The variables that one event accesses, and how."""


def contended(trace: Trace) -> dict[int, Ways]:
    """The events that access what several processes do, one of them writing; nothing else can race."""
    read = list(_entries(trace.read_start, trace.read_variable))
    written = list(_entries(trace.write_start, trace.write_variable))
    first: dict[int, int] = {}
    shared: set[int] = set()
    for event, variable in (*read, *written):
        process = trace.process[event]
        if first.setdefault(variable, process) != process:
            shared.add(variable)
    shared &= {variable for _, variable in written}
    found: dict[int, Ways] = {}
    for how, entries in ((READ, read), (WRITE, written)):
        for event, variable in entries:
            if variable in shared:
                found.setdefault(event, []).append((trace.strings[variable], how))
    return dict(sorted(found.items()))


def _entries(start: Ints | None, variables: Ints) -> Iterator[tuple[int, int]]:
    """Each event with each of the variables that it has."""
    if start is None or not len(variables):
        return
    for event, (first, last) in enumerate(pairwise(start)):
        for number in range(first, last):
            yield event, variables[number]


def races(trace: Trace) -> list[Race]:
    """The races of the run, in the order of their second accesses."""
    accesses = contended(trace)
    if not accesses:
        return []
    computation = Computation(trace, "sync")
    finder = _Finder(trace)
    for event, ways in accesses.items():
        clock = computation.clock(event)
        for variable, how in ways:
            finder.access(variable, event, how, clock)
    return finder.found


class Apart:
    """Which accesses of tasks of one event loop do not race, since each of them is done within a turn."""

    def __init__(self, trace: Trace) -> None:
        self._turns = Turns(trace)
        self._across = self._updates(trace) if self._turns else set()
        """(process, variable) where what was read in one turn is written in a later one."""

    def by_turns(self, variable: str, first: Access, second: Access) -> bool:
        return self._turns.together(first.event, second.event) and not any(
            (each.process, variable) in self._across for each in (first, second)
        )

    def _updates(self, trace: Trace) -> set[tuple[int, str]]:
        read: dict[tuple[int, str], Turn | None] = {}
        found = set()
        for event in range(len(trace)):
            turn, process = self._turns.of(event), trace.process[event]
            read.update(((process, variable), turn) for variable in trace.reads(event))
            for variable, _ in trace.writes(event):
                if read.get((process, variable), turn) is not turn:
                    found.add((process, variable))
        return found


class _Finder:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.found: list[Race] = []
        self._apart = Apart(trace)
        self._atomic = Atomic(trace)
        self._seen: set[Key] = set()
        self._last: dict[str, dict[tuple[int, str, str], Access]] = {}
        """For each variable the newest access of each process, way and place."""

    def access(self, variable: str, event: int, how: str, clock: tuple[int, ...]) -> None:
        trace = self.trace
        process = trace.process[event]
        now = Access(event, process, trace.position[event], how)
        before = self._last.setdefault(variable, {})
        for key, earlier in list(before.items()):
            if earlier.position <= clock[earlier.process]:
                if how == WRITE and earlier.process != process:
                    del before[key]  # whoever comes later is ordered after it or races with this write too
            elif WRITE in (how, earlier.how):
                self._report(variable, earlier, now)
        before[process, how, trace.text(trace.place, event) or ""] = now

    def _report(self, variable: str, first: Access, second: Access) -> None:
        if self._apart.by_turns(variable, first, second):
            return
        race = Race(variable, first, second, self._atomic.holds(variable, first, second))
        known = key_of(self.trace, race)
        if known not in self._seen:
            self._seen.add(known)
            self.found.append(race)
