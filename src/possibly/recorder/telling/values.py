"""Sites of variables, attributes and items: what is read, and what gets a value."""

from __future__ import annotations

import sys
from types import MemberDescriptorType
from typing import Any

from possibly.probes.watching.telling import Told
from possibly.recorder.access import WHOLE
from possibly.recorder.entries import (
    ITEM_READ,
    ITEM_WRITE,
    MEMBER_READ,
    MEMBER_WRITE,
    READ,
    SET,
    WRITE,
)
from possibly.recorder.holding import CONTAINERS
from possibly.recorder.snapshot import PLAIN, snapshot
from possibly.recorder.telling.site import Entry, Site, Voice, plain_of


class Read(Site):
    __slots__ = ()

    def __delitem__(self, _: object) -> None:
        if self.is_off:
            return
        entry = (READ, self.sites.me(), self.number)
        entries = self.sites.log.entries
        entries += (entry,)


class Write(Site):
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


class MemberRead(Site):
    __slots__ = ()

    def __delitem__(self, owner: Any) -> None:
        if self.is_off:
            return
        entry = (MEMBER_READ, self.sites.me(), self.number, owner)
        entries = self.sites.log.entries
        entries += (entry,)


class MemberWrite(Site):
    """A store that may fail, or runs code of the program, is told when it is over."""

    __slots__ = ("pending",)

    def __init__(self, sites: Voice, number: int, told: Told) -> None:
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


class Stored(Site):
    __slots__ = ("pending",)

    def __init__(self, sites: Voice, number: int, told: Told) -> None:
        super().__init__(sites, number, told)
        self.pending: dict[int, Entry] = plain_of(told.more).pending

    def __delitem__(self, _: object) -> None:
        if self.pending:
            entry = self.pending.pop(id(sys._getframe(1)), None)
            if entry is not None:
                self._append(entry)


class Set(Site):
    __slots__ = ()

    def __delitem__(self, value: Any) -> None:
        if not self.sites.is_quiet:
            self._append((SET, self.sites.me(), self.number, self.kept(value)))

    def kept(self, value: Any) -> Any:
        """What is told of the value."""
        return snapshot(value)


# ---- items ------------------------------------------------------------------------------------------


class ItemRead(Site):
    __slots__ = ()

    def __setitem__(self, key: Any, container: Any) -> None:
        if type(container) not in CONTAINERS or self.sites.is_quiet:
            return
        entry = (ITEM_READ, self.sites.me(), self.number, container, self.sites.access.key(key))
        entries = self.sites.log.entries
        entries += (entry,)


class ItemWrite(Site):
    __slots__ = ()

    def __delitem__(self, given: tuple[Any, Any, Any]) -> None:
        value, container, key = given
        if not isinstance(container, CONTAINERS) or self.sites.is_quiet:
            return
        text = self.sites.access.key(key)
        entry = (ITEM_WRITE, self.sites.me(), self.number, container, text, snapshot(value))
        entries = self.sites.log.entries
        entries += (entry,)


class ItemDelete(Site):
    __slots__ = ()

    def __setitem__(self, key: Any, container: Any) -> None:
        if not isinstance(container, CONTAINERS) or self.sites.is_quiet:
            return
        entry = (ITEM_WRITE, self.sites.me(), self.number, container, WHOLE, len(container))
        entries = self.sites.log.entries
        entries += (entry,)


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
