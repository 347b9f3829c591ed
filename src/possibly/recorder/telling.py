"""The sites of what is watched: each appends its entry to the log, right before what it tells of happens.

Law: between an entry and the instruction that it tells of no other thread runs. So an entry is appended by an
operator and not by a call, after which the interpreter might look for other threads, and it is the last thing
that a site does. What takes longer, like the copy of a container, is done before.

Sites of which there are many are compiled (`_tell.c`); these here are their plain twins, and all others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from operator import delitem, setitem
from types import MemberDescriptorType
from typing import Any

from possibly.probes import port
from possibly.probes.watching.insert import IN_PLACE
from possibly.probes.watching.labels import MARK as MARKING
from possibly.probes.watching.telling import SiteMaker, Telling, Told
from possibly.recorder.access import WHOLE, Access
from possibly.recorder.entries import (
    ENTER,
    EXIT,
    ITEM_READ,
    ITEM_WRITE,
    MARK,
    MEMBER_READ,
    MEMBER_WRITE,
    READ,
    SET,
    WRITE,
)
from possibly.recorder.holding import CONTAINERS
from possibly.recorder.log import Log
from possibly.recorder.snapshot import PLAIN, snapshot

Entry = tuple[Any, ...]


class Sites:
    """Makes the sites of one log."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.access = Access(log)
        self.is_quiet = False
        """The recording is over; code that has sites goes on."""
        self.me: Callable[[], int] = getattr(log, "looked_me", port.me)
        self.look: Callable[[], None] = getattr(log, "look", _nothing)
        """What is done after an entry with no store right behind it."""
        self._numbers = {word: number for number, word in enumerate(log.unasked)}

    def maker(self, file: str) -> SiteMaker:
        """Makes the sites of a file."""

        def make(told: Told) -> Site:
            number = self.log.site(file, told.line, told.label, told.variable, told.function)
            site = _KINDS[told.kind](self, number, told)
            return site if self.log.tape is None else self._compiled(site)

        return make

    def _compiled(self, site: Site) -> Any:
        """Its compiled twin, if there is one."""
        told = site.told
        known = self.access.holding.holders
        if isinstance(site, _Stored):
            known = site.pending
        elif (
            (told.kind in _EXCHANGED and told.variable is not None)
            or told.kind not in _COMPILED
            or (told.kind in (Telling.ENTER, Telling.EXIT) and not site.is_bare)
        ):
            return site
        variable = told.variable or ""
        return self.log.tape.site(
            int(told.kind), site.number, site, site.switch, self.log.live, variable, known
        )

    def silence(self) -> None:
        """The recording is over."""
        self.is_quiet = True
        if self.log.tape is not None:
            self.log.tape.silence()

    def marks(self, file: str) -> Callable[[int, str], int]:
        """The sites of labels that stand alone."""
        return lambda line, label: self.log.site(file, line, label)

    def mark(self, site: int) -> None:
        """A label is passed."""
        if not self.is_quiet:
            self.log.note((MARK, self.me(), site))
            self.look()

    def builtins(self) -> dict[str, Any]:
        """What the source of a label calls."""
        return {MARKING: self.mark}

    def switch_of(self, variable: str | None) -> int:
        """The place of the word in `Log.live`; -1: it was asked for."""
        return self._numbers.get((variable or "").rpartition(".")[2], -1)


class Site:
    """One place of the program's."""

    __slots__ = ("number", "sites", "switch", "told")

    def __init__(self, sites: Sites, number: int, told: Told) -> None:
        self.sites, self.number, self.told = sites, number, told
        self.switch = sites.switch_of(told.variable)
        """Of the variable, where that is told as long as it is not too much."""

    @property
    def is_bare(self) -> bool:
        """Whether nothing but the place is told."""
        return True

    @property
    def is_off(self) -> bool:
        """Whether nothing is told any more."""
        return self.sites.is_quiet or (self.switch >= 0 and not self.sites.log.live[self.switch])

    def _append(self, entry: Entry) -> None:
        entries = self.sites.log.entries
        entries += (entry,)


