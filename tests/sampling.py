"""How many cases a law is tried on: a fixed sample in the normal run, all of them and more in the soak.

A test that generates its cases asks `sampled` for their number: half of what it names; in the soak (`make
soak` sets `POSSIBLY_CASES` to the factor) so many times it. Of a test that executes programs and has many
parameters `python -m tests` takes a `few`; `--all` takes them all, as pytest by itself does. Which ones
depends on nothing but their names, so that tests about the same program ask about the same ones, and a new
case moves at most one other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256

FACTOR = int(os.environ.get("POSSIBLY_CASES", "1"))
IS_SAMPLE = "POSSIBLY_SAMPLE" in os.environ and FACTOR == 1
NAMED, NUMBERED = 4, 12
"""Cases of a test that are taken: programs and texts with a name, and generated ones, which cost little."""


def sampled(count: int) -> int:
    return count * FACTOR if FACTOR > 1 else count // 2


def few(names: Iterable[str]) -> set[str]:
    """Those of the cases of one test that the normal run tries."""
    by_digest = sorted(set(names), key=lambda name: sha256(name.encode()).digest())
    is_generated = all(part.isdigit() for name in by_digest for part in name.split("-"))
    return set(by_digest[: NUMBERED if is_generated else NAMED])
