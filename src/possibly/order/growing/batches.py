"""Many lines that were taken in one after the other, as columns: what followers get who need not see each.

Here belongs the form of a batch and what its followers say they need; `_growing.c` fills it, `Growing` hands
it on. Every line of a batch is a step of its own: joint events come as steps alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

from possibly.compiled import built
from possibly.order.growing.lines import Step


def kernels() -> ModuleType | None:
    """The compiled twin of the way of a line that nothing is missing for, if it was built."""
    return built("possibly.order.growing._growing")


class Watched:
    """Which variables of which processes somebody reads, so that others need not be looked at."""

    def __init__(self) -> None:
        self.variables: list[set[str] | bool | None] = []
        """By process; True: every event matters, None: none does."""

    def add(self, process: int, variables: Collection[str] | None) -> None:
        """These variables of the process; None: whatever it does."""
        while len(self.variables) <= process:
            self.variables.append(None)
        known = self.variables[process]
        if variables is None or known is True:
            self.variables[process] = True
        else:
            self.variables[process] = {*(known if isinstance(known, set) else ()), *variables}


Assigned = list[tuple[int, Any]]
"""The values that a variable of a process gets in a batch, with the numbers of the lines."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines `first` to `first + count` of `lines`, before which `before` lines had been taken in."""

    lines: list[Mapping[str, Any]]
    first: int
    before: int
    count: int
    process: bytes
    position: bytes
    start: bytes
    needs: bytes
    """int32 process and int64 position of each line; its needs go from its start to that of the next."""
    relevant: list[tuple[int, int, Mapping[str, Any]]]
    """The lines that set what somebody reads: number in the batch, process, fields."""
    _assigned: list[dict[tuple[int, str], Assigned]] = field(default_factory=list)
    """Nothing, or what `assigned` has found."""

    @classmethod
    def of(cls, lines: list[Any], first: int, before: int, columns: tuple[bytes, ...]) -> Batch:
        """From the columns of the compiled twin."""
        process, position, start, needs, numbers = columns
        owner = memoryview(process).cast("i")
        relevant = [(n, owner[n], lines[first + n]) for n in memoryview(numbers).cast("i")]
        return cls(lines, first, before, len(owner), process, position, start, needs, relevant)

    def assigned(self, process: int, variable: str) -> Assigned:
        """What that variable gets; gathered once for all who follow the batch."""
        if not self._assigned:
            self._assigned.append(self._gathered())
        return self._assigned[0].get((process, variable), [])

    def _gathered(self) -> dict[tuple[int, str], Assigned]:
        found: dict[tuple[int, str], Assigned] = {}
        for number, process, fields in self.relevant:
            for variable, value in fields.get("set", _NOTHING).items():
                key = process, variable
                if key in found:
                    found[key].append((number, value))
                else:
                    found[key] = [(number, value)]
        return found

    def name(self, number: int) -> str:
        """The name of the event of a line."""
        fields = self.lines[self.first + number]
        position = memoryview(self.position).cast("q")[number]
        return str(fields.get("id", f"{fields['p']}:{position}"))


_NOTHING: Mapping[str, Any] = {}


class Follower(Protocol):
    """Who hears of many lines at once."""

    @property
    def wants_steps(self) -> bool:
        """Whether it has to be told step by step all the same."""

    def take(self, step: Step) -> None: ...

    def take_batch(self, batch: Batch) -> None: ...
