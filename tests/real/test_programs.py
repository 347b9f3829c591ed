"""Programs as people write them, with the packages they use, each with its truth: never decided wrongly.

A book holds programs one after another: `=== name`, then the program, whose first line says whether some
order of its steps fails (WRONG) or none does (RIGHT), and why. A wrong program must be found so, and of the
quick ones the schedule shows that again, step for step. A right one must be covered, or be left open with
something that can be done about it. Packages that are not installed (`possibly[real]`) are passed over; all
but a few quick programs are for `make soak`.
"""

from __future__ import annotations

import ast
import os
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore
from possibly.session.exploring.replay import replay, save

BOOKS = sorted((Path(__file__).parent / "books").glob("*.txt"))
QUICK = frozenset(
    "defaultdict_wrong defaultdict_right merge_wrong gauss_wrong module_gauss_wrong shuffle_right "
    "choice_wrong email_inside_wrong wsgi_headers_wrong logging_inside_wrong tempfile_wrong sched_right "
    "asdict_wrong warnings_right environ_wrong polling_right simpy_own_right".split()
)
MANY = "POSSIBLY_CASES" in os.environ
HEAVY = frozenset("http_server_wrong mock_wrong pandas_wrong weak_values_wrong".split())
"""Wrong programs whose failure may need more time than there is: they never hold, and may stay open."""


class Program(NamedTuple):
    name: str
    source: str

    @property
    def is_wrong(self) -> bool:
        return self.source.startswith("# WRONG: ")


def programs_of(book: Path) -> list[Program]:
    parts = book.read_text().split("=== ")[1:]
    return [Program(*part.split("\n", 1)) for part in parts]


PROGRAMS = [program for book in BOOKS for program in programs_of(book)]


def imported(source: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(source)))
    names = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
    names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize(
    "program", [each for each in PROGRAMS if MANY or each.name in QUICK], ids=lambda each: each.name
)
def test_it_is_not_decided_wrongly(program: Program, tmp_path: Path) -> None:
    if any(find_spec(name) is None for name in imported(program.source)):
        pytest.skip("its package is not installed")
    path = tmp_path / f"{program.name}.py"
    path.write_text(program.source)
    kept = str(tmp_path / "kept.schedule")
    with script((str(path),)) as controlled:
        found = explore(controlled, Options(seconds=120, minimise=0))
        if found.failure is not None and program.name in QUICK:
            save(found.failure, controlled, (str(path),), kept)
    if found.failure is not None and program.name in QUICK:
        again = replay(kept)
        assert again.failure is not None and again.is_faithful, again.deviations
    if program.is_wrong:
        assert found.holds is False or (program.name in HEAVY and found.holds is None), found.open
    else:
        assert found.failure is None, found.failure.message
        assert found.complete or all(reason.remedy for reason in found.open.values())


def test_half_of_them_are_wrong() -> None:
    wrong = sum(each.is_wrong for each in PROGRAMS)
    assert len(PROGRAMS) >= 180 and len(PROGRAMS) // 3 <= wrong <= 2 * len(PROGRAMS) // 3
    assert all(each.source.startswith(("# WRONG: ", "# RIGHT: ")) for each in PROGRAMS)
    assert {each.name for each in PROGRAMS} >= QUICK | HEAVY


def test_they_use_many_packages() -> None:
    import sys

    used = set[str]().union(*(imported(each.source) for each in PROGRAMS))
    assert len(used - sys.stdlib_module_names) >= 45
