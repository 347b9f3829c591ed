"""Temporal steps that are looked for in classes of executions, against the search state by state."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from possibly.control.temporal.stack import Outcome, TemporalStack
from possibly.session.debugging.live import LiveSystem
from possibly.session.debugging.temporal import Opening, opened

CASES = 3 * int(os.environ.get("POSSIBLY_CASES", "1"))
LINES = ("x += 1", "y = x", "x = y + 1", "with lock:\n        x += 2", "box.put(x)", "y = box.get()")
FORMULAS = (
    "F x == 2",
    "F(x == 2 & y == 1)",
    "(y == 0) U (x == 2 & !done(a))",
    "G y == 0 & F x == 3",
    "F(x == 1 & X(y == 1 & X x == 2))",
    'F(outcome == "deadlock" & x == 1)',
    "F(stuck & x == 3)",
    "F(x == 2 & O(done(b) & x == 1))",
    "F x == 9",
)


class PlainLiveSystem(LiveSystem):
    """Without classes."""

    classes = property()


def generated(random: Random) -> str:
    text = "import queue, threading\nx = y = 0\nlock = threading.Lock()\nbox = queue.Queue()\nbox.put(0)\n"
    for name in "ab":
        lines = random.choices(LINES, k=random.randint(1, 2))
        text += f"def {name}():\n    global x, y\n" + "".join(f"    {line}\n" for line in lines)
    text += "threads = [threading.Thread(target=f, name=f.__name__, daemon=True) for f in (a, b)]\n"
    return text + "for t in threads: t.start()\nfor t in threads: t.join()\nassert (x, y) != (7, 7)\n"


def stack_on(path: Path, kind: type[LiveSystem]) -> TemporalStack:
    found = opened(Opening(str(path), path.read_text(encoding="utf-8"), watched=("x", "y"))).stack
    found.system.__class__ = kind
    return found


def outcomes(path: Path, kind: type[LiveSystem], first: str, formulas: list[str]) -> dict[str, Outcome]:
    """What each formula comes to, from behind a first step."""
    stack = stack_on(path, kind)
    assert isinstance(stack.system, LiveSystem)
    if kind is LiveSystem:
        stack.system.pause_every = 1
    if first:
        stack.next(first)
    found = {}
    for formula in formulas:
        found[formula] = stack.step(formula).outcome
        if stack.steps and stack.steps[-1].text == formula:
            stack.pop()
    stack.self_check()
    stack.system.close()
    return found


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.large("1", "2")
def test_classes_have_a_step_where_states_do(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    random = Random(f"classes {seed}")
    path.write_text(generated(random), encoding="utf-8")
    first, formulas = random.choice(["", "MainThread"]), random.sample(FORMULAS, 3)
    plain = outcomes(path, PlainLiveSystem, first, formulas)
    assert outcomes(path, LiveSystem, first, formulas) == plain, path.read_text()


MANY = """\
import threading

n = 0


def count():
    global n
    for _ in range(2):
        n += 1


threads = [threading.Thread(target=count, name=f"t{number}") for number in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_a_step_of_many_threads_takes_few_executions(tmp_path: Path) -> None:
    path = tmp_path / "many.py"
    path.write_text(MANY, encoding="utf-8")
    stack = stack_on(path, LiveSystem)
    assert isinstance(stack.system, LiveSystem)
    before = stack.system.executions
    answer = stack.step("F(n == 1 & F(n == 2 & F n == 9))")
    assert answer.outcome is Outcome.FOUND and answer.step is not None and answer.step.path.is_guess
    assert stack.system.executions - before < 60
    assert stack.evaluate("n") == (9, ())
    stack.system.close()


def test_there_is_no_step_with_about_one_execution_a_class(tmp_path: Path) -> None:
    """State by state it takes thousands of executions."""
    path = tmp_path / "few.py"
    path.write_text(MANY.replace("range(6)", "range(2)"), encoding="utf-8")
    stack = stack_on(path, LiveSystem)
    assert isinstance(stack.system, LiveSystem)
    stack.system.pause_every = 4
    before = stack.system.executions
    assert stack.step("F n == 100").outcome is Outcome.NONE
    assert stack.system.executions - before < 120
    stack.system.close()
