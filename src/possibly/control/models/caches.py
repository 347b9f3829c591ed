"""`functools.lru_cache` and `cache` as a model: looking up, computing and storing are moments of their own.

The library's cache is in C: what a second task finds while a first one computes would not be seen. An entry
is a thing. So is the cache as a whole: hits and stores of different entries commute, but not with
`cache_info` and `cache_clear`; so these two are its writers, and all others its readers.

In a bounded cache looking up changes what is thrown out next, which nobody can tell while nothing is thrown
out. Where something is, this is found out by the first execution that does it: from then on, and in a search
that begins anew, that cache is one thing.
"""

from __future__ import annotations

import functools
import sys
import types
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import name_for
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.places import place_of
from possibly.probes import port
from possibly.probes.patching import Patches

_MISSING = object()
_Info: Any = functools._CacheInfo
_plain_lru_cache: Any = functools.lru_cache


def install(patches: Patches) -> None:
    patches.put(functools, "lru_cache", _for_users(functools.lru_cache, lru_cache))
    patches.put(functools, "cache", _for_users(functools.cache, lambda function: lru_cache(None)(function)))


def _for_users(plain: Any, model: Any) -> Any:
    """Libraries keep the real one: nobody sees what they remember."""

    def chosen(*given: Any, **options: Any) -> Any:
        by_user = port.is_user_file(sys._getframe(1).f_code.co_filename)
        return (model if by_user else plain)(*given, **options)

    return chosen


def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
    if callable(maxsize) and isinstance(typed, bool):
        return _cached(maxsize, 128, False)
    if maxsize is not None and not isinstance(maxsize, int):
        raise TypeError("Expected first argument to be an integer, a callable, or None")
    return lambda function: _cached(function, maxsize, typed)


def _cached(function: Any, maxsize: int | None, typed: bool) -> Any:
    """The model; what C code remembers for itself, an object without a name, is not seen by anybody else."""
    if not hasattr(function, "__name__") and not isinstance(function, functools.partial):
        return _plain_lru_cache(maxsize, typed)(function)
    return Cached(function, maxsize, typed)


class Cached:
    """A function that remembers its results."""

    possibly_tells = True
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any], maxsize: int | None, typed: bool) -> None:
        self.__name__ = self.__qualname__ = "a partial function"
        functools.update_wrapper(self, function)
        self._possibly = name_for("cache")
        self._maxsize = None if maxsize is None else max(maxsize, 0)
        self._typed = typed
        self._entries: OrderedDict[Any, Any] = OrderedDict()
        self._hits = self._misses = 0

    def __call__(self, *given: Any, **options: Any) -> Any:
        key = functools._make_key(given, options, self._typed)
        self._touch(key, False)
        found = self._entries.get(key, _MISSING)
        if found is not _MISSING:
            self._hits += 1
            self._entries.move_to_end(key)
            return found
        self._misses += 1
        found = self.__wrapped__(*given, **options)
        if self._maxsize != 0:
            self._touch(key, True)
            self._entries[key] = found
            if self._maxsize is not None and len(self._entries) > self._maxsize:
                self._throw_out()
        return found

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def _throw_out(self) -> None:
        """What was not looked up for longest goes; who looked up what before whom counts from now on."""
        now = accesses.active()
        if now is not None and not now[0].alone and self._order not in now[1].visible:
            now[1].racy[self._order] = None
            now[1].overflowed.add(self._order)
        self._entries.popitem(last=False)

    def cache_info(self) -> Any:
        self._tell((Access(self._all, True),))
        return _Info(self._hits, self._misses, self._maxsize, len(self._entries))

    def cache_clear(self) -> None:
        entries = [Access(self._entry(key), True) for key in self._entries]
        self._tell((Access(self._all, True), *entries))
        self._hits = self._misses = 0
        self._entries.clear()

    def cache_parameters(self) -> dict[str, Any]:
        return {"maxsize": self._maxsize, "typed": self._typed}

    @property
    def _all(self) -> str:
        return f"{self._possibly}[]"

    @property
    def _order(self) -> str:
        """The word for: what this cache throws out counts."""
        return f"thrown out of {self._possibly}"

    def _entry(self, key: Any) -> str:
        return f"{self._possibly}[{list(key) if isinstance(key, list) else key!r}]"

    def _touch(self, key: Any, stores: bool) -> None:
        now = accesses.active()
        is_one = now is not None and self._order in now[1].visible
        self._tell((Access(self._entry(key), stores), Access(self._all, is_one)))

    def _tell(self, footprint: tuple[Access, ...]) -> None:
        now = accesses.active()
        if now is not None:
            now[0].labels.setdefault(self._all, f"the cache of {self.__name__}")
            now[1].access(
                now[0], f"cache {self.__qualname__}", self._all, footprint, place_of(sys._getframe(2))
            )
