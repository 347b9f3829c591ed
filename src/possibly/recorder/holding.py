"""Containers that shared variables hold, followed by whatever name they are changed.

A list that a watched variable holds may be changed as an argument, as an item of another container, under a
second name or by a function in C. Each store of a container into a watched variable is kept here; changes of
containers anywhere in the program's own modules ask here whether a variable holds it, and are told as writes
of that variable.

Law: a change, the copy of the container and its entry in the log are made by one call of a C function (`map`
over `operator.call`), so no other thread runs in between. Of a container inside another one only the order of
entries is kept. Before a change the container is compared with what was told last: what differs was changed
unseen, and the log says so. Items are compared by identity, so no method of the program is called.
"""

from __future__ import annotations

import operator
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from operator import call, delitem, is_, setitem
from types import BuiltinFunctionType, MethodDescriptorType, MethodWrapperType
from typing import Any

from possibly.probes import port
from possibly.probes.watching.containers import IN_PLACE
from possibly.recorder.entries import MEMBER_WRITE, RAW, WRITE
from possibly.recorder.log import Log, globals_of_the_program
from possibly.recorder.snapshot import DEEPEST, LONGEST, held_in, snapshot
from possibly.records import dataclass

CONTAINERS = (list, dict, deque, set, bytearray)
_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    word: getattr(operator, word) for word in IN_PLACE.values()
}
_IN_C = (BuiltinFunctionType, MethodDescriptorType, MethodWrapperType)


def in_one_step(*calls: Callable[[], Any]) -> Any:
    """Calls them all, one after the other, inside one call of C code; returns what the first one returns."""
    apply: Any = call
    found, *_ = map(apply, calls)
    return found


def copied(container: Any) -> tuple[Any, Callable[[], None]]:
    """An empty copy, and what fills it in one call of C code.

    An iterator of a list looks at the list as it is then, so no method of a subclass is called.
    """
    copy: Any = next((kind() for kind in (dict, set, bytearray) if isinstance(container, kind)), [])
    if isinstance(container, list):
        return copy, partial(copy.extend, list.__iter__(container))
    return copy, partial(copy.update if isinstance(copy, dict | set) else copy.extend, container)


@dataclass(frozen=True, slots=True)
class _Holder:
    """A variable that was given a container."""

    variable: str
    owner: Callable[[], Any] | None
    """The object whose attribute it is; None for a global."""


