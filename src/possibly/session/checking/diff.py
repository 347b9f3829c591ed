"""Two runs compared: who did other things, who went on in another order, which values and races differ.

Processes are matched by their names and events by their position in their process. Two events are the same if
they have the same kind, function, label, place and values; their names and times do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from possibly.recorder.sharing.races import races
from possibly.trace.model import Event, Trace


@dataclass(frozen=True, slots=True)
class Parting:
    """Where a process did something else; None where it had ended."""

    process: str
    position: int
    """It is the position-th event of the process, from 1."""
    first: Event | None
    second: Event | None


@dataclass(frozen=True, slots=True)
class Turn:
    """Where the recorded orders part: what each goes on with after so many events."""

    after: int
    first: Event
    second: Event


@dataclass(frozen=True, slots=True)
class Difference:
    only_first: tuple[str, ...]
    """Processes."""
    only_second: tuple[str, ...]
    partings: tuple[Parting, ...]
    turn: Turn | None
    values: tuple[tuple[str, Any, Any], ...]
    """Variables whose last values differ; MISSING where one has none."""
    races_first: tuple[str, ...]
    """Races that only the first run has, in words."""
    races_second: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not any(
            (self.only_first, self.only_second, self.partings, self.turn, self.values,
             self.races_first, self.races_second)
        )  # fmt: skip


MISSING = object()


def difference(first: Trace, second: Trace) -> Difference:
    """All that tells two runs apart."""
    ours, theirs = _by_process(first), _by_process(second)
    partings = tuple(
        found for name in ours if name in theirs for found in _parting(name, ours[name], theirs[name])
    )
    races_ours, races_theirs = _races(first), _races(second)
    return Difference(
        tuple(name for name in ours if name not in theirs),
        tuple(name for name in theirs if name not in ours),
        partings,
        _turn(first, second),
        tuple(_values(first, second)),
        tuple(sorted(races_ours - races_theirs)),
        tuple(sorted(races_theirs - races_ours)),
    )


def _by_process(trace: Trace) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {process.name: [] for process in trace.processes}
    for number in range(len(trace)):
        event = trace.event(number)
        found[event.process].append(event)
    return found


def _facts(event: Event) -> tuple[object, ...]:
    return (
        event.kind,
        event.fn,
        event.label,
        event.at,
        dict(event.set),
        dict(event.write),
        set(event.read),
        event.tag,
    )


def _parting(name: str, ours: list[Event], theirs: list[Event]) -> Iterator[Parting]:
    for position, (one, other) in enumerate(zip_longest(ours, theirs), 1):
        if one is None or other is None or _facts(one) != _facts(other):
            yield Parting(name, position, one, other)
            return


def _turn(first: Trace, second: Trace) -> Turn | None:
    for number in range(min(len(first), len(second))):
        one, other = first.event(number), second.event(number)
        if one.process != other.process:
            return Turn(number, one, other)
        if _facts(one) != _facts(other):
            return None  # a process does something else: that is told as such
    return None


def _values(first: Trace, second: Trace) -> Iterator[tuple[str, Any, Any]]:
    ours, theirs = _last(first), _last(second)
    for name in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(name, MISSING), theirs.get(name, MISSING)
        if type(one) is not type(other) or one != other:
            yield name, one, other


def _last(trace: Trace) -> dict[str, Any]:
    found: dict[str, Any] = dict(trace.shared)
    for process in trace.processes:
        found |= {f"{process.name}.{name}": value for name, value in process.init.items()}
    for number in range(len(trace)):
        event = trace.event(number)
        found |= {f"{event.process}.{name}": value for name, value in event.set.items()}
        found |= event.write
    return found


def _races(trace: Trace) -> set[str]:
    def place(event: int) -> str:
        return trace.text(trace.place, event) or "?"

    found = races(trace)
    return {f"{race.variable}: {place(race.first.event)} and {place(race.second.event)}" for race in found}
