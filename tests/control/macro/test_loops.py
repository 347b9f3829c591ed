"""Tasks under macro-steps against real asyncio, with every order that it may have.

What one turn of a task starts or wakes goes on in that order; else whoever is ready may be next.
"""

from __future__ import annotations

import asyncio
import os
import textwrap
from pathlib import Path
from random import Random
from typing import Any

import pytest

from possibly.control.macro.explore import Explorer
from possibly.control.macro.loops import Act, Loop
from possibly.control.macro.program.controller import Controller
from possibly.control.macro.tree import Tree

CASES = 6 * int(os.environ.get("POSSIBLY_CASES", "1"))
Line = list[tuple[str, ...]]
Outcome = tuple[frozenset[tuple[str, str]], str]


class Choosing(asyncio.SelectorEventLoop):
    """Runs one turn of a task at a time: which one is told, or noted if there is a choice."""

    def __init__(self, choices: list[int]) -> None:
        super().__init__()
        self.choices = choices
        self.made: list[tuple[int, int]] = []
        self.behind: dict[Any, Any] = {}

    def _run_once(self) -> None:
        ready: Any = self._ready  # type: ignore[attr-defined]
        if not ready:
            raise InterruptedError
        free = [handle for handle in ready if self.behind.get(handle) not in ready]
        number = 0
        if len(free) > 1:
            given = len(self.made) < len(self.choices)
            number = self.choices[len(self.made)] if given else 0
            self.made.append((number, len(free)))
        self._turn(free[number], ready)

    def _turn(self, chosen: Any, ready: Any) -> None:
        """A turn of a task, and what it causes that is none."""
        ready.remove(chosen)
        before, last = set(ready), None
        chosen._run()
        while plain := next((handle for handle in ready if owner(handle) is None), None):
            ready.remove(plain)
            plain._run()
        for handle in ready:
            if handle not in before and owner(handle) is not owner(chosen):
                self.behind[handle], last = last, handle


def owner(handle: Any) -> Any:
    """The task whose turn it is."""
    found = getattr(handle._callback, "__self__", None)
    return found if isinstance(found, asyncio.Task) else None


async def do(name: str, program: dict[str, Line], queues: dict[str, Any], got: list[tuple[str, str]]) -> None:
    puts = gets = 0
    started = []
    for what, *rest in program[name]:
        if what == "put":
            puts += 1
            await queues[rest[0]].put(f"{name}#{puts}")
        elif what == "get":
            gets += 1
            number = gets
            got.append((f"{name}?{number}", await queues[rest[0]].get()))
        elif what == "start":
            started.append(asyncio.create_task(do(rest[0], program, queues, got)))
        else:
            await asyncio.sleep(0)
    for each in started:
        await each


def executed(program: dict[str, Line], capacity: int) -> set[Outcome]:
    """Every outcome of real asyncio, whichever callback that is ready comes first."""
    found: set[Outcome] = set()
    pending: list[list[int]] = [[]]
    while pending:
        choices = pending.pop()
        loop = Choosing(choices)
        got: list[tuple[str, str]] = []

        async def main(got: list[tuple[str, str]] = got) -> None:
            queues = {each: asyncio.Queue[str](capacity) for each in "QR"}
            await asyncio.gather(*(do(name, program, queues, got) for name in first(program)))

        task = loop.create_task(main())
        try:
            loop.run_until_complete(task)
            found.add((frozenset(got), "finished"))
        except InterruptedError:
            found.add((frozenset(got), "deadlock"))
        for place in range(len(choices), len(loop.made)):
            number, many = loop.made[place]
            ways = [each for each, _ in loop.made[:place]]
            pending += [[*ways, other] for other in range(number + 1, many)]
        left = asyncio.all_tasks(loop)
        for each in left:
            each.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
        loop.close()
    return found


def generated(random: Random) -> tuple[dict[str, Line], int]:
    names = [f"P{number}" for number in range(random.randint(2, 3))]
    program: dict[str, Line] = {name: [] for name in names}
    for _ in range(random.randint(2, 4)):
        sender, receiver = random.choice(names), random.choice(names)
        queue = random.choice("QR")
        program[sender].append(("put", queue))
        program[receiver].append(("get", queue))
    for line in program.values():
        random.shuffle(line)
        if random.random() < 0.3:
            line.insert(random.randint(0, len(line)), ("sleep",))
    if random.random() < 0.4:
        starter = program[names[0]]
        starter.insert(random.randint(0, len(starter)), ("start", names[-1]))
    return program, random.choice([0, 0, 0, 1])


