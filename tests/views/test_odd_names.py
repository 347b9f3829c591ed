"""Threads, tasks, keys, attributes, functions, files: no command minds what they are called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from possibly.views.cli.main import main

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
ODD = "ab:.'\"\\ []{}<>&|@#$%*,/\n\t-()=\u00e9\u540d\u2028\U0001f600"
NAMES = st.text(ODD, max_size=6)
THREADS = """\
import threading
d, lock = {{{key!r}: 0}}, threading.Lock()
class Box: pass
box = Box()
setattr(box, {attribute!r}, 0)
def work(value):
    with lock:
        pass
    d[{key!r}] = value
    setattr(box, {attribute!r}, value)
work.__name__ = work.__qualname__ = {function!r}
named = ((1, {one!r}), (2, {two!r}))
threads = [threading.Thread(target=work, args=(value,), name=name) for value, name in named]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert d[{key!r}] == getattr(box, {attribute!r})
"""
TASKS = """\
import asyncio
d = {{{key!r}: 0}}
async def work(value):
    await asyncio.sleep(0)
    d[{key!r}] = value
work.__name__ = work.__qualname__ = {function!r}
async def main():
    named = ((1, {one!r}), (2, {two!r}))
    await asyncio.gather(*(asyncio.create_task(work(value), name=name) for value, name in named))
asyncio.run(main())
assert d[{key!r}] == 2
"""


def quoted(text: str) -> str:
    for letter, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(letter, written)
    return f'"{text}"'


@pytest.mark.parametrize("source", [THREADS, TASKS], ids=["threads", "tasks"])
@settings(
    max_examples=MANY,
    phases=[Phase.explicit] if MANY == 1 else list(Phase),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example("a:b", "a", "", "two\nlines", "x:1", "pool:1", "pool")
@example("", "#1", "a.b", "<b>", "q\"u'o", "", "")
@given(NAMES, NAMES, NAMES, NAMES, NAMES, NAMES, NAMES)
@pytest.mark.large("threads")
def test_names_may_be_anything(
    source: str,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
    key: str,
    attribute: str,
    function: str,
    file: str,
    folder: str,
    one: str,
    two: str,
) -> None:
    home = tmp_path_factory.mktemp("odd") / (folder.replace("/", "").strip(".") or "folder")
    home.mkdir()
    program = home / f"x{file.replace('/', '')}.py"
    program.write_text(source.format(key=key, attribute=attribute, function=function, one=one, two=two))
    statuses = [main(words) for words in commands(str(program), home, f"AG(d[{quoted(key)}] != 1)")]
    said = capsys.readouterr()
    assert statuses == WANTED, (statuses, said)
    assert "Traceback" not in said.err


MESSAGES = """\
import queue
import threading
items, answers = queue.Queue(), queue.Queue()
def work(value):
    items.put({key!r} + str(value))
    answers.get()
work.__name__ = work.__qualname__ = {function!r}
named = ((1, {one!r}), (2, {two!r}))
threads = [threading.Thread(target=work, args=(value,), name=name) for value, name in named]
for thread in threads: thread.start()
first = items.get()
answers.put({key!r})
answers.put(first)
for thread in threads: thread.join()
assert first == {key!r} + "1"
"""


@settings(
    max_examples=MANY,
    phases=[Phase.explicit] if MANY == 1 else list(Phase),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example("", "two\nlines", "a#b?2", "a#b")
@example("q\"u'o", "<b>", "main", "main")
@given(NAMES, NAMES, NAMES, NAMES)
@pytest.mark.large("threads")
def test_names_of_who_sends_and_receives_may_be_anything(
    tmp_path_factory: pytest.TempPathFactory,
    capfd: pytest.CaptureFixture[str],
    key: str,
    function: str,
    one: str,
    two: str,
) -> None:
    home = tmp_path_factory.mktemp("odd")
    program, tree, run = str(home / "program.py"), str(home / "tree.json"), str(home / "run.jsonl")
    Path(program).write_text(MESSAGES.format(key=key, function=function, one=one, two=two))
    wanted = {
        ("explore", "--macro", "--tree", tree, program): 1,
        ("view", tree, "-o", str(home / "page.html")): 0,
        ("debug", "--macro", program, "--command", "state"): 0,
        ("run", "-o", run, "--calls", "work", program): 0,
        ("check", run, "--watch", "work & work"): 0,
        ("export", run, "--to", "shiviz", "-o", str(home / "run.log")): 0,
        ("import", "shiviz", str(home / "run.log"), "-o", str(home / "again.jsonl")): 0,
        ("check", str(home / "again.jsonl"), "--ctl", "AG(true)"): 0,
        ("export", run, "--to", "promela", "--ctl", "AG(true)", "-o", str(home / "run.pml")): 0,
        ("export", run, "--to", "columns", "-o", str(home / "run.columns")): 0,
        ("check", str(home / "run.columns"), "--ctl", "AG(true)"): 0,
    }
    statuses = {words: main(list(words)) for words in wanted}
    said = capfd.readouterr()
    assert statuses == wanted, said
    assert "Traceback" not in said.err


WANTED = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1]
"""Of each of the commands."""


def commands(program: str, home: Path, formula: str) -> list[list[str]]:
    """Every command that tells of a program or of its run."""
    run, schedule, other = (str(home / name) for name in ("run.jsonl", "s", "t"))
    return [
        ["explore", "-o", schedule, program],
        ["replay", schedule],
        ["explore", "-o", other, "--ctl", formula, program],
        ["replay", other],
        ["run", "-o", run, "--ctl", formula, program],
        ["check", run, "--ctl", "AG(true)"],
        ["check", "--deadlocks", run],
        ["view", run, "-o", str(home / "page.html")],
        ["slice", run, "true", "--json"],
        ["export", run, "--to", "dot", "-o", str(home / "run.dot")],
        ["confirm", "-o", str(home / "u"), run, formula, program],
    ]
