"""How many generated cases a test tries: half of the number that it names; in the soak, so many times it.

`make soak` sets `POSSIBLY_CASES` to the factor.
"""

from __future__ import annotations

import os

FACTOR = int(os.environ.get("POSSIBLY_CASES", "1"))


def sampled(count: int) -> int:
    return count * FACTOR if FACTOR > 1 else count // 2
