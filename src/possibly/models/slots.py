"""Where the values of a state lie: one bit field a variable, packed into one integer.

Theory of operation. A *slot* is a scalar variable, an element of an array, or a channel with all it
contains. Its bit field holds the number of its value in a table of the values met so far, so that a state is
one integer, whatever the values are. The width of the field is fixed before the first state is made: if the
values that can be assigned are few, they are found beforehand and the field is as wide as they need; else it
is `UNBOUNDED_BITS` wide, and one more value than it can number is an error that names the variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from possibly.errors import PossiblyError

Value = Any
Values = list[Value]
"""The values of all slots by number; those that nobody reads may stand there as anything."""

Evaluate = Callable[[Values], Value]
"""An expression: its value, given those of the slots it reads."""

UNBOUNDED_BITS = 16


class _Nothing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING = _Nothing()
"""The value of a variable that was not assigned yet."""


class Failure(Exception):
    """A statement of the model cannot be executed: the text says why."""


class Place(NamedTuple):
    """A variable: its slots from `first` on, as many as the product of `sizes` (none: a scalar)."""

    name: str
    process: str | None
    first: int
    sizes: tuple[int, ...] = ()
    capacity: int = 0
    """Of a channel, or of each channel of an array; 0: no channel."""

    @property
    def slots(self) -> range:
        count = 1
        for size in self.sizes:
            count *= size
        return range(self.first, self.first + count)


class Slot:
    """A bit field and the values it numbers."""

    def __init__(self, name: str, initial: Value) -> None:
        self.name = name
        self.initial = initial
        self.values: list[Value] = []
        self.shift = self.mask = 0
        self._numbers: dict[Any, int] = {}

    def place(self, shift: int, domain: Iterable[Value] | None) -> int:
        """Fixes the field; the shift of the next one. `domain` None: anything may be assigned."""
        bits = UNBOUNDED_BITS
        if domain is not None:
            known = list(domain)
            bits = max(len(known) - 1, 0).bit_length()
            for value in known:
                self.number(value, check=False)
        self.shift, self.mask = shift, (1 << bits) - 1
        return shift + bits

    def number(self, value: Value, check: bool = True) -> int:
        key = identity(value)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.values)
            self.values.append(value)
            if check and found > self.mask:
                raise PossiblyError(
                    f"{self.name} takes more than {found:,} values",
                    hint=f"bound it, for instance with % {self.mask + 1}",
                )
        return found

    def takes(self, value: Value) -> bool:
        """Whether it has a number for the value, or room for another one."""
        return identity(value) in self._numbers or len(self.values) <= self.mask

    def value(self, state: int) -> Value:
        return self.values[state >> self.shift & self.mask]


def identity(value: Value) -> Any:
    """Equal only for values of one type: True is not 1."""
    if isinstance(value, tuple):
        return tuple([identity(item) for item in value])
    return type(value), value
