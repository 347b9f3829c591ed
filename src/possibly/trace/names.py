"""Names of events of a trace in the making: given ones, and the default `P:k`.

An event without a given name is called `P:k`, the k-th event of process P from 1. Nobody may be given
the name that another event has by default, earlier or later in the run. Which event is the k-th of its
process matters for such names only, so that index is caught up on demand and costs nothing else.
"""

from __future__ import annotations

from array import array

from possibly.errors import TraceError
from possibly.trace.intern import Column, Strings, quoted
from possibly.trace.model import NONE


class Names:
    """Knows the event of each name; `process` is the growing column of the builder."""

    def __init__(self, strings: Strings, process: array[int], numbers: dict[str, int]) -> None:
        self._strings = strings
        self._process = process
        self._numbers = numbers
        """By name of a process its number."""
        self.given = Column()
        """By event: string number of the name given to it."""
        self._event_of = Column()
        """By string number of a given name: the event."""
        self._chains: list[array[int]] = []
        self._chained = 0
        self._reserved: dict[str, int | None] = {}
        """Given names that look like the default name of an event yet to come, with their lines."""

    def give(self, number: int, name: str, event: int, line: int | None) -> None:
        """Names the event; a given name that says no more than the default is not kept."""
        if self._event_of.get(number) != NONE:
            raise TraceError(f"two events have the name {quoted(name)}")
        if ":" in name and self._is_own_default(name, event, line):
            return
        self._event_of.put(number, event)
        self.given.put(event, number)

    def find(self, name: str) -> int | None:
        """The event of that name among those so far, as `Trace.find` does it."""
        number = self._strings.numbers.get(name)
        event = NONE if number is None else self._event_of.get(number)
        return self._default(name) if event == NONE else event

    def clash(self) -> tuple[str, int | None] | None:
        """A given name that another event turned out to have by default, and its line."""
        for name, line in self._reserved.items():
            if self._default(name) is not None:
                return name, line
        return None

    def _default(self, name: str) -> int | None:
        """The event that has this name by default."""
        event = self._holder(name)
        return event if event is not None and self.given.get(event) == NONE else None

    def _is_own_default(self, name: str, event: int, line: int | None) -> bool:
        holder = self._holder(name)
        if holder is None and default_owner(name) is not None:
            self._reserved[name] = line
        if holder is not None and holder != event and self.given.get(holder) == NONE:
            raise TraceError(f"two events have the name {quoted(name)}: one has it by default")
        return holder == event

    def _holder(self, name: str) -> int | None:
        """The k-th event of P, if the name is P:k and there is one."""
        owner = default_owner(name)
        process = None if owner is None else self._numbers.get(owner[0])
        if owner is None or process is None:
            return None
        self._catch_up()
        chain = self._chains[process]
        return chain[owner[1] - 1] if owner[1] <= len(chain) else None

    def _catch_up(self) -> None:
        for _ in range(len(self._chains), len(self._numbers)):
            self._chains.append(array("i"))
        for event in range(self._chained, len(self._process)):
            self._chains[self._process[event]].append(event)
        self._chained = len(self._process)


def default_owner(name: str) -> tuple[str, int] | None:
    """("P", 3) if the name has the form of the default name P:3."""
    process, colon, position = name.rpartition(":")
    is_position = colon and position.isascii() and position.isdecimal() and position[0] != "0"
    return (process, int(position)) if is_position and len(position) < 19 else None
