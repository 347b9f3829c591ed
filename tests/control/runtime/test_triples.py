"""Something to look at, a way to look, a way to change it: who looks twice sees it change, or has a lock.

A file of `triples/` has programs in three parts: state, an expression that reads it, statements that change
it. Plain Python says that the change is one. Then a task that looks twice while another one changes it is
found to see two things, whoever is started first; and never does where both hold a lock. A sample, unless
POSSIBLY_CASES asks for more.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
PROGRAM = """{setup}
import threading
seen_, lock_ = [], threading.Lock()
def reader_():
    {guard}
        seen_.append(repr(({reads})))
        seen_.append(repr(({reads})))
def changer_():
    {guard}
        {change}
threads_ = [threading.Thread(target=each) for each in {order}]
for each_ in threads_: each_.start()
for each_ in threads_: each_.join()
assert seen_[0] == seen_[1], seen_
"""
PLAIN = """{setup}
first_, second_ = repr(({reads})), repr(({reads}))
{change}
assert first_ == second_ != repr(({reads}))
"""
ORDERS = ("(reader_, changer_)", "(changer_, reader_)")


class Triple(NamedTuple):
    name: str
    setup: str
    reads: str
    change: str


def triples(path: Path) -> list[Triple]:
    found = []
    for block in path.read_text(encoding="utf-8").split("## ")[1:]:
        name, _, body = block.partition("\n")
        setup, reads, change = (part.strip("\n") for part in body.split("\n--\n"))
        found.append(Triple(f"{path.stem}: {name}", setup, reads, change))
    return found


ALL = [each for path in sorted((Path(__file__).parent / "triples").glob("*.txt")) for each in triples(path)]
CHOSEN = ALL if CASES > 1 else ALL[::45]


def written(triple: Triple, guard: str, order: str) -> str:
    change = triple.change.replace("\n", "\n        ")
    return PROGRAM.format(setup=triple.setup, reads=triple.reads, change=change, guard=guard, order=order)


def needs(triple: Triple) -> None:
    for package in ("numpy", "google.protobuf"):
        if package in triple.setup:
            pytest.importorskip(package)


@pytest.mark.parametrize("triple", CHOSEN, ids=lambda triple: triple.name)
def test_who_looks_twice_sees_the_change(
    triple: Triple, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs(triple)
    monkeypatch.chdir(tmp_path)
    for order in ORDERS if CASES > 1 else ORDERS[:1]:
        source = written(triple, "if True:", order)
        assert explored(tmp_path, source, Options(executions=500, minimise=0)).holds is False


@pytest.mark.skipif(CASES == 1, reason="a part of the soak")
@pytest.mark.parametrize("triple", CHOSEN, ids=lambda triple: triple.name)
def test_nobody_does_under_a_lock(triple: Triple, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs(triple)
    monkeypatch.chdir(tmp_path)
    plain = PLAIN.format(setup=triple.setup, reads=triple.reads, change=triple.change)
    subprocess.run([sys.executable, "-c", plain], check=True)
    source = written(triple, "with lock_:", ORDERS[0])
    assert explored(tmp_path, source, Options(executions=500, minimise=0)).holds is True


def test_every_program_is_one() -> None:
    assert len({each.name for each in ALL}) == len(ALL) > 200
    for each in ALL:
        compile(written(each, "with lock_:", ORDERS[0]), each.name, "exec")
