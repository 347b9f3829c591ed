"""The import hook: the user's own modules are rewritten as they are imported, others are left alone.

Code that was rewritten is never written to a cache; a module with nothing to watch is loaded as always,
from its
cache. Libraries that have probes are patched right after they are imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from possibly.probes import port
from possibly.probes.patching import Patches, ThenPatch
from possibly.probes.rewriting.source import SiteMaker, Watch, rewritten

Sites = Callable[[str], SiteMaker]
"""Makes the sites of a file."""
Instrument = Callable[[CodeType, str, str], CodeType]
"""(code of a module, its file, its name) -> the code with sites before its instructions."""


rewritten_modules: set[str] = set()
"""Modules of this process whose source was rewritten."""


class RewritingLoader(SourceFileLoader):
    """Loads a module whose source is rewritten."""

    def __init__(
        self, name: str, path: str, watch: Watch, sites: Sites, instrument: Instrument | None = None
    ) -> None:
        super().__init__(name, path)
        self._watch = watch
        self._sites = sites
        self._instrument = instrument

    def get_code(self, fullname: str) -> CodeType | None:
        source = self.get_data(self.path)
        code = self.rewritten_code(source, fullname)
        if code is None:
            code = super().get_code(fullname)
        if code is None or self._instrument is None:
            return code
        return self._instrument(code, self.path, fullname)

    def rewritten_code(self, source: bytes, name: str) -> CodeType | None:
        try:
            tree = ast.parse(source, self.path)
            text = source.decode("utf-8")
        except (SyntaxError, ValueError):
            return None  # the plain way raises what it always raised
        found = rewritten(tree, text, name, self._watch, self._sites(self.path))
        if found is None:
            return None
        rewritten_modules.add(name)
        code: CodeType = self.source_to_code(found, self.path)
        return code


class Finder:
    """Stands first in `sys.meta_path`. (The base class for finders is slow to import, and gives nothing.)"""

    def __init__(
        self, patches: Patches, watch: Watch, sites: Sites, instrument: Instrument | None = None
    ) -> None:
        self._patches = patches
        self._watch = watch
        self._sites = sites
        self._instrument = instrument

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        waited = self._patches.awaits(fullname)
        spec = self._found(fullname, path, target) if waited else PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        if waited:
            spec.loader = ThenPatch(spec.loader, self._patches)  # type: ignore[assignment]
            return spec
        file = spec.origin
        if type(spec.loader) is SourceFileLoader and file is not None and port.is_user_file(file):
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

    def loader(self, name: str, path: str) -> RewritingLoader:
        return RewritingLoader(name, path, self._watch, self._sites, self._instrument)


def put_first(finder: Finder) -> None:
    sys.meta_path.insert(0, finder)


def take_away(finder: Finder) -> None:
    if finder in sys.meta_path:
        sys.meta_path.remove(finder)
