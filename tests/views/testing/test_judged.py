"""The command that shows a failure again has the order of sets that the failure had, if that is known."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from possibly import hashing
from possibly.views.testing.judged import again


@pytest.mark.parametrize(("known", "front"), [(None, ""), (0, "PYTHONHASHSEED=0 "), (7, "PYTHONHASHSEED=7 ")])
def test_the_seed_is_part_of_it(monkeypatch: pytest.MonkeyPatch, known: int | None, front: str) -> None:
    monkeypatch.setattr(hashing, "known", known)
    item = SimpleNamespace(nodeid="test_bank.py::test_it[a b]")
    told = again(item, "kept/it.schedule")
    assert told == f"{front}pytest 'test_bank.py::test_it[a b]' --possibly-replay kept/it.schedule"
