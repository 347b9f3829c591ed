"""Small programs in plain Python, written to be judged wrongly: what Python can do is found, nothing else.

They stand in `plain/`, a file a subject. A program that is `found` fails in some order of its instructions;
its tasks are started in one order and in the other, so that it is not found by the first execution alone. One
that `holds` does so in all orders. A sample, unless POSSIBLY_CASES asks for more.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

FOLDER = Path(__file__).parent / "plain"
CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
HEAD = """
import threading
def run(*functions):
    threads = [threading.Thread(target=each) for each in functions{order}]
    for each in threads: each.start()
    for each in threads: each.join()
"""
ORDERS = ("", "[::-1]")


class Case(NamedTuple):
    name: str
    holds: bool
    source: str


def cases(path: Path) -> list[Case]:
    """The programs of a file; a name that ends in `since 3.12` is for that version and later."""
    found = []
    for block in path.read_text(encoding="utf-8").split("## ")[1:]:
        title, _, source = block.partition("\n")
        verdict, _, name = title.partition(": ")
        since = name.rpartition(" since 3.")[2]
        if not since.isdigit() or sys.version_info >= (3, int(since)):
            found.append(Case(f"{path.stem}: {name}", verdict == "holds", source))
    return found


ALL = [each for path in sorted(FOLDER.glob("*.txt")) for each in cases(path)]
CHOSEN = ALL if CASES > 1 else ALL[::8]


def test_there_are_programs_of_both_kinds() -> None:
    assert len({each.name for each in ALL}) == len(ALL) > 200
    assert {each.holds for each in ALL} == {True, False}


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
@pytest.mark.parametrize("order", ORDERS, ids=["forwards", "backwards"])
def test_it_is_judged_as_python_behaves(
    case: Case, order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if order and (CASES == 1 or "run(" not in case.source):
        pytest.skip("one order is enough here")
    monkeypatch.chdir(tmp_path)
    source = HEAD.format(order=order) + case.source
    assert explored(tmp_path, source, Options(executions=500, minimise=0)).holds is case.holds