class _Read(Site):
    __slots__ = ()

    def __delitem__(self, _: object) -> None:
        if self.is_off:
            return
        entry = (READ, self.sites.me(), self.number)
        entries = self.sites.log.entries
        entries += (entry,)


class _Write(Site):
    __slots__ = ()

    def __delitem__(self, value: Any) -> None:
        if self.is_off:
            return
        entry = (WRITE, self.sites.me(), self.number, self.kept(value))
        entries = self.sites.log.entries
        entries += (entry,)

    def kept(self, value: Any) -> Any:
        """What is told of the value."""
        return value if value.__class__ in PLAIN else self.sites.access.kept(value, self.number)


class _MemberRead(Site):
    __slots__ = ()

    def __delitem__(self, owner: Any) -> None:
        if self.is_off:
            return
        entry = (MEMBER_READ, self.sites.me(), self.number, owner)
        entries = self.sites.log.entries
        entries += (entry,)


class _MemberWrite(Site):
    """A store that may fail, or runs code of the program, is told when it is over."""

    __slots__ = ("pending",)

    def __init__(self, sites: Sites, number: int, told: Told) -> None:
        super().__init__(sites, number, told)
        self.pending: dict[int, Entry] = {}
        """Frames -> what is told if the store succeeds."""

    def __setitem__(self, owner: Any, value: Any) -> None:
        if self.is_off:
            return
        entry = (MEMBER_WRITE, self.sites.me(), self.number, owner, self.kept(owner, value))
        if not stores_plainly(type(owner), self.told.variable or ""):
            self.pending[id(sys._getframe(1))] = entry
            return
        entries = self.sites.log.entries
        entries += (entry,)

    def kept(self, owner: Any, value: Any) -> Any:
        """What is told of the value."""
        return value if value.__class__ in PLAIN else self.sites.access.kept(value, self.number, owner)


class _Stored(Site):
    __slots__ = ("pending",)

    def __init__(self, sites: Sites, number: int, told: Told) -> None:
        super().__init__(sites, number, told)
        self.pending: dict[int, Entry] = _plain(told.more).pending

    def __delitem__(self, _: object) -> None:
        if self.pending:
            entry = self.pending.pop(id(sys._getframe(1)), None)
            if entry is not None:
                self._append(entry)


class _Set(Site):
    __slots__ = ()

    def __delitem__(self, value: Any) -> None:
        if not self.sites.is_quiet:
            self._append((SET, self.sites.me(), self.number, self.kept(value)))

    def kept(self, value: Any) -> Any:
        """What is told of the value."""
        return snapshot(value)


class _Enter(Site):
    __slots__ = ("given",)

    def __init__(self, sites: Sites, number: int, told: Told) -> None:
        super().__init__(sites, number, told)
        self.given: dict[int, Any] = {}
        """Frames -> the arguments of their calls."""

    @property
    def is_bare(self) -> bool:
        return self.told.more == (None, ())

    def __delitem__(self, values: Any) -> None:
        if self.sites.is_quiet:
            return
        entry: Entry = (ENTER, self.sites.me(), self.number)
        told, scoped = self.told.more
        if told is not None:
            given = self.sites.access.arguments(*_spread(values, told))
            self.given[id(sys._getframe(1))] = given
            entry = (*entry, given)
        if scoped:
            pairs = tuple([(name, snapshot(values[place])) for name, place in scoped])
            entry = (*entry, *([None] if told is None else []), pairs)
        self.sites.log.note(entry)
        self.sites.look()


class _Exit(Site):
    __slots__ = ()

    @property
    def is_bare(self) -> bool:
        return _plain(self.told.more).told.more[0] is None

    def __delitem__(self, _: object) -> None:
        if self.sites.is_quiet:
            return
        entry: Entry = (EXIT, self.sites.me(), self.number)
        if not self.is_bare:
            given = _plain(self.told.more).given
            entry = (*entry, given.pop(id(sys._getframe(1)), ()))
        self.sites.log.note(entry)
        self.sites.look()


