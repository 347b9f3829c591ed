"""`--deadlocks`: programs that ended well, what another order of their run reaches, the live program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.views.cli.main import main

Capture = pytest.CaptureFixture[str]
HEAD = """\
import os, threading
a, b = threading.Lock(), threading.Lock()
done = threading.Event()
threads = []
def run(*targets):
    for target in targets:  # one after another, which nothing that is recorded tells: all goes well
        threads.append(threading.Thread(target=traced, args=(target,), name=target.__name__))
        threads[-1].start()
        while os.environ.get("ONE_BY_ONE") and not os.path.exists(target.__name__):
            pass
    for thread in threads:
        thread.join()
def traced(target):
    target()
    if os.environ.get("ONE_BY_ONE"):
        os.mkdir(target.__name__)
"""
OPPOSITE = """
def one():
    with a:
        with b:
            pass
def two():
    with b:
        with a:
            pass
run(one, two)
"""
SECOND = "pass\ndef two():\n"
PROGRAMS = {
    "opposite": (OPPOSITE, 1),
    "same order": (OPPOSITE.replace("with b:\n        with a", "with a:\n        with b"), 0),
    "behind a gate": (
        OPPOSITE.replace("    with a:\n        with b:", "    with gate, a:\n        with b:")
        .replace("    with b:\n        with a:", "    with gate, b:\n        with a:")
        .replace("\ndef one", "gate = threading.Lock()\ndef one", 1),
        0,
    ),
    "one after the other by an event": (
        OPPOSITE.replace(SECOND, "pass\n    done.set()\ndef two():\n    done.wait()\n"),
        0,
    ),
    "one because of what the other wrote": (
        OPPOSITE.replace(SECOND, "pass\n    box.append(1)\ndef two():\n    if not box: return\n")
        .replace("\ndef one", "box = []\ndef one", 1),
        0,
    ),
    "tried": (
        OPPOSITE.replace("with a:\n            pass", "if a.acquire(timeout=1):\n            a.release()"),
        0,
    ),
    "join inside a section": (
        """
def one():
    with a:
        pass
def two():
    with a:
        threads[0].join()
run(one, two)
""",
        1,
    ),
    "three in a ring": (
        """
c = threading.Lock()
def pair(first, second):
    with first:
        with second:
            pass
def one(): pair(a, b)
def two(): pair(b, c)
def three(): pair(c, a)
run(one, two, three)
""",
        1,
    ),
    "reentrant": (f"a, b = threading.RLock(), threading.RLock()\n{OPPOSITE}", 1),
    "semaphores": (f"a, b = threading.Semaphore(), threading.Semaphore()\n{OPPOSITE}", 1),
    "semaphores with room": (f"a, b = threading.Semaphore(2), threading.Semaphore(2)\n{OPPOSITE}", 0),
    "condition": (
        """
ready = threading.Condition()
def one():
    with a:
        with ready:
            ready.notify()
def two():
    with ready:
        with a:
            pass
run(one, two)
""",
        1,
    ),
    "tasks of a loop": (
        """
import asyncio
async def take(first, second):
    async with first:
        await asyncio.sleep(0)
        async with second:
            pass
async def main():
    one, two = asyncio.Lock(), asyncio.Lock()
    await take(one, two)
    await asyncio.gather(take(one, two), take(one, two))
    first = asyncio.create_task(take(one, two))
    await asyncio.sleep(0.01)
    await take(two, one)
asyncio.run(main())
""",
        1,
    ),
    "tasks of a loop that take both locks at once": (
        """
import asyncio
async def take(first, second, wait):
    await asyncio.sleep(wait)
    async with first, second:
        await asyncio.sleep(0)
async def main():
    one, two = asyncio.Lock(), asyncio.Lock()
    await asyncio.gather(take(one, two, 0), take(two, one, 0.01))
asyncio.run(main())
""",
        0,
    ),
    "tasks that wait within a limit": (
        """
import asyncio
async def take(first, second, wait):
    await asyncio.sleep(wait)
    async with asyncio.timeout(9), first:
        await asyncio.sleep(0.01)
        async with second:
            pass
async def main():
    one, two = asyncio.Lock(), asyncio.Lock()
    await asyncio.gather(take(one, two, 0), take(two, one, 0.1))
asyncio.run(main())
""",
        0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_real_programs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    text, status = PROGRAMS[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONE_BY_ONE", "1")
    (tmp_path / "program.py").write_text(HEAD + text)
    assert main(["run", "--deadlocks", "program.py"]) == status
    assert ("DEADLOCK" in capsys.readouterr().out) is bool(status)


def test_the_live_program_gets_stuck_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(HEAD + OPPOSITE)
    monkeypatch.setenv("ONE_BY_ONE", "1")
    assert main(["run", "-o", "run.jsonl", "program.py"]) == 0
    assert main(["check", "--deadlocks", "run.jsonl", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["assumed"] == ["accesses to shared memory, which were not recorded, decide nothing"]
    (deadlock,) = found["deadlocks"]
    assert [(each["lock"], each["holds"][0]["lock"]) for each in deadlock["requests"]] == [
        ("b", "a"),
        ("a", "b"),
    ]
    assert sum(deadlock["cut"].values()) == len(deadlock["path"])
    monkeypatch.delenv("ONE_BY_ONE")
    assert main(["confirm", "--json", "run.jsonl", "deadlock", "program.py"]) == 1
    confirmed = json.loads(capsys.readouterr().out)
    assert (confirmed["confirmation"], confirmed["verdict"]) == ("confirmed", "violated")


TRACE = [
    {"format": "possibly-trace", "version": 1, "processes": [{"name": "P"}, {"name": "Q"}]},
    {"p": "P", "kind": "acquire", "tag": "a", "at": "x.py:1"},
    {"p": "P", "kind": "acquire", "tag": "b", "at": "x.py:2"},
    {"p": "P", "kind": "release", "tag": "b"},
    {"p": "P", "kind": "release", "tag": "a"},
    {"p": "Q", "kind": "acquire", "tag": "b", "after": ["P:3"], "at": "x.py:8"},
    {"p": "Q", "kind": "acquire", "tag": "a", "after": ["P:4"], "at": "x.py:9"},
    {"p": "Q", "kind": "release", "tag": "a"},
    {"p": "Q", "kind": "release", "tag": "b"},
]


def test_a_trace_is_told_as_text_and_in_formats(tmp_path: Path, capsys: Capture) -> None:
    path = str(tmp_path / "run.jsonl")
    Path(path).write_text("\n".join(map(json.dumps, TRACE)))
    assert main(["check", "--deadlocks", path]) == 1
    assert (
        capsys.readouterr().out
        == """\
DEADLOCK  P and Q wait for each other
    P holds a since x.py:1
        waits for b of Q at x.py:2
    Q holds b since x.py:8
        waits for a of P at x.py:9
  After 2 of 8 events, in this order:
    P acquire a  x.py:1
    Q acquire b  x.py:8
"""
    )
    assert main(["check", "--deadlocks", path, "--format", "github"]) == 1
    assert "file=x.py,line=2" in capsys.readouterr().out
    assert main(["check", "--deadlocks", path, "--ctl", "EF(done(P))"]) == 1
    assert "holds" in capsys.readouterr().out
