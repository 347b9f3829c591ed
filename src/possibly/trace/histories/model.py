"""A history: operations of clients on an object, each with the moment of its call and of its return.

Moments are counted over all calls and returns in the order in which they happened: an operation that returned
before another one was called comes first, and all others overlap. Here belongs the type and nothing about
what an object may answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""None, bool, int, float, str, a tuple of values, a frozenset of values, a `Keyword` or a `Map`: hashable."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A name that stands for itself, `:read` in Clojure's notation; no text."""

    name: str

    def __str__(self) -> str:
        return f":{self.name}"


@dataclass(frozen=True, slots=True)
class Map:
    """Keys with their values, as a value."""

    items: frozenset[tuple[Value, Value]]

    def get(self, name: str) -> Value:
        """What stands at this key, which may be a keyword or a text."""
        return next((value for key, value in self.items if key == name or key == Keyword(name)), None)


class Outcome(Enum):
    """What is known of an operation once the history ends."""

    OK = "ok"
    """It happened and answered."""
    FAILED = "fail"
    """It is known not to have happened."""
    UNKNOWN = "info"
    """It may have happened at any time since its call, may happen later, or never."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One call and what became of it."""

    process: str
    name: str
    argument: Value
    result: Value
    outcome: Outcome
    called: int
    returned: int | None
    """The moment of its return; None if it is not known to have returned."""
    key: Value = None
    """The part of the object that it concerns, where the history says so."""
    error: Value = None
    """Why it failed or is unknown, where the history says so."""
    line: int = 0
    """Of its call in the file, from 1."""

    @property
    def is_known(self) -> bool:
        """Whether it is known to have happened."""
        return self.outcome is Outcome.OK


@dataclass(frozen=True, slots=True)
class History:
    """Operations in the order of their calls."""

    operations: tuple[Operation, ...]
    length: int
    """How many calls and returns there are."""
    file: str | None = None

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    def __len__(self) -> int:
        return len(self.operations)


def shown(value: Value) -> str:
    """The value as a reader of the history would write it."""
    match value:
        case None:
            return "nil"
        case True | False:
            return str(value).lower()
        case tuple():
            return f"[{' '.join(map(shown, value))}]"
        case frozenset():
            return f"{{{' '.join(sorted(map(shown, value)))}}}"
        case Map():
            pairs = sorted(f"{shown(key)} {shown(each)}" for key, each in value.items)
            return f"{{{', '.join(pairs)}}}"
        case str():
            import json

            return json.dumps(value, ensure_ascii=False)
    return str(value)
