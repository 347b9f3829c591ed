"""Sites of containers that change in place: they exchange what is changed, if a variable holds it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import delitem, setitem
from typing import Any

from possibly.probes.watching.containers import IN_PLACE
from possibly.recorder.access import Access
from possibly.recorder.entries import (
    MEMBER_WRITE,
)
from possibly.recorder.telling.site import Entry, Site

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


class Container(Site):
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


class OwnedContainer(Container):
    __slots__ = ()

    def __matmul__(self, pair: tuple[Any, Any]) -> Any:
        owner, container = pair
        if self.is_off:
            return self.held(container)
        start = (MEMBER_WRITE, self.sites.me(), self.number, owner)
        return _Changing(self.sites.access, container, start)


class Operand(Container):
    __slots__ = ()


class Mutator(Site):
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


class ItemMutator(Site):
    __slots__ = ()

    def __matmul__(self, bound: Any) -> Any:
        return bound if self.sites.is_quiet else self.sites.access.item_mutator(bound, self.number)


class OwnedMutator(Mutator):
    __slots__ = ()

    def __matmul__(self, pair: tuple[Any, Any]) -> Any:
        owner, bound = pair
        if self.is_off:
            return bound if self.sites.is_quiet else self.held(bound)
        return self.sites.access.mutator(bound, (MEMBER_WRITE, self.sites.me(), self.number, owner))


class Function(Site):
    __slots__ = ()

    def __matmul__(self, function: Any) -> Any:
        return function if self.sites.is_quiet else self.sites.access.holding.given(function, self.number)


class Class(Site):
    __slots__ = ()

    def __delitem__(self, made: Any) -> None:
        if not self.sites.is_quiet:
            words, own = self.told.more
            self.sites.access.class_made(made, words, own, self.number)
