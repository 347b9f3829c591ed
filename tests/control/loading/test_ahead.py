"""What a program imports first of all is there before its first execution."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.control.loading.ahead import named_first
from possibly.control.schedulers.course import Course

SOURCES = {
    "import os, asyncio.events": ["os", "asyncio.events"],
    "from concurrent.futures import wait": ["concurrent.futures"],
    "'words'\nfrom __future__ import annotations\nimport queue": ["__future__", "queue"],
    "import this, antigravity, idlelib": [],
    "from . import one\nfrom .two import three\nimport queue": ["queue"],
    "import numpy\nimport queue": ["queue"],
    "print(1)\nimport queue": [],
    "import sys; sys.path.clear(); import queue": ["sys"],
    "try: import queue\nexcept ImportError: pass": [],
}


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_imported_before_anything_else_is_done(source: str, tmp_path: Path) -> None:
    assert named_first(ast.parse(source), str(tmp_path)) == SOURCES[source]


@pytest.mark.parametrize("own", ["queue.py", "queue"])
def test_a_module_of_the_users_own_is_left_to_the_program(own: str, tmp_path: Path) -> None:
    (tmp_path / own).mkdir()
    assert named_first(ast.parse("import queue, heapq"), str(tmp_path)) == ["heapq"]


def test_no_execution_imports_it_again(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import asyncio, wave\nasyncio.run(asyncio.sleep(0))\nimport colorsys\n")
    with script((str(path),)) as program:
        program.execute(Course(()))
        assert program.extra["modules"] == ["colorsys"]
