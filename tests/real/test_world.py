"""Small programs of the kind that people write, each with its truth in the first line: never decided wrongly.

A program that is wrong must be found so. One that is right must be covered, or, if its library is not
watched, left open with something that can be done about it. Libraries that are not installed are passed over.
"""

from __future__ import annotations

import ast
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore

PROGRAMS = sorted(Path(__file__).parent.glob("world_*.py"))
QUICK = {
    "world_value_wrong",
    "world_value_right",
    "world_sockets_threads_wrong",
    "world_locks_wrong",
    "world_spawn_global_wrong",
    "world_event_poll_right",
}
MANY = "POSSIBLY_CASES" in os.environ


def is_installed(source: str) -> bool:
    nodes = list(ast.walk(ast.parse(source)))
    names = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
    names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    return all(find_spec(name.partition(".")[0]) is not None for name in names)


@pytest.mark.parametrize(
    "path", [each for each in PROGRAMS if MANY or each.stem in QUICK], ids=lambda each: each.stem
)
def test_it_is_not_decided_wrongly(path: Path) -> None:
    source = path.read_text()
    if not is_installed(source):
        pytest.skip("its library is not installed")
    with script((str(path),)) as program:
        found = explore(program, Options(seconds=120, minimise=0))
    if source.startswith("# WRONG"):
        assert found.holds is False, found.open
    else:
        assert found.failure is None, found.failure.message
        assert found.complete or all(reason.remedy for reason in found.open.values())


def test_half_of_them_are_wrong() -> None:
    wrong = sum(path.read_text().startswith("# WRONG") for path in PROGRAMS)
    assert len(PROGRAMS) >= 50 and len(PROGRAMS) // 3 <= wrong <= 2 * len(PROGRAMS) // 3 + 1
