"""One thing has one access to read it and one to write it, however often it is asked for."""

from __future__ import annotations

from possibly.control.runtime import footprints
from possibly.control.runtime.footprints import reading, touching, writing


def test_accesses() -> None:
    (read,), (write,) = reading("x"), writing("x")
    assert (read.thing, read.writes) == ("x", False) and (write.thing, write.writes) == ("x", True)
    assert reading("x") is touching("x", False) and writing("x") is touching("x", True)


def test_only_so_many_are_kept() -> None:
    for number in range(footprints.MOST + 10):
        assert reading(f"thing {number}")[0].thing == f"thing {number}"
    assert len(footprints._reading) <= footprints.MOST