class Holding:
    """What variables hold, for one log."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.holders: dict[int, dict[tuple[str, int], _Holder]] = {}
        """Containers by their identity -> variables by theirs."""
        self._kept: dict[int, Any] = {}
        """The containers themselves, so that their identities stay theirs."""
        self._last: dict[int, Any] = {}
        """Of each container the copy that was told last."""
        self._held: dict[tuple[str, int], list[int]] = {}
        """Variables -> the containers that each holds: what none holds any more is forgotten."""
        self._homes: dict[str, list[dict[str, Any]]] = {}
        self._off: set[str] = set()
        """Words of variables that are not told any more: what these hold is nobody's (`switching`)."""
        log.forget_word = self._forget_word

    # ---- stores ---------------------------------------------------------------------------------

    def keep(self, value: Any, site: int, owner: Any) -> None:
        """A shared variable gets the value."""
        if not isinstance(value, CONTAINERS):
            return
        variable = self._log.described[site][2] or ""
        if _word(variable) in self._off:
            return
        key = variable, id(owner)
        self._forget(key)
        holder = _Holder(variable, None if owner is None else _reference(owner, partial(self._forget, key)))
        for container in _containers(value):
            self.holders.setdefault(id(container), {})[key] = holder
            self._kept[id(container)] = container
            self._held.setdefault(key, []).append(id(container))
        copy, fill = copied(value)
        in_one_step(fill, partial(self._last.__setitem__, id(value), copy))

    def _forget_word(self, word: str) -> None:
        self._off.add(word)
        for key in list(self._held):
            if _word(key[0]) == word:
                self._forget(key)

    def _forget(self, key: tuple[str, int], _: Any = None) -> None:
        """The variable gets another value, or its object has ended."""
        for number in self._held.pop(key, ()):
            holders = self.holders.get(number)
            if holders is None:
                continue
            holders.pop(key, None)
            if not holders:
                for known in (self.holders, self._last, self._kept):
                    known.pop(number, None)

    # ---- changes --------------------------------------------------------------------------------

    def told(self, change: Callable[[], Any], container: Any, start: tuple[Any, ...]) -> Any:
        """Makes the change and tells what the container is then, as an entry that starts so.

        One that is told for the first time had a value that was not.
        """
        before, fill = copied(container)
        last = in_one_step(partial(self._last.get, id(container)), fill)
        if last is None or not _same(last, before):
            self._log.tell_unseen(start)
        return self._told(change, container, start)

    def _told(self, change: Callable[[], Any], container: Any, start: tuple[Any, ...]) -> Any:
        copy, fill = copied(container)
        noted = partial(self._last.__setitem__, id(container), copy)
        self._kept[id(container)] = container
        told = partial(self._log.note, (start[0] + RAW, *start[1:], copy))
        return in_one_step(change, fill, told, noted)

    def _changed(self, change: Callable[[], Any], container: Any, site: int) -> Any:
        """Makes the change, and tells of it as a write of each variable that holds the container."""
        starts = list(self._starts(container, site))
        if not starts:
            return change()
        *others, (root, first) = starts
        found = self.told(change, root, first) if root is container else self._told_late(change, root, first)
        for outer, start in others:
            self._told_late(_nothing, outer, start)
        return found

    def _told_late(self, change: Callable[[], Any], root: Any, start: tuple[Any, ...]) -> Any:
        """The same for a container inside the one that the variable holds."""
        found = change()
        self._log.note((*start, snapshot(root)))
        self.keep(root, start[2], start[3] if start[0] == MEMBER_WRITE else None)
        return found

    # ---- what sites ask and call --------------------------------------------------------------------

    def holds(self, container: Any) -> bool:
        """Whether some variable held it."""
        return id(container) in self.holders

    def mutator(self, bound: Any, site: int) -> Any:
        """A method that is about to be called."""
        if isinstance(bound, MethodDescriptorType):
            return self.given(bound, site)  # of a class: what it changes is an argument
        container = getattr(bound, "__self__", None)
        if id(container) not in self.holders:
            return bound
        return lambda *a, **k: self._changed(partial(bound, *a, **k), container, site)

    def stored(self, container: Any, key: Any, value: Any, site: int) -> None:
        """`container[key] = value`"""
        self._changed(partial(setitem, container, key, value), container, site)

    def deleted(self, container: Any, key: Any, site: int) -> None:
        """`del container[key]`"""
        self._changed(partial(delitem, container, key), container, site)

    def in_place(self, value: Any, word: str, operand: Any, site: int) -> Any:
        """`value += operand` and its kin."""
        return self._changed(partial(_FUNCTIONS[word], value, operand), value, site)

    def given(self, function: Any, site: int) -> Any:
        """A function that gets what a variable holds; the program's own, in Python, tell by themselves."""
        return partial(self._called, function, site) if isinstance(function, _IN_C) else function

    def _called(self, function: Any, site: int, *arguments: Any, **words: Any) -> Any:
        """Whether it changes its arguments is seen afterwards: most do not."""
        apply = partial(function, *arguments, **words)
        held = next((each for each in arguments if id(each) in self.holders), None)
        if held is None:
            return apply()
        (before, fill_before), (after, fill_after) = copied(held), copied(held)
        last = self._last.get(id(held))
        _, found, _ = map(_apply, (fill_before, apply, fill_after))
        if not _same(before, after):
            for root, start in self._starts(held, site):
                if root is held and (last is None or not _same(last, before)):
                    self._log.tell_unseen(start)
                (self._told if root is held else self._told_late)(_nothing, root, start)
        return found

    # ---- variables ------------------------------------------------------------------------------

    def _starts(self, container: Any, site: int) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """What variables hold that the container is or lies in, with the beginning of an entry for each; the
        container itself last."""
        file, line, _ = self._log.described[site]
        inner, itself = [], []
        for holder in list(self.holders.get(id(container), {}).values()):
            place = self._log.site(file, line, None, holder.variable, None)
            for root, start in self._bound(holder, place):
                if root is container:
                    itself.append((root, start))
                elif any(each is container for each in _containers(root)):
                    inner.append((root, start))
        yield from (*inner, *itself)

    def _bound(self, holder: _Holder, site: int) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """What the variable holds now."""
        if holder.owner is not None:
            owner = holder.owner()
            for value in held_in(owner, holder.variable):
                yield value, (MEMBER_WRITE, port.me(), site, owner)
            return
        if holder.variable not in self._homes:
            self._homes[holder.variable] = list(_homes(holder.variable))
        name = _word(holder.variable)
        yield from (
            (home[name], (WRITE, port.me(), site)) for home in self._homes[holder.variable] if name in home
        )


_apply: Any = call


def _word(variable: str) -> str:
    """The last word of a variable's name."""
    return variable.rpartition(".")[2]


def _nothing() -> None:
    """The change was made."""


def _homes(variable: str) -> Iterator[dict[str, Any]]:
    """The modules that have the global."""
    for prefix, variables in globals_of_the_program():
        name = _word(variable)
        if name in variables and variable in (name, f"{prefix}{name}"):
            yield variables


def _reference(owner: Any, ended: Callable[[Any], None]) -> Callable[[], Any]:
    try:
        return weakref.ref(owner, ended)
    except TypeError:
        return partial(_itself, owner)


def _itself(owner: Any) -> Any:
    return owner


def _containers(value: Any, depth: int = 0) -> Iterator[Any]:
    """The container and those in it, as deep as values are told."""
    yield value
    if depth < DEEPEST:
        for each in _items(value)[:LONGEST]:
            if isinstance(each, CONTAINERS):
                yield from _containers(each, depth + 1)


def _items(value: Any) -> list[Any]:
    """What lies in a container, without a method of the program; sets and bytes hold no container."""
    if isinstance(value, dict):
        return list(dict.values(value))
    for base in _SEQUENCES:
        if isinstance(value, base):
            return list(base.__iter__(value))
    return []


_SEQUENCES: tuple[Any, ...] = (list, deque)


def _same(one: Any, other: Any) -> bool:
    """Whether two copies have the same objects at the same places."""
    if isinstance(one, dict) and isinstance(other, dict):
        return _same(list(one), list(other)) and _same(list(one.values()), list(other.values()))
    if isinstance(one, set | bytearray):
        return bool(one == other)
    return len(one) == len(other) and all(map(is_, one, other))
