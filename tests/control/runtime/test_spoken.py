"""Properties of explored programs read containers as they are: however deep, whoever changes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.views.cli.main import main

HEAD = """
import asyncio
import heapq
import threading
from collections import deque

class Box:
    def __init__(self):
        self.items = []
        self.table = {"a": [], "b": []}

box = Box()
xs = [0, 0]
ready = set()
line = deque()
table = {"a": [], "b": []}
table["a"].append(1)
lock = threading.Lock()

def together(*functions):
    threads = [threading.Thread(target=each, name=f"t{number}") for number, each in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
CHANGES = {
    "append to an attribute": ("box.items.append(1)", "len(box.items) == 1"),
    "under a lock": ("with lock: box.items.append(1)", "len(box.items) == 1"),
    "within an attribute": ('box.table["a"].append(1)', 'len(box.table["a"]) == 1'),
    "within a variable": ('table["a"].append(1)', 'len(table["a"]) == 2'),
    "before there is another task": ('table["a"].count(1)', 'len(table["a"]) == 1'),
    "a local alias": ('own = table["b"]; own.append(1)', 'len(table["b"]) == 1'),
    "an item": ("xs[0] = 1", "xs[0] == 1"),
    "a slice": ("xs[:] = [1, 2, 3]", "len(xs) == 3"),
    "an item that goes": ("del xs[0]", "len(xs) == 1"),
    "in place": ("xs.sort(); xs.insert(0, 7)", "xs[0] == 7"),
    "added to": ('table["a"] += [2, 3]', 'len(table["a"]) == 3'),
    "by a function of a library": ("heapq.heappush(box.items, 1)", "len(box.items) == 1"),
    "a set": ("ready.add(1)", "len(ready) == 1"),
    "a deque": ("line.append(1)", "len(line) == 1"),
    "made on the way": ('table.setdefault("c", []).append(1)', 'defined(table["c"]) & len(table["c"]) == 1'),
    "put in and then changed": ('new = []; table["b"] = new; new.append(1)', 'len(table["b"]) == 1'),
    "another in its place": ("box.items = []; box.items.append(5)", "len(box.items) == 1"),
    "emptied": ("xs.clear()", "len(xs) == 0"),
}


def verdict(tmp_path: Path, formula: str, *bodies: str) -> int:
    functions = "".join(
        f"def f{number}():\n    global xs\n    {body}\n" for number, body in enumerate(bodies)
    )
    names = ", ".join(f"f{number}" for number in range(len(bodies)))
    program = tmp_path / "program.py"
    program.write_text(f"{HEAD}\n{functions}\ntogether({names})\n")
    return main(["explore", "--ctl", formula, "-o", str(tmp_path / "a.schedule"), str(program)])


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(tmp_path: Path, name: str) -> None:
    body, becomes = CHANGES[name]
    assert verdict(tmp_path, f"AF({becomes}) & AG(!({becomes}) -> AF({becomes}))", body) == 0
    assert verdict(tmp_path, f"AG(!({becomes}))", body) == 1


@pytest.mark.parametrize("first", [0, 1])
def test_items_that_two_tasks_change_have_two_orders(tmp_path: Path, first: int) -> None:
    formula = f"AG(!(xs[{first}] == 1 & xs[{1 - first}] == 0))"
    assert verdict(tmp_path, formula, "xs[0] = 1", "xs[1] = 1") == 1


@pytest.mark.parametrize("first", "ab")
def test_lists_that_two_tasks_change_have_two_orders(tmp_path: Path, first: str) -> None:
    other = "b" if first == "a" else "a"
    formula = f'AG(!(len(box.table["{first}"]) == 1 & len(box.table["{other}"]) == 0))'
    assert verdict(tmp_path, formula, 'box.table["a"].append(1)', 'box.table["b"].append(1)') == 1


def test_what_a_variable_held_before_is_nothing_to_it(tmp_path: Path) -> None:
    body = "old = xs; xs = [5]; old.append(1); old.append(2)"
    assert verdict(tmp_path, "AG(len(xs) < 3)", body) == 0


def test_turns_of_tasks_go_through_all_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.py"
    body = "async def put():\n    box.items.append(1)\n    box.items.append(2)\n    box.items.clear()\n"
    body += "async def both():\n    await asyncio.gather(put(), put())\nasyncio.run(both())\n"
    program.write_text(HEAD + body)
    schedule = str(tmp_path / "a.schedule")
    assert main(["explore", "--ctl", "AG(len(box.items) < 2)", "-o", schedule, str(program)]) == 1
    assert "changes box.items: [1] -> [1, 2]" in capsys.readouterr().out
    assert main(["explore", "--ctl", "AG(len(box.items) < 3)", "-o", schedule, str(program)]) == 0
