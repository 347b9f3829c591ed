"""How many cases a law is tried on: a fixed sample in the normal run, all of them and more in the soak.

A test that generates its cases asks `sampled` for their number: half of what it names; in the soak (`make
soak` sets `POSSIBLY_CASES` to the factor) so many times it. Of a test with many parameters the normal run,
`python -m tests`, takes a `few`; with `--all`, and for pytest by itself, it has them all. Which ones depends
on nothing but their names, so that tests about the same program ask about the same ones, and a new case moves
at most one other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256

FACTOR = int(os.environ.get("POSSIBLY_CASES", "1"))
IS_SAMPLE = "POSSIBLY_SAMPLE" in os.environ and FACTOR == 1
NAMED, NUMBERED = 2, 6
"""Cases of a test that are taken: programs with a name, and generated ones, which cost less."""
EXAMPLES = 15 if IS_SAMPLE else 40
"""Of Hypothesis, for a test that names no number."""


def sampled(count: int) -> int:
    return count * FACTOR if FACTOR > 1 else count // 2


def few(names: Iterable[str], are_programs: bool) -> set[str]:
    """Those of the cases of one test that the normal run tries; of texts, which cost nothing, all."""
    by_digest = sorted(set(names), key=lambda name: sha256(name.encode()).digest())
    if all(part.isdigit() for name in by_digest for part in name.split("-")):
        return set(by_digest[:NUMBERED])
    return set(by_digest[:NAMED] if are_programs else by_digest)
