"""`possibly linearizable`: statuses, the drawing, JSON, models of the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.views.cli.main import main

GOOD = """\
INFO  jepsen.util - 0\t:invoke\t:write\t1
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 0\t:ok\t:write\t1
INFO  jepsen.util - 1\t:ok\t:read\tnil
"""
BAD = (
    GOOD
    + """\
INFO  jepsen.util - 2\t:invoke\t:write\t2
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\tnil
INFO  jepsen.util - 2\t:ok\t:write\t2
"""
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.log").write_text(GOOD)
    (tmp_path / "bad.log").write_text(BAD)
    return tmp_path


def test_the_shortest_prefix_is_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linearizable", "bad.log", "--model", "register"]) == 1
    assert (
        capsys.readouterr().out
        == """\
NOT LINEARIZABLE  bad.log as a register: 4 operations of 3 processes

The shortest prefix that cannot be linearised: the first 7 of 8 calls and returns.
No order of them allows the last return: read -> nil of process 1, called on line 6.

  0  |write 1|
  1   |read -> nil| |read -> nilX
  2                |write 2 ?---->

An order of those before: read -> nil, write 1.
After it the state is 1.
"""
    )


def test_good_histories_and_several(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linearizable", "good.log", "--model", "register"]) == 0
    assert capsys.readouterr().out == "linearizable  good.log as a register: 2 operations of 2 processes\n"
    assert main(["linearizable", "good.log", "bad.log", "--model", "register", "--json"]) == 1
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["verdict"], first["orders"]) == ("holds", [{"key": None, "order": [1, 0]}])
    prefix = second["prefix"]
    assert (second["verdict"], prefix["length"], prefix["stuck"]["number"]) == ("violated", 7, 3)
    assert (prefix["shortest"], prefix["reached"], prefix["state"]) == (True, [1, 0], 1)


def test_limits_leave_it_undecided(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linearizable", "bad.log", "--model", "register", "--max-states", "1"]) == 3
    assert "more than 1 configurations; raise --max-states" in capsys.readouterr().out


def test_the_initial_value(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linearizable", "good.log", "--model", "register", "--initial", "7"]) == 1
    assert main(["linearizable", "good.log", "--model", "register", "--initial", "x"]) == 2
    assert "a text needs quotes" in capsys.readouterr().err


MODEL = """\
initial = None
pure = {"read"}

def step(state, name, argument, result):
    if name == "read":
        return [state] if result == state else []
    return [argument]
"""


def test_a_model_of_ones_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mine.py").write_text(MODEL)
    assert main(["linearizable", "good.log", "--model", "mine.py"]) == 0
    assert main(["linearizable", "bad.log", "--model", "mine.py"]) == 1
    (folder / "wrong.py").write_text(MODEL.replace("[argument]", "1 / 0"))
    assert main(["linearizable", "good.log", "--model", "wrong.py"]) == 2
    assert "wrong.py:7: step(None, 'write', 1, 1) raised ZeroDivisionError" in capsys.readouterr().err
    (folder / "empty.py").write_text("")
    assert main(["linearizable", "good.log", "--model", "empty.py"]) == 2
    assert "empty.py: a model defines 'initial'" in capsys.readouterr().err


def test_an_object_may_choose(folder: Path) -> None:
    """Several states that may follow: a bag gives any of its items."""
    (folder / "bag.py").write_text(
        "initial = frozenset()\n"
        "def step(state, name, argument, result):\n"
        "    if name == 'put':\n"
        "        return [state | {argument}]\n"
        "    return [state - {item} for item in state if result in (item, ...)]\n"
    )
    calls = [("put", 1, 1), ("put", 2, 2), ("take", None, 2), ("take", None, 1)]
    rows = [
        {"f": f, "value": v, "result": r, "call": 2 * n, "return": 2 * n + 1}
        for n, (f, v, r) in enumerate(calls)
    ]
    (folder / "bag.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main(["linearizable", "bag.jsonl", "--model", "bag.py"]) == 0
    (folder / "bag.jsonl").write_text(
        "\n".join(map(json.dumps, [*rows, {**rows[2], "call": 8, "return": 9}]))
    )
    assert main(["linearizable", "bag.jsonl", "--model", "bag.py"]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["good.log"], "no model to compare with"),
        (["good.log", "--model", "heap"], "no model is called 'heap'"),
        (["none.log", "--model", "set"], "none.log: No such file or directory"),
        (["good.log", "--model", "queue"], "good.log:1: a queue has no operation 'write'"),
        (["good.log", "--model", "kv"], "good.log:1: write names no key"),
    ],
)
def test_bad_input_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["linearizable", *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.err.count("\n") == 1 and not captured.out


def test_a_recorded_run(folder: Path) -> None:
    (folder / "program.py").write_text(
        "import possibly\n"
        "possibly.event('call', fn='write', argument=1)\n"
        "possibly.event('return', fn='write')\n"
        "possibly.event('call', fn='read')\n"
        "possibly.event('return', fn='read', result=2)\n"
    )
    assert main(["run", "-o", "run.jsonl.gz", "program.py"]) == 0
    assert main(["linearizable", "run.jsonl.gz", "--model", "register"]) == 1
