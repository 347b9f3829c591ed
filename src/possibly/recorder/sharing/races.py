"""Races: two accesses to one shared variable, one of them a write, that no synchronisation orders.

The order is `sync`: program order and synchronisation, without the order of the accesses themselves. One
pass with
vector clocks; for each variable the last accesses of every process since they were ordered are kept. Of many
races between the same two lines on one variable, or on items of one container, the first is reported.

Tasks of one event loop are not interrupted, so they race only where one of them writes what it has read in a
turn before: another one may have written between.

Two operations of the interpreter that each change a container as a whole (`append`, `setdefault`) are told
apart: whichever comes first, none is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from possibly.order.computation import Computation
from possibly.trace.model import Ints, Trace
from possibly.trace.turns import Turn, Turns

WRITE, READ = "write", "read"


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
    """Both are single operations that change a container."""
    path: tuple[int, ...] | None = None
    """Events in an order after which both come next; None: nothing orders them in the run itself."""


Key = tuple[str, frozenset[str]]


def key_of(trace: Trace, race: Race) -> Key:
    """What races between the same lines have in common."""
    places = frozenset(trace.text(trace.place, each.event) or "" for each in (race.first, race.second))
    is_atomic = all(_is_atomic(trace, each) for each in (race.first, race.second))
    return f"{race.variable.partition('[')[0]}{'[]' if is_atomic else ''}", places


def _is_atomic(trace: Trace, access: Access) -> bool:
    return trace.extra.get(access.event, {}).get("atomic") is True


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
        race = Race(variable, first, second, all(_is_atomic(self.trace, each) for each in (first, second)))
        known = key_of(self.trace, race)
        if known not in self._seen:
            self._seen.add(known)
            self.found.append(race)
