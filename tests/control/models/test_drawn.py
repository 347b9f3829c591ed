"""A verdict that rests on random numbers says whose they are, unless the program says it itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.models.inputs import DRAWN
from tests.control.runtime.running import explored

NAMED = [
    "random.random()",
    "random.randint(1, 6)",
    "random.choice([1, 2])",
    "random.shuffle([1, 2])",
    "random.Random().random()",
    "random.SystemRandom().random()",
    "random.seed(); random.random()",
    "random.seed(None); random.random()",
    "random.seed(a=None); random.random()",
    "state = random.getstate(); random.random(); random.setstate(state); random.random()",
    "os.urandom(1)",
    "secrets.token_hex()",
    "secrets.randbelow(9)",
]
NOT_NAMED = [
    "random.Random(42).random()",
    "random.seed(42); random.random(); random.gauss()",
    "random.seed(a=42); random.random()",
    "random.getstate()",
    "uuid.uuid4()",
    "tempfile.mkdtemp()",
]


def assumed(tmp_path: Path, use: str) -> tuple[str, ...]:
    found = explored(tmp_path, f"import os, random, secrets, tempfile, uuid\n{use}\n")
    assert found.complete, found.open
    return found.assumed


@pytest.mark.parametrize("use", NAMED)
def test_the_seed_is_named(tmp_path: Path, use: str) -> None:
    assert assumed(tmp_path, use) == (DRAWN.format(0),)


@pytest.mark.parametrize("use", NOT_NAMED)
def test_numbers_of_the_programs_own_and_names_of_the_library_are_not(tmp_path: Path, use: str) -> None:
    assert assumed(tmp_path, use) == ()


def test_it_is_the_seed_that_was_given(tmp_path: Path) -> None:
    found = explored(tmp_path, "import random\nassert random.random() >= 0\n", seed=7)
    assert found.assumed == (DRAWN.format(7),)
