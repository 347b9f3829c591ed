"""A loop in C is replaced by one under control, and the verdict says so; uvloop itself need not be there."""

from __future__ import annotations

from pathlib import Path

from possibly.control.models.loops.foreign_loops import REPLACED
from tests.control.runtime.running import explored

LIBRARY = """\
import asyncio
class Loop: "would be in C"
def new_event_loop(): return Loop()
"""
PROGRAM = """\
import asyncio, uvloop
total = 0
async def add(amount):
    global total
    seen = total
    await asyncio.sleep(0)
    total = seen + amount
async def main():
    await asyncio.gather(add(1), add(2))
    assert total == 3
with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    assert isinstance(runner.get_loop(), uvloop.Loop)
    runner.run(main())
"""


def test_a_lost_update_is_found_in_a_program_with_uvloop(tmp_path: Path) -> None:
    (tmp_path / "uvloop.py").write_text(LIBRARY)
    found = explored(tmp_path, PROGRAM)
    assert found.failure is not None and found.failure.kind == "assertion"
    assert REPLACED in found.assumed
