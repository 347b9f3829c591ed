"""The large ones of `make soak`, small: each command ends as it should, and the table has all of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.large import Large, all_of, run


@pytest.mark.parametrize("large", all_of(0.0005)[:-1], ids=lambda large: large.name)
def test_it_ends_as_it_should(large: Large, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(os.getcwd())  # whatever it changes to, this is where the others begin
    is_right, cpu, memory = run(large, str(tmp_path))
    assert is_right and cpu > 0 and memory > 1
