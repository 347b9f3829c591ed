"""Whether there is a compiled twin: the one place that looks for the modules built from `_*.c`.

Each of them stands beside the Python that does the same. They are built at installation when a C compiler is
there; POSSIBLY_KERNELS=off in the environment does without all of them.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from types import ModuleType


@cache
def built(name: str) -> ModuleType | None:
    """The compiled module of that name, if it was built and is wanted."""
    if os.environ.get("POSSIBLY_KERNELS") == "off":
        return None
    try:
        return import_module(name)
    except ImportError:
        return None
