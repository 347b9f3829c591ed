"""What is known of objects of the program, for as long as they live.

Unlike `weakref.WeakKeyDictionary`, objects are told apart by identity, so that no code of theirs is run, and
nothing here is code of a package: that would be heard of wherever a task enters it (`loading.entries`).
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any, Generic, TypeVar

Known = TypeVar("Known")


class Attached(Generic[Known]):
    """Object -> what is attached to it; neither keeps the object nor outlives it."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], Known]] = {}

    def __setitem__(self, thing: Any, known: Known) -> None:
        number = id(thing)
        self._entries[number] = weakref.ref(thing, partial(self._entries.pop, number)), known

    def get(self, thing: Any) -> Known | None:
        entry = self._entries.get(id(thing))
        return None if entry is None else entry[1]

    def __getitem__(self, thing: Any) -> Known:
        return self._entries[id(thing)][1]

    def __contains__(self, thing: Any) -> bool:
        return id(thing) in self._entries

    def drop(self, thing: Any) -> None:
        """Nothing is known of the object any more."""
        self._entries.pop(id(thing), None)

    def items(self) -> list[tuple[Any, Known]]:
        """All that live, in the order in which they became known."""
        return [(thing, known) for ref, known in self._entries.values() if (thing := ref()) is not None]

    def values(self) -> list[Known]:
        return [known for _, known in self.items()]

    def clear(self) -> None:
        self._entries.clear()
