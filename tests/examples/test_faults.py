"""Protocols of processes over sockets with faults: these break the wrong form, and not the right one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore

FOLDER = Path(__file__).parents[2] / "examples" / "faults"
IS_SOAK = int(os.environ.get("POSSIBLY_CASES", "1")) > 1


def explored(name: str, *kinds: str) -> Exploration:
    path = str(FOLDER / f"{name}.py")
    with script((path,), faults=frozenset(kinds), at_most=1 if kinds else 0) as program:
        return explore(program, Options(minimise=0))


@pytest.mark.parametrize("name", ["commit_right", "commit_wrong", "election_right", "election_wrong"])
def test_nothing_goes_wrong_without_a_fault(name: str) -> None:
    found = explored(name)
    assert found.complete, (found.failure, found.open)


@pytest.mark.skipif(not IS_SOAK, reason="hundreds of executions: in the soak")
@pytest.mark.parametrize("name", ["commit", "election"])
def test_a_fault_breaks_the_wrong_form_only(name: str) -> None:
    wrong = explored(f"{name}_wrong", "network", "crash")
    assert wrong.failure is not None and wrong.failure.kind == "assertion", wrong.open
    right = explored(f"{name}_right", "network", "crash")
    assert right.complete, (right.failure, right.open)
