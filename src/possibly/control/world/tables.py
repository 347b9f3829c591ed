"""What belongs to objects that have no room for it, such as sockets, by which they are.

Unlike a dictionary with weak keys of the standard library it runs no code that the program might be seen to
run when an object goes.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Table(Generic[Value]):
    """Object -> value, as long as the object is there."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Any, Value]] = {}

    def __setitem__(self, key: Any, value: Value) -> None:
        self._entries[id(key)] = weakref.ref(key, partial(self._gone, id(key))), value

    def _gone(self, number: int, reference: Any) -> None:
        found = self._entries.get(number)
        if found is not None and found[0] is reference:
            del self._entries[number]

    def get(self, key: Any) -> Value | None:
        found = self._entries.get(id(key))
        return found[1] if found is not None else None

    def __getitem__(self, key: Any) -> Value:
        return self._entries[id(key)][1]

    def __delitem__(self, key: Any) -> None:
        del self._entries[id(key)]

    def __contains__(self, key: Any) -> bool:
        return id(key) in self._entries

    def __bool__(self) -> bool:
        return bool(self._entries)

    def items(self) -> list[tuple[Any, Value]]:
        found = [(reference(), value) for reference, value in self._entries.values()]
        return [(key, value) for key, value in found if key is not None]

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self.items()])

    def clear(self) -> None:
        self._entries.clear()
