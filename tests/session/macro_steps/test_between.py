"""What macro-steps do not control is decided step by step; claims are as far as they can be."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from possibly.session.exploring.exploration import Exploration
from possibly.session.macro_steps.between import Between, decides, is_certain, is_wanted, verdict
from possibly.views.cli.main import main
from tests.control.macro.simulated import Program, explored

THREADS = """\
    import queue, threading
    from concurrent.futures import ThreadPoolExecutor, as_completed
    import possibly
    box, other, lock, event = queue.Queue(), queue.Queue(), threading.Lock(), threading.Event()
    def run(*bodies):
        threads = [threading.Thread(target=body, name=name) for name, body in zip("abc", bodies)]
        for each in threads: each.start()
        for each in threads: each.join()
"""
RIGHT = {
    "what a lock puts together stays together": """
    def put(n):
        with lock:
            box.put(n)
            other.put(n)
    run(lambda: put(1), lambda: put(2))
    assert box.get() == other.get()
    """,
    "what an event orders stays in order": """
    def first():
        box.put(1)
        event.set()
    def then():
        event.wait()
        box.put(2)
    run(first, then)
    assert (box.get(), box.get()) == (1, 2)
    """,
    "a queue that is joined": """
    def work():
        for n in iter(box.get, None):
            other.put(n)
            box.task_done()
    worker = threading.Thread(target=work)
    worker.start()
    for n in range(2): box.put(n)
    box.join()
    assert other.get() + other.get() == 1
    box.put(None)
    worker.join()
    """,
    "a condition that another thread notifies": """
    ready, go = [], threading.Condition()
    def wake():
        with go:
            ready.append(box.get())
            go.notify()
    waker = threading.Thread(target=wake)
    waker.start()
    box.put(1)
    with go:
        go.wait_for(lambda: ready)
    waker.join()
    """,
    "jobs in an executor": """
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(box.put, range(2)))
    assert box.get() + box.get() == 1
    """,
}
WRONG = {
    "who comes first under a lock": """
    def put(n):
        with lock:
            box.put(n)
    run(lambda: put(1), lambda: put(2))
    assert box.get() == 1
    """,
    "who writes last": """
    def put(n):
        global last
        last = n
        box.put(n)
    run(lambda: put(1), lambda: put(2))
    assert last == 2
    """,
    "which job ends first": """
    with ThreadPoolExecutor(2) as pool:
        done = as_completed([pool.submit(abs, n) for n in range(2)])
        assert [each.result() for each in done] == [0, 1]
    """,
}


def answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, *more: str
) -> tuple[int, dict[str, Any]]:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(textwrap.dedent(THREADS + text))
    status = main(["explore", "--macro", "--json", *more, "program.py"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_holds(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = answer(tmp_path, monkeypatch, capsys, RIGHT[name])
    assert (status, found["verdict"], found["complete"], found["open"]) == (0, "holds", True, [])
    assert found["between"]["verdict"] == "holds"


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_violated_and_can_be_replayed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = answer(tmp_path, monkeypatch, capsys, WRONG[name])
    assert (status, found["verdict"], found["kind"]) == (1, "violated", "assertion")
    assert found["schedule"] and found["steps"]
    assert main(["replay", "program.schedule"]) == 1


ATOMIC = {
    "a global variable": ("n = 0", "n", "global n", "n = t + 1"),
    "an item": ("n = [0]", "n[0]", "pass", "n[0] = t + 1"),
    "an attribute of a library's object": (
        "n = decimal.Context(prec=1)",
        "n.prec - 1",
        "pass",
        "n.prec = t + 2",
    ),
    "a file": (
        "Path('n').write_text('0')",
        "int(Path('n').read_text())",
        "pass",
        "Path('n').write_text(str(t + 1))",
    ),
}


@pytest.mark.parametrize("name", ATOMIC)
def test_what_a_task_does_around_a_put_with_room_is_one_piece(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The path of the tree fails: there both tasks stand at their puts at once."""
    begun, read, declared, write = ATOMIC[name]
    text = f"""
    import asyncio, decimal
    from pathlib import Path
    {begun}
    async def main():
        box = asyncio.Queue()
        async def add():
            {declared}
            t = {read}
            await box.put(1)
            {write}
        await asyncio.gather(add(), add())
        assert {read} == 2
    asyncio.run(main())
    """
    status, found = answer(tmp_path, monkeypatch, capsys, text)
    assert (status, found["verdict"], found["between"]["verdict"]) == (0, "holds", "holds")