def first(program: dict[str, Line]) -> list[str]:
    """Those that no other starts."""
    started = {what[1] for line in program.values() for what in line if what[0] == "start"}
    return [name for name in program if name not in started]


SOURCE = """
import asyncio
program = {program!r}

async def do(name, queues):
    puts, started = 0, []
    for what, *rest in program[name]:
        if what == "put":
            puts += 1
            await queues[rest[0]].put(f"{{name}}#{{puts}}")
        elif what == "get":
            await queues[rest[0]].get()
        elif what == "start":
            started.append(asyncio.create_task(do(rest[0], queues), name=rest[0]))
        else:
            await asyncio.sleep(0)
    for each in started:
        await each

async def main():
    queues = {{each: asyncio.Queue({capacity}) for each in "QR"}}
    tasks = [asyncio.create_task(do(name, queues), name=name) for name in {first!r}]
    await asyncio.gather(*tasks)

asyncio.run(main())
"""


def explored(file: Path) -> Tree:
    tree = Tree((str(file),))
    return Explorer(lambda: Controller([str(file)]), tree).explore()


def outcomes(tree: Tree) -> list[Outcome]:
    return [
        (frozenset(pair for node in tree.path(leaf.number) for pair in node.matches), leaf.end)
        for leaf in tree.leaves
    ]


@pytest.mark.parametrize("seed", range(CASES))
def test_paths_are_what_asyncio_can_do(seed: int, tmp_path: Path) -> None:
    program, capacity = generated(Random(f"loops {seed}"))
    file = tmp_path / "program.py"
    file.write_text(SOURCE.format(program=program, capacity=capacity, first=first(program)))
    assert set(outcomes(explored(file))) == executed(program, capacity), program


def paths(tmp_path: Path, body: str) -> set[tuple[tuple[str, str], ...]]:
    file = tmp_path / "program.py"
    text = "import asyncio\n\n" + textwrap.dedent(body) + "\nasyncio.run(main())\n"
    file.write_text(text)
    return {tuple(sorted(matches)) for matches, _ in outcomes(explored(file))}


def test_two_queues_that_one_piece_fills_agree(tmp_path: Path) -> None:
    """Threads could put a, b into one queue and b, a into the other; tasks cannot."""
    body = """\
        async def put(one, two):
            await asyncio.sleep(0)
            await one.put(1)
            await two.put(1)

        async def get(queue):
            await queue.get()
            await queue.get()

        async def main():
            one, two = asyncio.Queue(), asyncio.Queue()
            jobs = [("a", put(one, two)), ("b", put(one, two)), ("c", get(one)), ("d", get(two))]
            async with asyncio.TaskGroup() as group:
                for name, job in jobs:
                    group.create_task(job, name=name)
    """
    orders = [("a#1", "b#1", "a#2", "b#2"), ("b#1", "a#1", "b#2", "a#2")]
    assert paths(tmp_path, body) == {
        tuple(zip(("c?1", "c?2", "d?1", "d?2"), each, strict=True)) for each in orders
    }


@pytest.mark.parametrize("wait", ["await first", "await asyncio.gather(first)", "await done.wait()"])
def test_what_a_task_waits_for_comes_before_it_goes_on(wait: str, tmp_path: Path) -> None:
    body = f"""\
        async def child(queue, done):
            await queue.put(1)
            done.set()

        async def main():
            queue, done = asyncio.Queue(), asyncio.Event()
            first = asyncio.create_task(child(queue, done), name="child")
            {wait}
            await queue.put(2)
            await queue.get()
            await queue.get()
    """
    (found,) = paths(tmp_path, body)
    assert found[0][1] == "child#1"


def test_a_loop_by_itself() -> None:
    loop = Loop()
    loop.lines = {
        "a": [Act(True, "a#1", "Q", 0, True, ()), Act(True, "a#2", "R", 0, False, ())],
        "b": [Act(True, "b#1", "Q", 0, True, ()), Act(True, "b#2", "R", 0, False, ())],
        "c": [Act(False, "c?1", "Q", 0, True, ()), Act(False, "c?2", "R", 0, False, ())],
    }
    assert loop.can({"c?1": "a#1", "c?2": "a#2"})
    assert loop.can({"c?1": "a#1", "c?2": "b#2"}) is False
    assert loop.can({"c?1": "b#1"})
