"""Whatever is looked at while it is changed is seen before and after: states x reads x changes.

The truth is computed by plain Python (`crossing`). A sample, unless POSSIBLY_CASES asks for more.
"""

from __future__ import annotations

import os
import random
import warnings
from pathlib import Path

import pytest

from tests.control.runtime.brute import reduced
from tests.control.runtime.crossing import (
    THREADS,
    Crossing,
    crossings,
    expected,
    program,
    relevant,
    without_addresses,
)

CASES = 4 * int(os.environ.get("POSSIBLY_CASES", "1"))
FILES = sorted((Path(__file__).parent / "crossed").glob("*.txt"))
ALL = [each for path in FILES for each in crossings(path)]
CHOSEN = random.Random(29).sample(ALL, min(CASES, len(ALL))) if CASES < 20 else ALL


@pytest.mark.parametrize("crossing", CHOSEN, ids=lambda crossing: crossing.name)
def test_a_change_is_seen_by_every_look_that_it_changes(crossing: Crossing, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        crossing = relevant(crossing)
        if not crossing.reads:
            return
        outcomes = expected(crossing)
    path = tmp_path / "program.py"
    path.write_text(program(crossing) + THREADS)
    found = {without_addresses(output.decode().strip()) for _, _, output in reduced(path)[0]}
    assert [each for each in outcomes if each not in found] == []


def test_every_program_is_one() -> None:
    assert len({each.name for each in ALL}) == len(ALL)
    for each in ALL:
        compile(program(each), each.name, "exec", dont_inherit=True)
