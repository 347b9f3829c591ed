"""The import hook: the code of the user's own modules gets its sites as it is loaded, others are left alone.

Code comes from where Python takes it, a cache too, or a file without its source; nothing is written to a
cache: a program leaves none of itself where it is not imported. Libraries that have probes are patched right
after they are imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches, ThenPatch

Instrument = Callable[[CodeType, str, str], CodeType]
"""(code of a module, its file, its name) -> the code with what it tells."""

instrumented_modules: set[str] = set()
"""Modules of this process whose code has sites."""


class SourceLoader(SourceFileLoader):
    """Loads a module that has its source."""

    instrument: Instrument | None = None

    def get_code(self, fullname: str) -> CodeType | None:
        """The code with its sites."""
        return _told(self, super().get_code(fullname), fullname)

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Writes no cache."""


class SourcelessLoader(SourcelessFileLoader):
    """Loads a module of which only the compiled file is there."""

    instrument: Instrument | None = None

    def get_code(self, fullname: str) -> CodeType | None:
        """The code with its sites."""
        return _told(self, super().get_code(fullname), fullname)


def _told(loader: SourceLoader | SourcelessLoader, code: CodeType | None, name: str) -> CodeType | None:
    if code is None or loader.instrument is None:
        return code
    made = loader.instrument(code, loader.path, name)
    if made is not code:
        instrumented_modules.add(name)
    return made


def loader_for(name: str, path: str, instrument: Instrument | None) -> SourceLoader | SourcelessLoader:
    """The loader of a file of the user's."""
    made = SourcelessLoader(name, path) if path.endswith(".pyc") else SourceLoader(name, path)
    made.instrument = instrument
    return made


class Finder:
    """Stands first in `sys.meta_path`. (The base class for finders is slow to import, and gives nothing.)"""

    def __init__(self, patches: Patches, instrument: Instrument | None = None) -> None:
        self._patches = patches
        self._instrument = instrument

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As the import system asks for it."""
        waited = self._patches.awaits(fullname)
        spec = self._found(fullname, path, target) if waited else PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        if waited:
            spec.loader = ThenPatch(spec.loader, self._patches)  # type: ignore[assignment]
            return spec
        file = spec.origin
        is_plain = type(spec.loader) in (SourceFileLoader, SourcelessFileLoader)
        if is_plain and file is not None and port.is_user_file(file):
            spec.loader = self.loader(fullname, file)
            return spec
        return None

    def _found(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """What the other finders say; a library may have one of its own."""
        for finder in sys.meta_path:
            if finder is not self:
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    return spec
        return None

    def loader(self, name: str, path: str) -> Any:
        """Loads a file of the user's as the module of that name."""
        return loader_for(name, path, self._instrument)


def put_first(finder: Finder) -> None:
    """From now on it is asked before all others."""
    sys.meta_path.insert(0, finder)


def take_away(finder: Finder) -> None:
    """It is not asked any more."""
    if finder in sys.meta_path:
        sys.meta_path.remove(finder)
