"""The real event loop as the judge: for each primitive, what really comes of it is among what is explored.

Each program of `outcomes.txt` runs for real many times, its naps and the calls in its threads taking times
that a seed gives; under control they may take any time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control.runtime.brute import reduced
from tests.sampling import sampled
from tests.waiting import PATIENCE

HEAD = """\
import asyncio, random, sys, time
draw = random.Random(int(sys.argv[1])) if sys.argv[1:] else None
said, SHORT = [], 0.005
def blink(): time.sleep(draw.choice((0, 0.001, 0.008))) if draw else None
def tell(x): blink(); said.append(x); blink()
async def nap(): await asyncio.sleep(draw.choice((0, 0.001, 0.008)) if draw else 0.001)
async def late(what): await nap(); return await what
async def main():
"""
TAIL = """
asyncio.run(main())
print(said)
"""


def programs() -> Iterator[tuple[str, str]]:
    for part in Path(__file__).with_name("outcomes.txt").read_text().split("### ")[1:]:
        name, _, body = part.partition("\n")
        yield name, HEAD + textwrap.indent(body, "    ") + TAIL


PROGRAMS = dict(programs())
REAL = sampled(12)
"""Runs of each for real; in the soak hundreds."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_really_happens_is_among_what_is_explored(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAMS[name])
    found = {output.decode() for outcome, _, output in reduced(path)[0] if outcome == "finished"}
    for seed in range(REAL):
        asked = [sys.executable, str(path), str(seed)]
        real = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE, env=os.environ)
        assert real.returncode == 0, real.stderr
        assert real.stdout in found, (seed, found)