@pytest.mark.parametrize(("claim", "status"), [("G(!(a.n > 1))", 0), ("F(a.n == 1)", 3)])
def test_claims_that_say_always_are_decided_too(
    claim: str,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = f"""
    possibly.claim("{claim}")
    def put():
        n = 0
        with lock:
            n = 1
        box.put(n)
    run(put)
    """
    found, document = answer(tmp_path, monkeypatch, capsys, text)
    assert found == status, document
    assert bool(document["open"]) == (status == 3)


def test_a_limit_leaves_it_open_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = RIGHT["what a lock puts together stays together"]
    status, found = answer(tmp_path, monkeypatch, capsys, text, "--executions", "1")
    assert (status, found["verdict"]) == (3, "unknown")
    assert "step by step: the limit of 1 executions" in [each["what"] for each in found["open"]]


def test_the_report_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = textwrap.dedent(THREADS) + "thread = threading.Thread(target=lambda: None)\nthread.start()\n"
    Path("program.py").write_text(text)
    assert main(["explore", "--macro", "program.py"]) == 0
    assert capsys.readouterr().out == (
        "HOLDS  step by step, as macro-steps do not control all that it does\n"
        "not controlled: threading.Lock\n"
        "not controlled: threading.Event\n"
        "macro-steps: 1 execution, 2 breakpoints, 1 path; the whole tree\n"
        "program.py: holds, every schedule is covered by 1 execution\n"
    )


# ---- the table of verdicts ------------------------------------------------------------------------


FORKED: Program = {"a": [("get", "Q"), ("get", "R")], "b": [("put", "Q")], "c": [("put", "Q")]}
FORCED: Program = {"a": [("get", "Q"), ("get", "R")], "b": [("put", "Q")]}


@pytest.mark.parametrize(
    ("program", "end", "uncontrolled", "has_tasks", "is_sure"),
    [
        (FORKED, "deadlock", [], False, True),
        (FORKED, "failed", ["a lock"], False, False),
        (FORCED, "failed", ["a lock"], False, True),
        (FORCED, "failed", ["a lock"], True, False),
        (FORCED, "failed", [], True, True),
        (FORCED, "deadlock", ["a lock"], False, False),
    ],
)
def test_a_failing_path_is_sure_if_all_is_controlled_or_the_program_itself_met_it(
    program: Program, end: str, uncontrolled: list[str], has_tasks: bool, is_sure: bool
) -> None:
    tree = explored(program)
    tree.uncontrolled, tree.has_tasks = uncontrolled, has_tasks
    assert tree.verdict is False  # nobody puts into R
    for leaf in tree.leaves:
        leaf.end = end
    assert is_certain(tree) is is_sure
    covered = Between(Exploration(complete=True), (), None)
    assert is_wanted(tree) is bool(uncontrolled)
    assert decides(tree, covered) is not is_sure
    assert verdict(tree, covered) is (not is_sure)


@pytest.mark.parametrize(
    ("complete", "claims", "has_properties", "expected"),
    [
        (True, (), False, True),
        (False, (), False, None),
        (True, (), True, None),
        (True, ("G(x > 0) & G(y > 0)",), False, True),
        (True, ("G(x > 0) & F(y > 0)",), False, None),
        (True, ("G(F(x > 0))",), False, None),
        (True, ("x > 0",), False, None),
    ],
)
def test_what_the_search_step_by_step_decides(
    complete: bool, claims: tuple[str, ...], has_properties: bool, expected: bool | None
) -> None:
    tree = explored({"a": [("put", "Q")]})
    tree.uncontrolled = ["a lock"]
    assert verdict(tree, None) is None
    between = Between(Exploration(complete=complete), claims, None)
    assert verdict(tree, between, has_properties) is expected
