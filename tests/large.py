"""The large ones, for `make soak`: `python -m tests.large [SHARE]` says what each took, and if it is right.

Each is a command in a process of its own, with its processor time and the most memory that it held. SHARE
makes all of them smaller: 0.001 for a look at the table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

HOLDS, VIOLATED, OPEN = 0, 1, 3
MEGABYTE = 1 << 10
"""Of the kilobytes in which the system tells of memory."""
PROGRAM = """
import threading
values = [0] * 6
def work(own):
    for _ in range(3):
        values[own] = sum(values)
threads = [threading.Thread(target=work, args=(own,)) for own in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@dataclass(frozen=True, slots=True)
class Large:
    """A command, what it is given, and the status that is right."""

    name: str
    size: int
    words: tuple[str, ...]
    status: int
    prepare: Callable[[int], None] = lambda size: None
    lines: Callable[[int], Iterable[str]] | None = None
    """Its standard input."""


def events(processes: int, count: int) -> Iterator[str]:
    """A run in which each process counts in `x`, in turns."""
    names = [f"P{number}" for number in range(processes)]
    yield json.dumps(
        {
            "format": "possibly-trace",
            "version": 1,
            "processes": [{"name": name, "init": {"x": 0}} for name in names],
        }
    )
    for number in range(count):
        yield json.dumps({"p": names[number % processes], "set": {"x": number // processes + 1}})


def written(name: str, lines: Iterable[str]) -> None:
    with open(name, "w", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def _many_processes(size: int) -> None:
    written("run.jsonl", events(size, 10 * size))


def _long_formula(size: int) -> None:
    written("run.jsonl", events(2, 20))
    terms = " & ".join(f"P{number % 2}.x != {number + 100}" for number in range(size // 2))
    written("a.spec", [f"ctl long = AG({terms})"])


def _many_properties(size: int) -> None:
    written("run.jsonl", events(2, 20))
    written("a.spec", (f"ctl p{number} = AG(P0.x + P1.x <= {20 + number})" for number in range(size)))


def _long_run(size: int) -> None:
    written("run.jsonl", events(4, size))


def _program(size: int) -> None:
    Path("program.py").write_text(PROGRAM)


def all_of(share: float) -> list[Large]:
    def part(size: int) -> int:
        return max(4, int(size * share))

    executions = part(1_000_000)
    spec = ("check", "run.jsonl", "--spec", "a.spec")
    last = f"EF(P0.x == 10 & P{part(10_000) - 1}.x == 10)"
    never = f"AG(P0.x <= {part(10**8)})"
    return [
        Large(
            "processes in a trace", part(10_000), ("check", "run.jsonl", "--ctl", last), HOLDS,
            _many_processes,
        ),
        Large("operators in a formula", part(10_000), spec, HOLDS, _long_formula),
        Large("properties in a specification", part(1_000), spec, HOLDS, _many_properties),
        Large("events in a page", part(10**6), ("view", "run.jsonl", "-o", "page.html"), HOLDS, _long_run),
        Large(
            "events of a monitor", part(10**8), ("watch", "-", "--keep", "1000", "--ctl", never), HOLDS,
            lines=lambda size: events(2, size),
        ),
        Large(
            "executions of a search", executions,
            ("explore", "--join", "none", "--executions", str(executions), "program.py"), OPEN, _program,
        ),
    ]  # fmt: skip


def run(large: Large, folder: str) -> tuple[bool, float, float]:
    """Whether it ended as it should, its seconds of processor time, and the megabytes it held at most."""
    os.chdir(folder)
    large.prepare(large.size)
    command = [sys.executable, "-m", "possibly", *large.words]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert child.stdin is not None
    for line in large.lines(large.size) if large.lines else ():
        child.stdin.write(line.encode() + b"\n")
    child.stdin.close()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode == large.status, used.ru_utime + used.ru_stime, used.ru_maxrss / MEGABYTE


def main(share: float = 1.0) -> int:
    wrong = 0
    print(f"{'':30} {'size':>12} {'CPU s':>8} {'s':>8} {'MB':>7}")
    for large in all_of(share):
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            is_right, cpu, memory = run(large, folder)
        wrong += not is_right
        seconds = time.monotonic() - begun
        verdict = "" if is_right else "  WRONG"
        print(
            f"{large.name:30} {large.size:12,} {cpu:8.1f} {seconds:8.1f} {memory:7.0f}{verdict}", flush=True
        )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
