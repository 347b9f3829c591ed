"""Constructs of the language and the standard library in two tasks: all that Python can do, and nothing else.

A file of `judged/` has programs in four parts: the state, what two tasks do, and what is looked at then. The
truth is not written down: brute force (`opcodes`) switches before any instruction. Each way round: what it
finds is found, and what is found it confirms. A sample, unless POSSIBLY_CASES asks for more.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.control.runtime.opcodes import ANYWHERE, outcomes, unconfirmed
from tests.control.runtime.test_opcodes import explored

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
WAYS = 600
"""So many ways to switch are tried of each task that may go first."""


class Judged(NamedTuple):
    name: str
    source: str


def judged(path: Path) -> list[Judged]:
    found = []
    for block in f"\n{path.read_text(encoding='utf-8')}".split("\n## ")[1:]:
        name, _, body = block.partition("\n")
        state, one, other, result = (part.strip("\n") for part in body.split("\n--\n"))
        shared = f"global {', '.join(sorted(_assigned(state)))}"
        tasks = [_function("a", f"{shared}\n{one}"), _function("b", f"{shared}\n{other}")]
        source = "\n".join([state, *tasks, _function("result", f"return {result}")])
        found.append(Judged(f"{path.stem}: {name}", source))
    return found


def _assigned(state: str) -> set[str]:
    """The variables of the module."""
    statements = [each for each in ast.parse(state).body if isinstance(each, ast.Assign)]
    nodes = [node for each in statements for target in each.targets for node in ast.walk(target)]
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} | {
        "_"
    }


def _function(name: str, body: str) -> str:
    lines = [f"    {line}" for line in body.split("\n")]
    return "\n".join([f"def {name}():", *lines])


FILES = sorted((Path(__file__).parent / "judged").glob("*.txt"))
ALL = [each for path in FILES for each in judged(path)]
CHOSEN = ALL if CASES > 1 else ALL[::30]


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_what_python_can_do_is_found_and_nothing_else(case: Judged, tmp_path: Path) -> None:
    possible = outcomes(case.source, ANYWHERE, WAYS)
    found = explored(tmp_path / "program.py", case.source)
    assert possible - found == set()
    assert unconfirmed(case.source, found - possible, files=ANYWHERE) == set()


def test_every_program_is_one() -> None:
    assert len({each.name for each in ALL}) == len(ALL) > 140
