"""Every kind of place is seen in every context of the language: a race is found, and a lock helps.

A sample; all pairs with POSSIBLY_CASES of some hundreds.
"""

from __future__ import annotations

import os
import random
import warnings
from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.matrix import CONTEXTS, PLACES, acting, looking, plain, program
from tests.control.runtime.running import explored

CASES = 20 * int(os.environ.get("POSSIBLY_CASES", "1"))
PAIRS = [(place, context) for place in PLACES for context in CONTEXTS]
BY_PLACE = [(place, "lambda's default") for place in PLACES]
BY_CONTEXT = [("class attribute through an instance", context) for context in CONTEXTS]


def sample() -> list[tuple[str, str]]:
    """Pairs at random, always the same ones."""
    chosen = random.Random(29).sample(PAIRS, min(CASES, len(PAIRS)))
    return chosen if CASES <= 20 else sorted({*chosen, *BY_PLACE, *BY_CONTEXT})


@pytest.mark.parametrize(("place", "context"), sample())
def test_a_read_meets_its_change(
    place: str, context: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    where = PLACES[place]
    source = program(where, CONTEXTS[context])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        old, new = plain(source)
    if old == new:
        return  # this context says the same of both values
    options = Options(executions=500, minimise=0)
    assert explored(tmp_path, looking(source, old), options).holds is False
    if where.is_kept:
        assert explored(tmp_path, acting(source, old, "with lock0:"), options).holds is True
