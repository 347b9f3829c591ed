"""`exec` and `eval` give what Python gives, and what they execute is seen."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from possibly.control.forking.execution import Job
from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import Stay, explored, once

SAME = """
from __future__ import annotations
def f():
    x = 5
    exec("y = x + 1")
    return eval(" x + 1"), locals().get("y")
assert f() == (6, 6)
space = {}
exec("def g(a: int) -> str: return a", space)
assert space["g"](3) == 3 and space["g"].__annotations__ == {"a": "int", "return": "str"}
assert eval(compile("1 + 2", "<x>", "eval")) == 3
try: exec("1 +")
except SyntaxError as error: assert error.filename == "<string>"
"""
BUMPED = """
import threading
space = {{"n": 0}}
def bump(): {how}
threads = [threading.Thread(target=bump) for _ in range(2)]
for each in threads: each.start()
for each in threads: each.join()
assert space["n"] == 2
"""


def test_it_does_what_it_does_without_control(tmp_path: Path) -> None:
    assert once(tmp_path, SAME).failure is None


@pytest.mark.parametrize("how", ["exec('n = n + 1', space)", "space['n'] = eval('n', space) + 1"])
def test_what_is_executed_is_seen(how: str, tmp_path: Path) -> None:
    options = Options(executions=200, minimise=0)
    assert explored(tmp_path, BUMPED.format(how=how), options).holds is False


GENERATED = """
import threading
from dataclasses import dataclass
@dataclass
class Point:
    x: int = 0
    y: int = 0
point, seen = Point(), []
def move():
    point.x = 1
    point.y = 1
threads = [threading.Thread(target=each) for each in (move, lambda: seen.append(point == Point(0, 1)))]
for each in threads: each.start()
for each in threads: each.join()
assert seen == [False]
"""


def test_what_a_package_makes_of_texts_is_seen(tmp_path: Path) -> None:
    assert explored(tmp_path, GENERATED, Options(executions=200, minimise=0)).holds is False


def test_what_was_made_of_texts_travels(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(GENERATED)
    with script((str(path),)) as program:
        _, extra = program.answered(Job(), Stay(), True)
    assert pickle.loads(pickle.dumps(extra))["texts"]
