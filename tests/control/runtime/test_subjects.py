"""What two tasks can do to one subject (sets, iterators, classes, texts), with a switch at any instruction.

A file of `subjects/` has four parts: state, expressions that read it, statements that change it (`\\n` begins
a new line), and what is compared in the end. Two tasks do one or two of these each. The outcomes of `explore`
are those of brute force, which switches in libraries too; a sample of the switches where there are many.
"""

from __future__ import annotations

import ast
import os
import random
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.control.runtime.opcodes import ANYWHERE, outcomes, unconfirmed
from tests.control.runtime.test_opcodes import explored

CASES = 4 * int(os.environ.get("POSSIBLY_CASES", "1"))


class Subject(NamedTuple):
    state: str
    reads: list[str]
    changes: list[str]
    result: str


def subject(path: Path) -> Subject:
    state, reads, changes, result = path.read_text(encoding="utf-8").split("\n--\n")
    return Subject(state, reads.split("\n"), changes.split("\n"), result.strip())


SUBJECTS = [subject(path) for path in sorted((Path(__file__).parent / "subjects").glob("*.txt"))]


def variables(state: str) -> list[str]:
    tree = ast.parse(state)
    assigned = [name for node in tree.body if isinstance(node, ast.Assign) for name in ast.walk(node)]
    stored = {each.id for each in assigned if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return sorted(
        stored | {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    )


def generated(seed: int) -> str:
    draw = random.Random(seed)
    state, reads, changes, result = draw.choice(SUBJECTS)

    def line() -> str:
        return f"seen.append(repr({draw.choice(reads)}))" if draw.random() < 0.45 else draw.choice(changes)

    def body(name: str) -> str:
        lines = "\\n".join(line() for _ in range(draw.choice((1, 2, 2)))).split("\\n")
        return f"def {name}():\n    global {', '.join(variables(state))}\n    " + "\n    ".join(lines)

    shown = f"def result(): return re.sub('0x[0-9a-f]+', '', repr((seen, {result})))"
    return f"{state}\nimport re\nseen = []\n{body('a')}\n{body('b')}\n{shown}\n"


@pytest.mark.parametrize("seed", range(CASES))
def test_what_python_can_do_is_found_and_nothing_else(seed: int, tmp_path: Path) -> None:
    source = generated(seed)
    possible = outcomes(source, ANYWHERE, most=500)
    found = explored(tmp_path / "program.py", source)
    assert possible - found == set()
    assert unconfirmed(source, found - possible, 800, ANYWHERE) == set()


def test_every_program_is_one() -> None:
    for seed in range(300):
        compile(generated(seed), "<tasks>", "exec")
