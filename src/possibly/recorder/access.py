"""What rewritten source calls: the builtins `_possibly_...` while a program is recorded.

Plain reads and writes tell of themselves in the bytecode (`probes.source`). Here is the rest: containers
that change
in place. A change, the copy of the container and its entry in the log are made by one call of a C function
(`map` over `operator.call`), so no other thread runs in between.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial, wraps
from operator import delitem, setitem
from types import FunctionType
from typing import Any

from possibly.probes import port
from possibly.probes.rewriting.source import ITEM_READ, ITEM_WRITE, MEMBER_READ, MEMBER_WRITE, SET, WRITE
from possibly.recorder.entries import OBJECT_ARGUMENT, THING_ARGUMENT
from possibly.recorder.holding import CONTAINERS, Holding, in_one_step
from possibly.recorder.log import Log
from possibly.recorder.snapshot import PLAIN, held_in, key_text, snapshot

WHOLE = "[]"
"""The key that stands for a container's items as a whole."""


class Access:
    """The functions for one log."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._append = log.note
        self._object_number = log.object_number
        self._key = partial(key_text, number_of=log.object_number)
        self._holding = Holding(log)

    def names(self) -> dict[str, Any]:
        return {
            "_possibly_log": self._append, "_possibly_me": port.me, "_possibly_snap": snapshot,
            "_possibly_plain": PLAIN, "_possibly_slice": slice, "_possibly_kept": self.kept,
            "_possibly_stored": self.stored, "_possibly_stored_in": self.stored_in,
            "_possibly_deleted": self.deleted, "_possibly_deleted_in": self.deleted_in,
            "_possibly_mutator": self.mutator, "_possibly_mutator_in": self.mutator_in,
            "_possibly_item": self.item, "_possibly_member": self.member, "_possibly_seen": self.seen,
            "_possibly_class": self.class_made, "_possibly_args": self.arguments,
            "_possibly_tell": self._append, "_possibly_enter": self._log.enter,
            "_possibly_leave": self._log.leave, **self._log.switch_names(), **self._holding.names(),
        }  # fmt: skip

    def put(self) -> None:
        for name, value in self.names().items():
            setattr(builtins, name, value)

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
        self._holding.keep(value, site, owner)
        return snapshot(value)

    def stored(self, container: Any, key: Any, value: Any, site: int, process: int, kind: int) -> None:
        """`container[key] = value` for a container that is a variable, or whose items are."""
        change = partial(setitem, container, key, value)
        if kind != ITEM_WRITE:
            self._changed(change, container, (kind, process, site))
        elif isinstance(container, CONTAINERS):
            entry = (ITEM_WRITE, process, site, container, self._key(key), snapshot(value))
            in_one_step(change, partial(self._append, entry))
        else:
            change()

    def deleted(self, container: Any, key: Any, site: int, process: int, kind: int) -> None:
        """`del container[key]`."""
        change = partial(delitem, container, key)
        if kind != ITEM_WRITE:
            self._changed(change, container, (kind, process, site))
        elif isinstance(container, CONTAINERS):
            entry = (ITEM_WRITE, process, site, container, WHOLE, len(container))
            in_one_step(change, partial(self._append, entry))
        else:
            change()

    def stored_in(self, owner: Any, attribute: str, key: Any, value: Any, site: int, process: int) -> None:
        container = getattr(owner, attribute)
        start = (MEMBER_WRITE, process, site, owner)
        self._changed(partial(setitem, container, key, value), container, start)

    def deleted_in(self, owner: Any, attribute: str, key: Any, site: int, process: int) -> None:
        container = getattr(owner, attribute)
        start = (MEMBER_WRITE, process, site, owner)
        self._changed(partial(delitem, container, key), container, start)

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

    def mutator(self, container: Any, method: str, site: int, process: int, kind: int) -> Callable[..., Any]:
        bound: Callable[..., Any] = getattr(container, method)
        if not isinstance(container, CONTAINERS):
            return bound
        if kind == ITEM_WRITE:
            entry = (ITEM_WRITE, process, site, container, WHOLE, len(container))
            told = partial(self._append, entry)
            return lambda *a, **k: in_one_step(partial(bound, *a, **k), told)
        start = (kind, process, site)
        return lambda *a, **k: self._changed(partial(bound, *a, **k), container, start)

    def mutator_in(
        self, owner: Any, attribute: str, method: str, site: int, process: int
    ) -> Callable[..., Any]:
        container = getattr(owner, attribute)
        bound: Callable[..., Any] = getattr(container, method)
        if not isinstance(container, CONTAINERS):
            self._append((MEMBER_READ, process, site, owner))
            return bound
        start = (MEMBER_WRITE, process, site, owner)
        return lambda *a, **k: self._changed(partial(bound, *a, **k), container, start)

    def _changed(self, change: Callable[[], Any], container: Any, start: tuple[Any, ...]) -> Any:
        """Makes the change and tells what the container is then."""
        if not isinstance(container, CONTAINERS) or start[0] == SET:
            result = change()
            self._append((*start, snapshot(container)))
            return result
        return self._holding.told(change, container, start)

    def item(self, container: Any, key: Any, site: int, process: int) -> Any:
        """`container[key]` where every item is a variable of its own."""
        if type(container) not in CONTAINERS:
            return container[key]
        entry = (ITEM_READ, process, site, container, self._key(key))
        found = container[key]
        self._append(entry)
        return found

    def member(self, owner: Any, attribute: str, site: int, process: int) -> Any:
        """`owner.attribute` where no name can hold the owner: inside a comprehension."""
        found = getattr(owner, attribute)
        self._append((MEMBER_READ, process, site, owner))
        return found

    def seen(self, value: Any, kind: int, site: int, process: int) -> Any:
        """`(x := value)`."""
        self._append((kind, process, site, self.kept(value, site) if kind == WRITE else snapshot(value)))
        return value
