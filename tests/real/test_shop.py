"""A FastAPI application on aiosqlite and httpx: each planted mistake is found, the correct form is not.

Its frameworks are scheduled and not branched over (`--within shop`); all visits are for `make soak`.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore

VISIT = Path(__file__).parents[2] / "examples" / "shop" / "visit.py"
VISITS = ("cache", "cancellation", "limit")
MANY = "POSSIBLY_CASES" in os.environ
needs = pytest.mark.skipif(
    not MANY or any(find_spec(name) is None for name in ("fastapi", "aiosqlite", "httpx")),
    reason="for make soak, with possibly[real]",
)


@needs
@pytest.mark.parametrize("visit", VISITS)
def test_a_planted_mistake_is_found(visit: str) -> None:
    with script((str(VISIT), visit), within=frozenset({"shop"})) as program:
        found = explore(program, Options(seconds=120, minimise=0))
    assert found.holds is False and found.failure is not None
    assert found.failure.details["kind"] == "assertion"


@needs
@pytest.mark.parametrize("visit", VISITS)
def test_the_correct_form_is_not_accused(visit: str) -> None:
    with script((str(VISIT), visit, "right"), within=frozenset({"shop"})) as program:
        found = explore(program, Options(seconds=300, minimise=0))
    assert found.failure is None, found.failure.message
    assert found.complete or all(reason.remedy for reason in found.open.values())
