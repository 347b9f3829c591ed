"""Whether there is a compiled twin: the one place that knows of them.

Kernels are built from `_*.c`; each stands beside the Python that does the same. Native modules are built, as
they are, from the Python that they replace (`setup.py`). Both are there if a C compiler was at installation;
POSSIBLY_KERNELS=off in the environment does without all of them.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _are_wanted() -> bool:
    return os.environ.get("POSSIBLY_KERNELS") != "off"


@cache
def built(name: str) -> ModuleType | None:
    """The compiled module of that name, if it was built and is wanted."""
    if not _are_wanted():
        return None
    try:
        return import_module(name)
    except ImportError:
        return None


def natives_if_wanted(folder: str) -> None:
    """Whatever is imported from there, or from below, is plain Python unless native modules are wanted."""
    if _are_wanted():
        return
    from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader

    def plain(path: str) -> Any:
        if not path.startswith(folder):
            raise ImportError
        return FileFinder(path, (SourceFileLoader, SOURCE_SUFFIXES))

    sys.path_hooks.insert(0, plain)
