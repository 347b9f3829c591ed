"""What sites tell by more than an entry: containers that change in place, classes, arguments of calls.

A change, the copy of the container and its entry in the log are made by one call of a C function (`map` over
`operator.call`), so no other thread runs in between.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from types import FunctionType
from typing import Any

from possibly.probes import port
from possibly.recorder.entries import (
    ITEM_WRITE,
    MEMBER_READ,
    MEMBER_WRITE,
    OBJECT_ARGUMENT,
    SET,
    THING_ARGUMENT,
)
from possibly.recorder.holding import CONTAINERS, Holding, in_one_step
from possibly.recorder.log import Log
from possibly.recorder.snapshot import held_in, key_text, snapshot

WHOLE = "[]"
"""The key that stands for a container's items as a whole."""


class Access:
    """The functions for one log."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._append = log.note
        self._object_number = log.object_number
        self.key = partial(key_text, number_of=log.object_number)
        """The text of an item's key."""
        self.holding = Holding(log)

    def arguments(self, *values: Any) -> tuple[Any, ...]:
        """The arguments of a call: values as they are now, other objects by their number."""
        return tuple([self._argument(value) for value in values])

    def _argument(self, value: Any) -> Any:
        primitive = port.number_of(value)
        if primitive:
            return (THING_ARGUMENT, primitive)
        found = snapshot(value)
        is_other = type(found) is str and not isinstance(value, str)
        return (OBJECT_ARGUMENT, self._object_number(value)) if is_other else found

    def kept(self, value: Any, site: int, owner: Any = None) -> Any:
        """What is told of a value that a shared variable gets."""
        self.holding.keep(value, site, owner)
        return snapshot(value)

    def class_made(self, made: Any, words: tuple[str, ...], own: tuple[str, ...], site: int) -> None:
        """A class whose body gives watched names, or whose objects get them from generated code."""
        if not isinstance(made, type):
            return
        for word in own:
            for value in held_in(made, word):
                if not hasattr(type(value), "__get__"):
                    self._tell_member(made, word, value, site)
        begin: Any = made.__dict__.get("__init__")
        if isinstance(begin, FunctionType) and begin.__code__.co_filename.startswith("<"):
            made.__init__ = self._telling(begin, words, site)  # type: ignore[misc]

    def _telling(self, begin: Any, words: tuple[str, ...], site: int) -> Any:
        @wraps(begin)
        def told(made: Any, *arguments: Any, **named: Any) -> None:
            begin(made, *arguments, **named)
            for word in words:
                for value in held_in(made, word):
                    self._tell_member(made, word, value, site)

        return told

    def _tell_member(self, owner: Any, word: str, value: Any, site: int) -> None:
        file, line, _ = self._log.described[site]
        place = self._log.site(file, line, None, word, None)
        self._append((MEMBER_WRITE, port.me(), place, owner, self.kept(value, place, owner)))

    def mutator(self, bound: Callable[..., Any], start: tuple[Any, ...]) -> Callable[..., Any]:
        """The method of a container that a variable holds, made to tell that it changed that."""
        container = getattr(bound, "__self__", None)
        if isinstance(container, CONTAINERS):
            return lambda *a, **k: self.changed(partial(bound, *a, **k), container, start)
        if start[0] == MEMBER_WRITE:
            self._append((MEMBER_READ, *start[1:]))
        return bound

    def item_mutator(self, bound: Callable[..., Any], site: int) -> Callable[..., Any]:
        """The same where every item is a variable of its own."""
        container = getattr(bound, "__self__", None)
        if not isinstance(container, CONTAINERS):
            return bound
        entry = (ITEM_WRITE, port.me(), site, container, WHOLE, len(container))
        told = partial(self._append, entry)
        return lambda *a, **k: in_one_step(partial(bound, *a, **k), told)

    def changed(self, change: Callable[[], Any], container: Any, start: tuple[Any, ...]) -> Any:
        """Makes the change and tells what the container is then."""
        if not isinstance(container, CONTAINERS) or start[0] == SET:
            result = change()
            self._append((*start, snapshot(container)))
            return result
        return self.holding.told(change, container, start)
