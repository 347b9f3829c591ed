"""Turns that run code of packages which are not watched: both orders of them are explored.

The package is written here: it keeps state that its turns share and nobody sees.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control.runtime.running import explored

PACKAGE = """\
import asyncio
class Pool:
    def __init__(self): self._free = ["a", "b"]
    async def take(self):
        await asyncio.sleep(0)
        return self._free.pop(0)
"""
PROGRAM = """\
import asyncio
from strangerpool import Pool
async def first(pool): return await pool.take()
async def main():
    pool = Pool()
    got = await asyncio.gather(first(pool), first(pool))
    assert got == [{expected}], got
asyncio.run(main())
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages with that one in it."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "strangerpool.py").write_text(PACKAGE)
    monkeypatch.setattr(sys, "path", [sys.path[0], str(folder), *sys.path[1:]])
    yield tmp_path
    sys.modules.pop("strangerpool", None)


def test_an_order_that_only_the_package_knows_of_is_found(installed: Path) -> None:
    found = explored(installed, PROGRAM.format(expected="'a', 'b'"))
    assert found.failure is not None and "['b', 'a']" in found.failure.message


def test_a_package_that_is_trusted_is_taken_to_commute(installed: Path) -> None:
    found = explored(installed, PROGRAM.format(expected="'a', 'b'"), trust=frozenset({"strangerpool"}))
    assert found.complete
    assert any("--trust strangerpool" in each for each in found.assumed)


def test_both_orders_are_covered(installed: Path) -> None:
    source = PROGRAM.format(expected="'a', 'b'").replace("assert got ==", "assert sorted(got) ==")
    found = explored(installed, source)
    assert found.complete, found.open
    assert found.restarts >= 1


PICKY = """\
class Picky:
    def __eq__(self, other): return self
    __hash__ = None
    def __bool__(self): raise TypeError("neither true nor false")
    def __call__(self, value): return [value]
"""


def test_what_is_called_need_not_be_comparable(installed: Path) -> None:
    (installed / "site-packages" / "strangerpool.py").write_text(PICKY)
    source = "from strangerpool import Picky\nkept = {}\nkept['a'] = Picky()(1)\nassert kept['a'] == [1]\n"
    found = explored(installed, source)
    assert found.holds, found.failure