class _CountedEnter(Site):
    __slots__ = ()

    def __delitem__(self, _: object) -> None:
        if not self.sites.is_quiet:
            self.sites.log.enter(self.number)


class _CountedExit(Site):
    __slots__ = ()

    def __delitem__(self, _: object) -> None:
        if not self.sites.is_quiet:
            self.sites.log.leave(self.number)


# ---- items ------------------------------------------------------------------------------------------


class _ItemRead(Site):
    __slots__ = ()

    def __setitem__(self, key: Any, container: Any) -> None:
        if type(container) not in CONTAINERS or self.sites.is_quiet:
            return
        entry = (ITEM_READ, self.sites.me(), self.number, container, self.sites.access.key(key))
        entries = self.sites.log.entries
        entries += (entry,)


class _ItemWrite(Site):
    __slots__ = ()

    def __delitem__(self, given: tuple[Any, Any, Any]) -> None:
        value, container, key = given
        if not isinstance(container, CONTAINERS) or self.sites.is_quiet:
            return
        text = self.sites.access.key(key)
        entry = (ITEM_WRITE, self.sites.me(), self.number, container, text, snapshot(value))
        entries = self.sites.log.entries
        entries += (entry,)


class _ItemDelete(Site):
    __slots__ = ()

    def __setitem__(self, key: Any, container: Any) -> None:
        if not isinstance(container, CONTAINERS) or self.sites.is_quiet:
            return
        entry = (ITEM_WRITE, self.sites.me(), self.number, container, WHOLE, len(container))
        entries = self.sites.log.entries
        entries += (entry,)


# ---- containers -------------------------------------------------------------------------------------


