"""Claims and properties on all cuts of each path, from the command line; what has no meaning is refused."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from possibly.views.cli.main import main


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def program(text: str) -> str:
    Path("program.py").write_text(textwrap.dedent(text))
    return "program.py"


IN_STEP = """\
    import queue, threading, possibly

    def work(box):
        n = 0
        box.get()
        n = 1

    boxes = {"a": queue.Queue(), "b": queue.Queue()}
    boxes["a"].put(0)
    boxes["b"].put(0)
    threads = [threading.Thread(target=work, args=(boxes[name],), name=name) for name in "ab"]
    for each in threads:
        each.start()
    possibly.claim("CLAIM")
    for each in threads:
        each.join()
"""


@pytest.mark.parametrize(
    ("claim", "in_step", "everywhere"),
    [
        ("G(!(a.n == 1 & b.n == 0))", 0, 1),
        ("F((a.n == 1 & b.n == 0) | (b.n == 1 & a.n == 0))", 1, 0),
        ("G(a.n <= 1 & b.n <= 1)", 0, 0),
    ],
)
def test_threads_that_are_not_in_step(claim: str, in_step: int, everywhere: int) -> None:
    file = program(IN_STEP.replace("CLAIM", claim))
    assert main(["explore", "--macro", "--at-breakpoints", file]) == in_step
    assert main(["explore", "--macro", file]) == everywhere


def test_the_order_that_no_breakpoint_shows_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    file = program(IN_STEP.replace("CLAIM", "G(!(a.n == 1 & b.n == 0))"))
    assert main(["explore", "--macro", file]) == 1
    out = capsys.readouterr().out
    assert "where its processes are not in step" in out
    assert out.index("a end") > out.index("a get from boxes at program.py:5")
    assert "b end" not in out


COMMIT = """\
    import queue, threading, possibly

    votes, orders = queue.Queue(), [queue.Queue() for _ in range(3)]

    def member(number, vote):
        state = "ready" if vote else "aborted"
        votes.put(vote)
        if orders[number].get() == "commit":
            state = "committed" if vote else state

    def coordinator():
        said = [votes.get() for _ in range(3)]
        decision = "commit" if RULE else "abort"
        for each in orders:
            each.put(decision)

    people = [threading.Thread(target=member, args=(n, n != 2), name=f"m{n}") for n in range(3)]
    people.append(threading.Thread(target=coordinator, name="c"))
    for each in people:
        each.start()
    possibly.claim("G(!(m0.state == 'committed' & m2.state == 'aborted'))")
    for each in people:
        each.join()
