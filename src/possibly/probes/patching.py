"""Putting probes in place of what they watch, and taking them away again.

A probe file has `install(patches)`; every replaced attribute goes through `Patches.put`, so that `undo`
leaves the interpreter as it was. Modules that are heavy to import are patched when the program imports them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.machinery import ModuleSpec
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

Install = Callable[["Patches"], None]


class Patches:
    """What was replaced, newest last."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []
        self._waiting: dict[str, Install] = {}

    def put(self, owner: Any, name: str, new: Any) -> Any:
        """Replaces an attribute; returns what was there."""
        old = getattr(owner, name)
        own = owner.__dict__.get(name, _ABSENT) if isinstance(owner, type) else old
        self._replaced.append((owner, name, own))
        setattr(owner, name, _unbound(new, old) if type(new) is FunctionType else new)
        return old

    def when_imported(self, module: str, install: Install) -> None:
        """Installs at once if the module is there already, else right after the program imports it."""
        if module in sys.modules:
            install(self)
        else:
            self._waiting[module] = install

    def catch_up(self) -> None:
        """Installs what waits for modules that came in the meantime, by what was installed for others."""
        while there := [module for module in self._waiting if module in sys.modules]:
            self.imported(there[0])

    def imported(self, module: str) -> None:
        install = self._waiting.pop(module, None)
        if install is not None:
            install(self)

    def awaits(self, module: str) -> bool:
        return module in self._waiting

    def replaced(self) -> list[tuple[Any, str, Any]]:
        """(owner, name, what was there), oldest first."""
        return list(self._replaced)

    def undo(self) -> None:
        self._waiting.clear()
        while self._replaced:
            owner, name, old = self._replaced.pop()
            if old is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, old)


_ABSENT = object()
_TOLD = ("__name__", "__qualname__", "__module__", "__doc__")
"""What a function in C says of itself."""


def _unbound(new: Any, old: Any) -> Any:
    """What is called as what was there is: a function in C that a class keeps becomes no method of it.

    So `class Clock: now = time.time` goes on to work. Nothing else that is called adds no frame of its own.
    """
    if type(old) is not BuiltinFunctionType:
        return new
    found = partial(new)
    vars(found).update({name: getattr(old, name, None) for name in _TOLD})
    return found


class ThenPatch:
    """A loader: loads a library as always, then has put in what waits for it."""

    def __init__(self, plain: Any, patches: Patches) -> None:
        self._plain = plain
        self._patches = patches

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        found: ModuleType | None = self._plain.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        self._plain.exec_module(module)
        module.__loader__ = self._plain
        if module.__spec__ is not None:
            module.__spec__.loader = self._plain
        self._patches.imported(module.__name__)