class _Changing:
    """A container that is about to get or lose an item, which is told as a write of its variable."""

    __slots__ = ("_access", "_container", "_start")

    def __init__(self, access: Access, container: Any, start: Entry) -> None:
        self._access, self._container, self._start = access, container, start

    def __getitem__(self, key: Any) -> Any:
        return self._container[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        change = partial(setitem, self._container, key, value)
        self._access.changed(change, self._container, self._start)

    def __delitem__(self, key: Any) -> None:
        self._access.changed(partial(delitem, self._container, key), self._container, self._start)


class _Held:
    """What some watched variable holds, by another name."""

    __slots__ = ("_container", "_holding", "_site")

    def __init__(self, holding: Any, container: Any, site: int) -> None:
        self._holding, self._container, self._site = holding, container, site

    def __getitem__(self, key: Any) -> Any:
        return self._container[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._holding.stored(self._container, key, value, self._site)

    def __delitem__(self, key: Any) -> None:
        self._holding.deleted(self._container, key, self._site)


def _in_place(word: str) -> Callable[[_Held, Any], Any]:
    def change(held: _Held, operand: Any) -> Any:
        return held._holding.in_place(held._container, word, operand, held._site)

    return change


for _word in IN_PLACE.values():
    setattr(_Held, f"__{_word}__", _in_place(_word))


class _Container(Site):
    __slots__ = ()

    def __matmul__(self, container: Any) -> Any:
        if self.told.variable is not None and not self.is_off:
            start = (self.told.scope, self.sites.me(), self.number)
            return _Changing(self.sites.access, container, start)
        return self.held(container)

    def held(self, container: Any) -> Any:
        """The container, which some variable may hold or not."""
        holding = self.sites.access.holding
        if self.sites.is_quiet or not holding.holds(container):
            return container
        return _Held(holding, container, self.number)


class _OwnedContainer(_Container):
    __slots__ = ()

    def __matmul__(self, pair: tuple[Any, Any]) -> Any:
        owner, container = pair
        if self.is_off:
            return self.held(container)
        start = (MEMBER_WRITE, self.sites.me(), self.number, owner)
        return _Changing(self.sites.access, container, start)


class _Operand(_Container):
    __slots__ = ()


class _Mutator(Site):
    __slots__ = ()

    def __matmul__(self, bound: Any) -> Any:
        if self.sites.is_quiet:
            return bound
        if self.told.variable is None or self.is_off:
            return self.held(bound)
        return self.sites.access.mutator(bound, (self.told.scope, self.sites.me(), self.number))

    def held(self, bound: Any) -> Any:
        """The method of a container that some variable may hold or not."""
        return self.sites.access.holding.mutator(bound, self.number)


class _ItemMutator(Site):
    __slots__ = ()

    def __matmul__(self, bound: Any) -> Any:
        return bound if self.sites.is_quiet else self.sites.access.item_mutator(bound, self.number)


class _OwnedMutator(_Mutator):
    __slots__ = ()

    def __matmul__(self, pair: tuple[Any, Any]) -> Any:
        owner, bound = pair
        if self.is_off:
            return bound if self.sites.is_quiet else self.held(bound)
        return self.sites.access.mutator(bound, (MEMBER_WRITE, self.sites.me(), self.number, owner))


class _Function(Site):
    __slots__ = ()

    def __matmul__(self, function: Any) -> Any:
        return function if self.sites.is_quiet else self.sites.access.holding.given(function, self.number)


class _Class(Site):
    __slots__ = ()

    def __delitem__(self, made: Any) -> None:
        if not self.sites.is_quiet:
            words, own = self.told.more
            self.sites.access.class_made(made, words, own, self.number)


_KINDS: dict[Telling, type[Site]] = {
    Telling.READ: _Read, Telling.WRITE: _Write, Telling.MEMBER_READ: _MemberRead,
    Telling.MEMBER_WRITE: _MemberWrite, Telling.STORED: _Stored, Telling.SET: _Set, Telling.ENTER: _Enter,
    Telling.EXIT: _Exit, Telling.COUNTED_ENTER: _CountedEnter, Telling.COUNTED_EXIT: _CountedExit,
    Telling.ITEM_READ: _ItemRead, Telling.ITEM_WRITE: _ItemWrite, Telling.ITEM_DELETE: _ItemDelete,
    Telling.CONTAINER: _Container, Telling.OWNED_CONTAINER: _OwnedContainer, Telling.OPERAND: _Operand,
    Telling.MUTATOR: _Mutator, Telling.OWNED_MUTATOR: _OwnedMutator, Telling.FUNCTION: _Function,
    Telling.CLASS: _Class, Telling.ITEM_MUTATOR: _ItemMutator,
}  # fmt: skip


_EXCHANGED = frozenset({Telling.CONTAINER, Telling.MUTATOR, Telling.OPERAND})
"""Where nothing is known of the variable, most containers are held by none: that is seen by the compiled twin."""
_COMPILED = _EXCHANGED | {
    Telling.READ, Telling.WRITE, Telling.MEMBER_READ, Telling.MEMBER_WRITE, Telling.STORED, Telling.SET,
    Telling.ENTER, Telling.EXIT, Telling.COUNTED_ENTER, Telling.COUNTED_EXIT,
}  # fmt: skip


def _plain(site: Any) -> Any:
    """The plain twin of a site that may be compiled."""
    return getattr(site, "plain", site)


def stores_plainly(kind: type, attribute: str) -> bool:
    """Whether a store of the attribute is one step that cannot fail: no code of the program runs in it."""
    if issubclass(kind, type):
        return kind.__setattr__ is type.__setattr__
    if kind.__setattr__ is not object.__setattr__:
        return False
    for base in kind.__mro__:
        if attribute in base.__dict__:
            found = base.__dict__[attribute]
            if type(found) is MemberDescriptorType:
                return True
            if hasattr(type(found), "__set__"):
                return False
            break
    return kind.__dictoffset__ != 0


def _spread(values: tuple[Any, ...], told: tuple[int, ...]) -> list[Any]:
    """The arguments at these places; one that spreads out has a negative place."""
    found: list[Any] = []
    for place in told:
        found += values[-place] if place < 0 else (values[place],)
    return found


def _nothing() -> None:
    """Nobody looks."""
