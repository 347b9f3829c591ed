"""Many files: every one is answered, whatever the others do, and not twice."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from possibly.errors import PossiblyError
from possibly.session.checking.many import Journal, answers


def size_of(path: str) -> dict[str, Any]:
    """Asked in other processes too: a bad name is refused, a deadly one kills."""
    name = os.path.basename(path)
    if name == "bad":
        raise PossiblyError("bad", file=path)
    if name == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"name": name}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bad_file_spoils_nothing(jobs: int) -> None:
    found = dict(answers(size_of, ["a", "bad", "b"], jobs))
    assert found["a"] == {"name": "a"} and found["b"] == {"name": "b"}
    assert isinstance(found["bad"], PossiblyError)


def test_a_process_that_dies_costs_its_file() -> None:
    found = dict(answers(size_of, ["a", "deadly", "b"], 2))
    assert found["a"] == {"name": "a"} and found["b"] == {"name": "b"}
    assert str(found["deadly"]) == "deadly: the process that checked it died"


def test_a_journal_knows_the_file_and_the_question(tmp_path: Path) -> None:
    path, journal = tmp_path / "run", str(tmp_path / "journal")
    path.write_text("one")
    Journal(journal, "p").put(str(path), {"x": 1})
    with open(journal, "a", encoding="utf-8") as file:
        file.write('{"file": "cut o')
    assert Journal(journal, "p").known(str(path)) == {"x": 1}
    assert Journal(journal, "q").known(str(path)) is None
    path.write_text("another")
    assert Journal(journal, "p").known(str(path)) is None
    assert Journal(None, "p").known(str(path)) is None
