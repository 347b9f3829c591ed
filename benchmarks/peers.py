"""The families of `exploring.py` in other tools that control schedules; run by an interpreter that has them.

    frontrun python benchmarks/peers.py frontrun SECONDS
    python benchmarks/peers.py interleave_test SECONDS
    python benchmarks/peers.py bugs FOLDER
    frontrun python benchmarks/peers.py bugs_by_frontrun FOLDER

Prints a line of JSON for each tool and program: executions, seconds, and what was covered. frontrun 0.7 runs
functions that share an object, with unbounded preemption, until nothing is left or the time is over.
interleave-test 0.1 has no reduction: it runs schedules drawn by PCT, by line and by opcode, for as long as it
is told, and never knows that it is through. Both execute in one process. `bugs` counts the executions that
interleave-test's PCT needs for the first failure of FOLDER/*/buggy.py, by opcode, for twenty seeds.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar

Worker = Callable[[Any], None]


class State:
    """What the workers share."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n = 0
        self.a = [0] * 16


def locked(state: State) -> None:
    with state.lock:
        state.n += 1


def unlocked(state: State) -> None:
    state.n += 1


def writes(state: State) -> None:
    state.n = 1


def reads(state: State) -> None:
    state.n  # noqa: B018 - the access is all


def looks(top: int) -> Worker:
    def look(state: State) -> None:
        i = top
        while state.a[i] != 0:
            i -= 1

    return look


def fills(j: int) -> Worker:
    def fill(state: State) -> None:
        state.a[j] = state.a[j - 1] + 1

    return fill


def lastzero(count: int) -> list[Worker]:
    return [looks(count), *(fills(j) for j in range(1, count + 1))]


def three(state: State) -> None:
    for _ in range(3):
        state.n += 1


PROGRAMS: dict[str, list[Worker]] = {
    "increments 2 x 3": [three] * 2,
    "unlocked increments 4": [unlocked] * 4,
    "unlocked increments 3": [unlocked] * 3,
    "locked increments 4": [locked] * 4,
    "locked increments 5": [locked] * 5,
    "locked increments 6": [locked] * 6,
    "one writer, 4 readers": [writes, *[reads] * 4],
    "one writer, 6 readers": [writes, *[reads] * 6],
    "one writer, 8 readers": [writes, *[reads] * 8],
    "lastzero 3": lastzero(3),
    "lastzero 5": lastzero(5),
    "lastzero 7": lastzero(7),
}


def with_frontrun(workers: list[Worker], seconds: float) -> tuple[int, str]:
    found = importlib.import_module("frontrun").explore(
        setup=State, workers=workers, invariant=lambda _: True, preemption_bound=None,
        stop_on_first=False, total_timeout=seconds, detect_io=False,
    )  # fmt: skip
    return found.num_explored, f"says {found.property_holds}"


