"""Locals of nested and recursive functions, as recorded: each is that of its own call, and ends with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking.check import Options, check_trace
from possibly.session.record import Request, record_program
from possibly.verdict.model import Truth
from tests.sampling import sampled

FUNCTIONS = ("f", "g", "h")
VALUES = (1, 2)
Script = list[tuple[str, Any, Any]]
PROGRAM = """
import threading

def {name}(script):
    for what, one, more in script:
        if what == "set":
            k = one
        elif what == "call":
            globals()[one](more)
        else:
            globals()[one]()
"""


def script(random: Random, marks: list[str], depth: int) -> Script:
    """What a call does: sets its k, calls a function (itself too), or calls a mark, each mark once."""
    found: Script = []
    for _ in range(random.randint(1, 4)):
        match random.choice(("set", "call", "mark")):
            case "set":
                found.append(("set", random.choice(VALUES), None))
            case "call" if depth:
                found.append(("call", random.choice(FUNCTIONS), script(random, marks, depth - 1)))
            case _:
                marks.append(f"m{len(marks)}")
                found.append(("mark", marks[-1], None))
    return found


Frame = list[Any]
"""The function and its k; None before that is set."""


def visible(steps: Script, stack: list[Frame]) -> Iterator[tuple[str, dict[str, Any]]]:
    """By hand: at each mark, for each function that is under way the k of its latest call."""
    for what, one, more in steps:
        match what:
            case "set":
                stack[-1][1] = one
            case "call":
                yield from visible(more, [*stack, [one, None]])
            case _:
                yield one, {frame[0]: frame[1] for frame in stack}


def setters(steps: Script, function: str) -> set[str]:
    """The functions that set their k in some call."""
    found = {function} if any(what == "set" for what, _, _ in steps) else set()
    return found.union(*(setters(more, one) for what, one, more in steps if what == "call"))


@pytest.mark.parametrize("seed", range(sampled(12)))
def test_a_local_is_that_of_the_latest_call(seed: int, tmp_path: Path) -> None:
    random = Random(f"locals {seed}")
    marks: list[str] = []
    steps: Script = [("set", 1, None), *script(random, marks, 4)]
    truth = dict(visible(steps, [["f", None]]))
    source = "".join(PROGRAM.format(name=name) for name in FUNCTIONS)
    source += "".join(f"def {mark}(): pass\n" for mark in marks)
    source += f"thread = threading.Thread(target=f, args=({steps!r},)); thread.start(); thread.join()\n"
    (tmp_path / "program.py").write_text(source)
    setting = sorted(setters(steps, "f"))
    asked = {
        f"{mark}_{name}_{value}": (f"t:(in.{mark}) implies t:({name}.k == {value})", seen.get(name, value))
        for mark, seen in truth.items()
        for name in setting
        for value in VALUES
    }
    properties = [property_from_text("tl", text, name) for name, (text, _) in asked.items()]
    inside = " or ".join(f"t:(in.{name})" for name in FUNCTIONS)
    properties.append(property_from_text("tl", f"t:(k >= 1) implies ({inside})", "inside"))
    specification = Specification(properties=tuple(properties))
    words = (str(tmp_path / "program.py"),)
    done = record_program(Request(words, str(tmp_path / "run.jsonl"), specification, watch=("k",)))
    assert done.status == 0
    found = {each.name: each.truth for each in check_trace(done.trace, specification, Options()).verdicts}
    assert found.pop("inside") is Truth.HOLDS
    for name, (text, value) in asked.items():
        # A function under way whose k has no value: the comparison is false.
        assert found[name] is (Truth.HOLDS if value == int(name[-1]) else Truth.VIOLATED), (text, truth)
