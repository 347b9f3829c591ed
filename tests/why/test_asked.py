"""A schedule shows every step that changes what its property reads, in the order in which they were done.

For every language, for threads and tasks: what is printed is compared with the steps of the JSON document,
and the schedule that is handed over is executed once more and shows the same step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from possibly.views.cli.main import main

THREADS = """
import threading

turn = 0
lock = threading.Lock()


def put(name):
    global turn
    with lock:
        turn = name


def close():
    with lock:
        pass


def producer(name):
    put(name)


def closer():
    close()


threads = [threading.Thread(target=producer, args=(each,), name=each) for each in "ab"]
threads.append(threading.Thread(target=closer, name="c"))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
TASKS = """
import asyncio

turn = 0


async def put(name):
    global turn
    await asyncio.sleep(0)
    turn = name


async def close():
    await asyncio.sleep(0)


async def main():
    a = asyncio.create_task(put("a"), name="a")
    b = asyncio.create_task(put("b"), name="b")
    c = asyncio.create_task(close(), name="c")
    await asyncio.gather(a, b, c)


asyncio.run(main())
"""
PROGRAMS = {"threads": THREADS, "tasks": TASKS}
PROPERTIES = {
    ("--ctl", "AG(!(inside(a, put) & inside(b, put)))"): r"[ab] \w+ put",
    ("--ctl", 'AG(turn != "a" | !inside(c, close))'): r"\w write turn|c \w+ close",
    ("--ctl", 'AF(turn == "c")'): r"\w write turn",
    ("--ltl", 'G(turn == "b" -> G(turn != "a"))'): r"\w write turn",
    ("--ltl", "G(inside(c, close) -> !inside(a, put))"): r"a \w+ put|c \w+ close",
    ("--tl", "not (t1:(in.put) and t2:(in.close)) if t1 != t2"): r"[ab] \w+ put|c \w+ close",
    ("--never", "OCCURS"): r"[ab] enter put|c enter close",
    ("--expect", "close; (put)*"): r"[ab] enter put|c enter close",
}
"""What each of them reads, as `task change thing`."""
OCCURS = {"threads": "put & close", "tasks": "put; close"}
"""What is in no order, and what a loop keeps in order."""
CHANGES = ("enter", "leave", "write")


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(PROGRAMS[request.param])
    yield request.param


@pytest.mark.parametrize(("words", "read"), PROPERTIES.items(), ids=lambda each: "".join(each))
def test_what_a_property_reads_is_shown(
    program: str, words: tuple[str, str], read: str, capsys: pytest.CaptureFixture[str]
) -> None:
    option, formula = words
    assert main(["explore", option, formula.replace("OCCURS", OCCURS[program]), "program.py"]) == 1
    told = capsys.readouterr().out
    assert main(["replay", "program.schedule"]) == 1
    again = capsys.readouterr().out
    assert main(["replay", "--json", "program.schedule"]) == 1
    document = json.loads(capsys.readouterr().out)
    last = document["failure"]["failing_step"]
    changes = [each for each in _changes(document["failure"]["steps"][:last]) if re.fullmatch(read, each)]
    assert changes, "the failure depends on something"
    for report in (told, again):
        assert _is_within(changes, _shown(report)), report
        assert ("> violates it" in report) != ("at the end:" in report)
    assert _marked(told) == _marked(again)
    assert bool(_marked(told)) == ("> violates it" in told)


def _changes(steps: list[dict[str, Any]]) -> Iterator[str]:
    """All that is done, as `task change thing`."""
    for step in steps:
        for moment in step.get("turn", [step]):
            if moment["kind"] in CHANGES:
                yield f"{step['name']} {moment['kind']} {str(moment['thing']).rpartition('.')[2]}"


KINDS = {"enters": "enter", "leaves": "leave", "writes": "write", "changes": "write"}


def _shown(report: str) -> list[str]:
    """The changes that a report shows, likewise."""
    found, task = [], ""
    for line in report.splitlines():
        if re.match(r"^  \w", line):
            task = line.strip()
        elif told := re.match(r"^  [ >*] +(enters|leaves|writes|changes) ([\w.#]+)", line):
            found.append(f"{task} {KINDS[told[1]]} {told[2].rpartition('.')[2]}")
    return found


def _is_within(changes: list[str], shown: list[str]) -> bool:
    """Whether all changes are shown, in their order."""
    left = iter(shown)
    return all(change in left for change in changes)


def _marked(report: str) -> list[str]:
    return [line for line in report.splitlines() if line.startswith("  >")]