def with_interleave(workers: list[Worker], seconds: float, granularity: str) -> tuple[int, str]:
    tool = importlib.import_module("interleave_test")

    def model() -> None:
        state = State()
        threads = [threading.Thread(target=work, args=(state,)) for work in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    count, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        tool.explore(model, iterations=50, seed=count, strategy="pct", granularity=granularity)
        count += 50
    return count, "random"


TOOLS: dict[str, list[tuple[str, Callable[[list[Worker], float], tuple[int, str]]]]] = {
    "frontrun": [("frontrun", with_frontrun)],
    "interleave_test": [
        ("interleave-test, lines", lambda workers, seconds: with_interleave(workers, seconds, "line")),
        ("interleave-test, opcodes", lambda workers, seconds: with_interleave(workers, seconds, "opcode")),
    ],
}


def runs(module: str, seconds: float) -> Iterator[dict[str, object]]:
    importlib.import_module(module)
    for tool, run in TOOLS[module]:
        for program, workers in PROGRAMS.items():
            begun, used = time.perf_counter(), time.process_time()
            executions, covered = run(workers, seconds)
            wall, cpu = time.perf_counter() - begun, time.process_time() - used
            yield {
                "tool": tool, "program": program, "executions": executions, "seconds": wall, "cpu": cpu,
                "covered": covered,
            }  # fmt: skip


def bugs(folder: str, seeds: int = 20, most: int = 400) -> Iterator[dict[str, object]]:
    """How many executions the first failure takes, sorted; `most` if none was found."""
    tool = importlib.import_module("interleave_test")
    for name, code, _ in _programs(folder):

        def model(code: CodeType = code) -> None:
            exec(code, {"__name__": "__main__"})  # noqa: S102 - a program of ours, from our own folder

        needed = []
        for seed in range(seeds):
            found = tool.explore(
                model, iterations=most, seed=seed, strategy="pct", raise_on_failure=False, timeout=10
            )
            needed.append(found.schedules_run if found.failure else most)
        yield {"program": name, "needed": sorted(needed)}


def bugs_by_frontrun(folder: str, most: int = 400) -> Iterator[dict[str, object]]:
    """By frontrun, which is given the targets of the threads, and the end of the program as check."""
    tool = importlib.import_module("frontrun")
    for name, code, end in _programs(folder):

        def setup(code: CodeType = code) -> dict[str, Any]:
            variables: dict[str, Any] = {"__name__": "__main__"}
            begun.append(None)
            Recorded.made.clear()
            threading.Thread, plain = Recorded, threading.Thread  # type: ignore[misc, assignment]
            try:
                exec(code, variables)  # noqa: S102 - a program of ours, from our own folder
            finally:
                threading.Thread = plain  # type: ignore[misc]
            variables["recorded"] = list(Recorded.made)
            return variables

        def check(variables: dict[str, Any], end: CodeType = end) -> bool:
            exec(end, variables)  # noqa: S102
            return True

        workers = [_caller(number) for number in range(len(setup()["recorded"]))]
        for clock in ("real", "explored"):
            begun.clear()
            try:
                found = tool.explore(
                    setup=setup, workers=workers, invariant=check, preemption_bound=None,
                    max_executions=most, total_timeout=20, reproduce_on_failure=0, clock=clock,
                )  # fmt: skip
                says = str(found.property_holds)
            except Exception as error:  # noqa: BLE001 - it lets those of workers through
                says = type(error).__name__
            yield {"program": name, "clock": clock, "needed": len(begun), "says": says}


begun: list[None] = []
"""Executions of frontrun."""


class Recorded:
    """In place of a thread: only what it would call is wanted."""

    made: ClassVar[list[Recorded]] = []

    def __init__(self, target: Any, args: tuple[Any, ...] = (), **_: Any) -> None:
        self.target, self.args = target, args
        self.made.append(self)

    def start(self) -> None:
        pass

    join = start


def _caller(number: int) -> Worker:
    def call(variables: dict[str, Any]) -> None:
        recorded = variables["recorded"][number]
        recorded.target(*recorded.args)

    return call


def _programs(folder: str) -> Iterator[tuple[str, CodeType, CodeType]]:
    """The programs with threads, and what each does when all are joined."""
    for path in sorted(Path(folder).glob("*/buggy.py")):
        tree = ast.parse(path.read_text())
        if "import asyncio" in path.read_text():
            continue
        loops = [number for number, node in enumerate(tree.body) if isinstance(node, ast.For)]
        asserts = [node for node in tree.body[loops[-1] if loops else 0 :] if isinstance(node, ast.Assert)]
        tree.body = [node for node in tree.body if node not in asserts]
        whole = compile(path.read_text(), str(path), "exec")
        if sys.argv[1] == "bugs":
            yield path.parent.name, whole, whole
        else:
            end = ast.Module(list(asserts), [])
            yield path.parent.name, compile(tree, str(path), "exec"), compile(end, str(path), "exec")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["bugs", folder]:
            rows = bugs(folder)
        case ["bugs_by_frontrun", folder]:
            rows = bugs_by_frontrun(folder)
        case [module, seconds]:
            rows = runs(module, float(seconds))
    for row in rows:
        print(json.dumps(row), flush=True)
