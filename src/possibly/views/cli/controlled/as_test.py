"""`possibly replay FILE --as-test`: from a failing schedule, or a breakpoint of a tree, to a test."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import NamedTuple

from possibly.errors import PossiblyError
from possibly.views.cli.messages import remark


class _Failing(NamedTuple):
    program: tuple[str, ...]
    what: str
    replay: Sequence[str]
    search: Sequence[str]
    specification: str = ""


def write_test(arguments: argparse.Namespace) -> int:
    from possibly.views.cli.controlled.macro import is_tree
    from possibly.views.cli.files import write_text
    from possibly.views.export.as_test import test_name, test_text

    found = _of_tree(arguments) if is_tree(arguments.file) else _of_schedule(arguments)
    target = arguments.output or f"test_{test_name(arguments.file)}.py"
    if os.path.exists(target) and arguments.output is None:
        raise PossiblyError("this file is there already", file=target, hint="name another: -o FILE")
    text = test_text(
        found.program, found.what, arguments.file, target, found.replay, found.search, found.specification
    )
    write_text(target, text)
    remark(f"the test: pytest {target}")
    return 0


def _of_schedule(arguments: argparse.Namespace) -> _Failing:
    from possibly.session.exploring.replay import replay, shown
    from possibly.views.export.as_test import SEARCHED

    found = replay(arguments.file, None, arguments.program)
    if found.failure is None:
        raise PossiblyError("it does not fail now, so there is nothing to test", file=arguments.file)
    words = tuple(found.schedule.header["program"])
    program = (arguments.program or words[0], *words[1:])
    told = shown(found.schedule)
    specification = str(told.get("specification", ""))
    asked = ["--spec", "KEPT.spec"] if specification else []
    asked += ["--races"] if told.get("kind") == "data race" else []
    search = ["explore", "--executions", str(SEARCHED), "-o", "KEPT", *asked, *program]
    what = str(told.get("message") or told.get("kind") or "a failing schedule")
    return _Failing(program, what, ["replay", arguments.file, program[0]], search, specification)


def _of_tree(arguments: argparse.Namespace) -> _Failing:
    from possibly.control.macro.tree import Tree
    from possibly.control.macro.why import violations
    from possibly.views.export.as_test import SEARCHED

    tree = Tree.load(arguments.file)
    found = violations(tree)
    number = arguments.breakpoint
    shown = next((each for each in found if number in (None, each.node, each.leaf)), None)
    if shown is None:
        raise PossiblyError("no claim fails there, so there is nothing to test", file=arguments.file)
    what = f"{shown.claim} is false" if shown.claim else f"{shown.end}: {shown.detail}"
    ranks = [] if tree.ranks is None else ["--mpi", str(tree.ranks)]
    asked = [f"--{shown.language}", shown.claim] if shown.language else []
    search = ["explore", "--macro", *ranks, "--first", "--executions", str(SEARCHED), *asked]
    replay = ["replay", arguments.file, "--breakpoint", str(shown.node)]
    return _Failing(tree.program, what, replay, [*search, "--tree", "KEPT", *tree.program])
