"""Code that is taken apart and put together is what it was, for all of the standard library."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from types import CodeType

import pytest

from possibly.probes.instructions.assembler import assembled, decoded

LIBRARY = Path(sysconfig.get_path("stdlib"))
FILES = ["ast.py", "asyncio/tasks.py", "dataclasses.py", "enum.py", "inspect.py", "typing.py", "zipfile.py"]


def again(code: CodeType) -> None:
    instructions, handlers = decoded(code)
    made = assembled(code, instructions, handlers, {}, code.co_consts, 0)
    assert made.co_code == code.co_code
    assert list(made.co_positions()) == list(code.co_positions())
    assert made.co_exceptiontable == code.co_exceptiontable
    for each in code.co_consts:
        if isinstance(each, CodeType):
            again(each)


@pytest.mark.parametrize("file", FILES)
def test_nothing_changes(file: str) -> None:
    path = LIBRARY / file
    if path.exists():
        again(compile(path.read_bytes(), str(path), "exec"))


def test_jumps_that_become_longer() -> None:
    body = "\n".join(f"    x{n} = {n} + len(str(a))" for n in range(400))
    code = compile(f"def f(a):\n  for i in range(2):\n{body}\n  return x399", "long.py", "exec")
    again(code)