"""


@pytest.mark.parametrize(("rule", "status"), [("sum(said) >= 2", 1), ("all(said)", 0)])
def test_a_two_phase_commit_must_not_commit_on_a_majority(rule: str, status: int) -> None:
    assert main(["explore", "--macro", program(COMMIT.replace("RULE", rule))]) == status


def test_properties_are_checked_on_each_path(capsys: pytest.CaptureFixture[str]) -> None:
    file = program(IN_STEP.replace("CLAIM", "true"))
    Path("wanted.spec").write_text("ltl ends = F(a.n == 1 & b.n == 1)\nctl apart = EF(a.n == 1 & b.n == 0)\n")
    assert main(["explore", "--macro", "--spec", "wanted.spec", file]) == 0
    assert "HOLDS  ends = F(a.n == 1 & b.n == 1)" in capsys.readouterr().out
    assert main(["explore", "--macro", "--json", "--ltl", "G(a.n == 0)", file]) == 1
    document = json.loads(capsys.readouterr().out)
    found = next(each for each in document["violations"] if each["language"] == "ltl")
    assert found["claim"] == "G(a.n == 0)"
    assert found["order"][-1]["process"] == "main"
    assert document["properties"][-1]["verdict"] == "violated"


def test_a_property_that_is_false_from_the_first_is_not_passed_over() -> None:
    file = program(IN_STEP.replace("CLAIM", "true"))
    assert main(["explore", "--macro", "--ltl", "G false", file]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--spec", "missing.spec"], "missing.spec: No such file"),
        (["--ltl", "G(a.m == 0)"], "ltl1 speaks of a.m, which never has a value"),
        (["--ltl", "G(start(a, work))"], "calls of functions are not seen"),
        (["--never", "put & get"], "a never property speaks of calls of functions"),
        (["--tl", "t1:(in.work)"], "a tl property speaks of calls of functions"),
        (["--races"], "--races has no meaning with --macro"),
        (["--scheduler", "pct"], "use --strategy depth, breadth or random"),
        (["--resume", "x"], "use --tree FILE"),
        (["--watch", "n"], "--watch has no meaning with --macro"),
        (["-o", "x"], "--output has no meaning with --macro"),
        (["--only", "x"], "--only names a property, and none is given"),
        (["--slack", "3"], "--slack has no meaning with --macro"),
    ],
)
def test_an_option_is_obeyed_or_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = program(IN_STEP.replace("CLAIM", "true"))
    assert main(["explore", "--macro", *options, file]) == 2
    assert message in capsys.readouterr().err


def test_options_for_macro_steps_need_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--at-breakpoints", program("print()")]) == 2
    assert "--at-breakpoints is for macro-steps (give --macro too)" in capsys.readouterr().err


def test_a_global_variable_of_several_threads_is_seen_too_late(capsys: pytest.CaptureFixture[str]) -> None:
    file = program("""\
        import queue, threading, possibly
        box, total = queue.Queue(), 0
        def work():
            global total
            total = 7
            total = 1
            box.put(1)
        each = threading.Thread(target=work, name="a")
        possibly.claim("G(total < 7)")
        each.start()
        box.get()
        each.join()
    """)
    assert main(["explore", "--macro", file]) == 3
    assert "total is a global variable of several threads" in capsys.readouterr().out


# ---- what a tree was made from --------------------------------------------------------------------


def test_a_tree_of_an_edited_program_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    right = """\
        import helper, queue
        box = queue.Queue()
        box.put(helper.VALUE)
        assert box.get() == 1
    """
    Path("helper.py").write_text("VALUE = 1\n")
    arguments = ["explore", "--macro", "--tree", "t.tree.json", program(right)]
    assert main(arguments) == 0
    assert main(arguments) == 0
    assert main([*arguments[:2], "--ltl", "G true", *arguments[2:]]) == 2
    assert "with other options or properties" in capsys.readouterr().err
    Path("helper.py").write_text("VALUE = 22\n")  # of another length, which bytecode is kept for
    assert main(arguments) == 2
    assert "this tree is of another version of" in capsys.readouterr().err
    Path("t.tree.json").unlink()
    assert main(arguments) == 1


def test_the_document_says_what_failed_and_what_is_open(capsys: pytest.CaptureFixture[str]) -> None:
    file = program("""\
        import queue, threading
        box = queue.Queue()
        people = [threading.Thread(target=box.put, args=(n,), name=f"w{n}") for n in (1, 2)]
        for each in people: each.start()
        got = [box.get(), box.get()]
        for each in people: each.join()
        assert got == [1, 2]
    """)
    assert main(["explore", "--macro", "--json", file]) == 1
    failed = json.loads(capsys.readouterr().out)
    assert (failed["kind"], failed["complete"], failed["open"]) == ("failed", True, [])
    assert failed["message"].startswith("main: AssertionError")
    assert {
        "task": "main",
        "place": "program.py:5",
        "what": "get from box <- w2#1",
        "values": {},
    } in failed["steps"]
    assert failed["schedule"][0] == "main?1 <- w2#1"
    assert failed["decides"][0]["first"]["what"] == "main?1 <- w2#1"
    assert failed["decides"][0]["then"]["what"] == "main?1 <- w1#1"
    assert main(["explore", "--macro", "--json", "--executions", "1", "--tree", "t.tree.json", file]) in (
        1,
        3,
    )
    left = json.loads(capsys.readouterr().out)
    assert left["open"][0]["what"].endswith("not taken")
    assert "--executions" in left["open"][0]["remedy"]


WAITING_TASK = """\
    import asyncio, possibly

    async def client(start, inbox):
        n = 0
        await start.get()
        n = 1
        await inbox.put("x")
        n = 2
        await inbox.put("y")

    async def server(inbox, count):
        for _ in range(count):
            await inbox.get()

    async def boss(start, inbox, other):
        phase = 0
        await start.put(1)
        task = asyncio.create_task(client(start, inbox), name="Client")
        WAIT
        phase = 1
        await OTHER.put("close")

    async def main():
        start, inbox, other = asyncio.Queue(), asyncio.Queue(), asyncio.Queue()
        tasks = [
            asyncio.create_task(server(inbox, 3 if "OTHER" == "inbox" else 2), name="Server"),
            asyncio.create_task(boss(start, inbox, other), name="Boss"),
        ]
        possibly.claim("G(!(Boss.phase == 1 & Client.n <= 1)) & F(Boss.phase == 1)")
        await asyncio.gather(*tasks)

    asyncio.run(main())
"""


@pytest.mark.parametrize("other", ["inbox", "other"])
@pytest.mark.parametrize("wait", ["await task", "await asyncio.gather(task)", "await asyncio.sleep(0)"])
def test_what_a_task_waited_for_comes_before_what_it_does_then(wait: str, other: str) -> None:
    """A task that has gone on is not where it was, and whom it waited for has done all."""
    file = program(WAITING_TASK.replace("WAIT", wait).replace("OTHER", other))
    assert main(["explore", "--macro", file]) == int("sleep" in wait)
