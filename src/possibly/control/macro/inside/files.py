"""The files that a program was made from: its own and those of installed packages, as they are imported.

A tree of macro-steps is about these files (`session.macro_sources`). The standard library and possibly itself
are left out: they come with a version.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import cache

_LIBRARY = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib"))
_PACKAGES = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("purelib", "platlib"))
_OWN = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "..")) + os.sep
_told: set[str] = set()
_modules = 0
"""How many modules there were when the files were told last."""


def fresh() -> list[str]:
    """Files that were imported since this was asked last."""
    global _modules
    if len(sys.modules) == _modules:
        return []
    _modules = len(sys.modules)
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    found = [file for file in files if isinstance(file, str) and file not in _told]
    _told.update(found)
    return [file for file in found if _counts(file)]


def ready() -> None:
    """Finds out about the modules that are there already: it takes long, and forked processes need not."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str):
            _counts(file)


@cache
def _counts(name: str) -> bool:
    file = os.path.realpath(name)
    if file.startswith(_OWN):
        return False
    return file.startswith(_PACKAGES) or not file.startswith(_LIBRARY)
