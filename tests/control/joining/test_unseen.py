"""Lists that nobody reads, or whose order nobody sees: what counts as such, and that nothing is lost."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from possibly.control.joining import unseen as module
from possibly.control.joining import values
from possibly.control.joining.explorer import Joining
from possibly.control.joining.frames import READS
from possibly.control.joining.unseen import Unseen, shape_of, unread_lists, unseen_in
from possibly.control.schedulers.dpor import Dpor
from tests.control.joining.judged import results

APPENDING = "log = []\ndef work(i):\n    log.append(i)\n"


def found(source: str) -> Unseen:
    return unseen_in([ast.parse(source)])


def test_a_list_that_is_only_appended_to_is_unread() -> None:
    assert found(APPENDING) == Unseen(frozenset({"log"}), frozenset({"log"}), frozenset())


@pytest.mark.parametrize(
    "use",
    [
        "assert len(log) == 4", "x = sorted(log)", "print(min(log), max(log), sum(log))", "if log: x = 1",
        "assert not log", "while log: pass", "assert set(log) == {1, 2}", "x = len(set(log))",
    ],
)  # fmt: skip
def test_what_is_the_same_for_all_orders_leaves_it_unordered(use: str) -> None:
    assert found(APPENDING + use) == Unseen(frozenset(), frozenset(), frozenset({"log"}))


@pytest.mark.parametrize(
    "use",
    [
        "print(log)", "x = log", "x = log[0]", "for each in log: pass", "x = list(log)", "x = set(log)",
        "x = (y for y in log)", "log.pop()", "del log[0]", "log += [1]", "x = [log]", "x = log.append",
        "x = sorted(log, key=abs)", "x = len(*log)", "def f(log): pass", "x.log = y", "f(log=1)",
        "x = 'log'", "import log", "from m import log", "class log: pass", "x = log.append(1)",
        "print(set(log))", "assert set(log) == other", "assert log == [1]", "log = other", "a = log = []",
        "with x as log: pass", "for log in x: pass", "x = f'{log}'", "log.append(*x)", "log: list = other",
        "try: pass\nexcept E as log: pass", "match x:\n    case [*log]: pass", "class A:\n    log = []",
        "class A(UserList):\n    def f(self): self.log = []", "x.log = []", "x = 1 in log",
        # and what gets at variables without their names
        "globals()", "vars()", "x.__dict__", "f.__globals__", "getattr(x, y)", "import sys", "import gc",
        "from m import *", "eval('lo' + 'g')", "len = id", "def len(x): pass", "from queue import x as len",
        "class A:\n    def __getattr__(self, name): pass", "class A:\n    def __eq__(self, x): pass",
        "class A:\n    def __del__(self): pass", "__builtins__", "x.f_locals", "def f(sorted): pass",
    ],
)  # fmt: skip
def test_whatever_else_is_done_makes_it_a_list_like_others(use: str) -> None:
    assert "log" not in {*found(APPENDING + use).unread, *found(APPENDING + use).unordered}


def test_attributes_count_too() -> None:
    source = "class A:\n    def __init__(self): self.log = []\n    def f(self, x): self.log.append(x)\n"
    assert found(source) == Unseen(frozenset({"log"}), frozenset(), frozenset())
    assert found(source + "print(len(a.log))").unordered == {"log"}
    assert found(source + "print(a.log)") == Unseen()


def test_what_may_be_bound_again_does_not_last() -> None:
    again = "def f():\n    global log\n    log = []\n"
    assert found(APPENDING + again) == Unseen(frozenset({"log"}), frozenset(), frozenset())
    assert not found("if x:\n    log = []\nlog.append(1)").lasting


def test_items_have_a_shape_if_their_order_can_go_unseen() -> None:
    assert shape_of(1) == "int" and shape_of((1, ("a",))) == ("int", ("str",))
    assert shape_of(True) != shape_of(1)
    assert shape_of(1.0) is None and shape_of([]) is None and shape_of((1, [])) is None
    assert shape_of(type("Number", (int,), {})(1)) is None


HEAD = "import threading\nlock = threading.Lock()\nn = 0\nlog = []\n"
TAIL = """
ts = [threading.Thread(target=work, args=(i,)) for i in range(2)]
for t in ts: t.start()
for t in ts: t.join()
"""
LOGGED = "def work(i):\n    global n\n    log.append({0})\n    with lock: n = n * 2 + i\n"
ASKING = "def work(i):\n    global n\n    log.append(i)\n    if len(log) == 1: n = 7 + i\n"
SEEN = [
    (LOGGED.format("i"), "print(len(log), sorted(log), n)\n"),
    (LOGGED.format("n"), "print(sorted(log))\n"),
    (LOGGED.format("(i, 0)"), "print(max(log), n)\n"),
    (LOGGED.format("i if i else 'a'"), "print(set(log) == {1}, n)\n"),
    (LOGGED.format("True if i else 1"), "print(sorted(log), n)\n"),
    (LOGGED.format("i"), "print(log, n)\n"),
    (LOGGED.format("i"), "print(n)\n"),
    (ASKING, "print(n)\n"),
]
needs_frames = pytest.mark.skipif(not READS, reason="frames of this interpreter cannot be read")


def outcomes(path: Path, source: str) -> tuple[Any, Any]:
    path.write_text(HEAD + source)
    module._unseen.cache_clear()
    plain, joined = results(path, Dpor), results(path, Joining, unread=unread_lists)
    assert plain is not None and joined is not None and joined[1].is_complete
    return plain[0], joined[0]


@needs_frames
@pytest.mark.parametrize(("source", "tail"), SEEN)
def test_nothing_is_lost(source: str, tail: str, tmp_path: Path) -> None:
    plain, joined = outcomes(tmp_path / "program.py", source + TAIL + tail)
    assert joined == plain


def _asked_at_most(node: ast.expr, parents: Any) -> str:
    found = USE(node, parents)
    return module.ASKED if found == module.OTHERWISE else found


def _never_asked(node: ast.expr, parents: Any) -> str:
    found = USE(node, parents)
    return module.ADDED if found == module.ASKED else found


USE = module._use


@needs_frames
@pytest.mark.parametrize(
    ("owner", "name", "mutant", "source", "tail"),
    [
        (module, "_use", _asked_at_most, LOGGED.format("i"), "print(log, n)\n"),
        (module, "_use", _never_asked, ASKING, "print(n)\n"),
        (
            values,
            "shape_of",
            lambda value: "any",
            LOGGED.format("True if i else 1"),
            "print(sorted(log), n)\n",
        ),
    ],
)
def test_a_condition_that_is_left_out_loses_results(
    owner: Any,
    name: str,
    mutant: Any,
    source: str,
    tail: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, name, mutant)
    plain, joined = outcomes(tmp_path / "program.py", source + TAIL + tail)
    assert joined < plain


@needs_frames
def test_what_nobody_reads_is_no_choice(tmp_path: Path) -> None:
    source = "def work(i):\n    global n\n    with lock: n += 1\n    log.append(i)\n    log.append(n)\n"
    (tmp_path / "program.py").write_text(HEAD + source + TAIL + "assert n == 2\n")
    plain = results(tmp_path / "program.py", Dpor)
    blind = results(tmp_path / "program.py", Dpor, unread=unread_lists)
    assert plain is not None and blind is not None
    assert (plain[1].tree.executions, blind[1].tree.executions) == (18, 4)
