"""Which installed packages lie beneath the modules whose order counts."""

from __future__ import annotations

import os
import sys
from functools import lru_cache


@lru_cache(maxsize=8)
def beneath(names: frozenset[str]) -> frozenset[str]:
    """The installed packages that were not named."""
    if not names:
        return frozenset()
    found: set[str] = set()
    for folder in sys.path:
        if os.path.basename(folder) in ("site-packages", "dist-packages") and os.path.isdir(folder):
            found.update(entry.partition(".")[0] for entry in os.listdir(folder) if "-" not in entry)
    return frozenset(found - {name.partition(".")[0] for name in names})
