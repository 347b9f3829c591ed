"""Rewritten source does what it did before, and what is watched is told in its order with its values."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from possibly.logic.specification import Specification, property_from_text
from possibly.probes.watching.labels import labels_of
from possibly.probes.watching.watch import Watch
from possibly.recorder.watch import watched
from tests.probes.programs import Run, run


def writes(found: Run, variable: str) -> list[object]:
    events = [found.trace.event(e) for e in range(len(found.trace))]
    return [event.write[variable] for event in events if variable in event.write]


def sets(found: Run, variable: str) -> list[object]:
    events = [found.trace.event(e) for e in range(len(found.trace))]
    return [event.set[variable] for event in events if variable in event.set]


ASSIGNMENTS = {
    "x = 1": [1],
    "x = y = 2": [2],
    "y, x = 1, 3": [3],
    "y, (z, x) = 1, (2, 4)": [4],
    "y, *x = 1, 2, 3": [[2, 3]],
    "x: int = 5": [5],
    "x = 1\nx += 2": [1, 3],
    "x = [1]\ny = x\nx += [2]\nassert y is x": [[1], [1, 2]],
    "for x in (1, 2): pass": [1, 2],
    "with open('/dev/null') as f: x = 7": [7],
    "if (x := 8) > 1: pass": [8],
    "x = []\nx.append(1)\nx[0] = 2\nx.extend([3])\nassert x.pop() == 3": [[], [1], [2], [2, 3], [2]],
    "x = {}\nx['a'] = 1\nx.update(b=2)\nx['a'] += 5": [{}, {"a": 1}, {"a": 1, "b": 2}, {"a": 6, "b": 2}],
    "x = {3, 1}\nx.add(2)": [[1, 3], [1, 2, 3]],
    "x = [[1]]\ny = x[0]\ny.append(2)\nx = x": [[[1]], [[1, 2]], [[1, 2]]],
    "x = 1.5\nx = float('inf')\nx = None\nx = object()": [1.5, "inf", None, "<object>"],
}


@pytest.mark.parametrize("statement", ASSIGNMENTS)
def test_writes_of_a_global(statement: str, tmp_path: Path) -> None:
    found = run(tmp_path, statement, watch=("x",))
    assert found.status == 0
    assert writes(found, "x") == ASSIGNMENTS[statement]


LOCALS = {
    "x = 1; x += 1": [1, 2],
    "for x in range(2): pass": [0, 1],
    "y, x = 1, 2": [2],
    "x = []; x.append(1)": [[], [1]],
    "y = [x for x in range(2)]": [],
    "with open('/dev/null') as x: x = 2": ["<TextIOWrapper>", 2],
}


@pytest.mark.parametrize("statement", LOCALS)
def test_locals_are_set(statement: str, tmp_path: Path) -> None:
    found = run(tmp_path, f"def f():\n    {statement}\nf()", watch=("P.x",))
    assert found.status == 0
    assert sets(found, "x") == LOCALS[statement]


def test_arguments_are_locals(tmp_path: Path) -> None:
    assert sets(run(tmp_path, "def f(a, x=2): pass\nf(1)\nf(1, 3)", watch=("P.x",)), "x") == [2, 3]


SEMANTICS = """
class Tracked:
    made = 0
    def __init__(self, v): self.v = v; type(self).made += 1
    @property
    def double(self): return self.v * 2
    def __iadd__(self, other): self.v += other; return self
calls = []
def f(i):
    calls.append(i)
    return i
a, b = Tracked(1), Tracked(2)
[a, b][f(0)].v += f(10)
assert calls == [0, 10] and a.v == 11
x = a
x += 5
assert x is a and a.v == 16 and a.double == 32
def outer():
    x = 1
    def inner():
        nonlocal x
        x += 1
        return x
    return inner() + x
assert outer() == 4
def generator():
    global counter
    for counter in range(3):
        yield counter
counter = 0
assert list(generator()) == [0, 1, 2] and counter == 2
assert [q.v for q in (a, b) if q.v > 1] == [16, 2]
assert {q.v: i for i, q in enumerate([a, b])} == {16: 0, 2: 1}
assert (lambda t: t.v + counter)(b) == 4
assert f"{a.v:>4}" == "  16"
data = {"k": [1, 2]}
data["k"][0] += 1
assert data == {"k": [2, 2]}
del data["k"]
try:
    data["missing"]
except KeyError as error:
    assert error.args == ("missing",)
match a.v:
    case 16: v = "sixteen"
assert v == "sixteen"
class Body:
    v = 1
    w = [v for _ in range(2)] if False else v
assert Body.w == 1
print("same")
"""


@pytest.mark.parametrize("races", [False, True])
def test_nothing_else_changes(races: bool, tmp_path: Path) -> None:
    watch = ("x", "v", "counter", "data", "calls", "a.v")
    assert run(tmp_path, SEMANTICS, watch=watch, races=races).status == 0


def test_attributes_are_named_by_the_global_that_holds_the_object(tmp_path: Path) -> None:
    source = """
    class Account:
        def __init__(self, balance): self.balance = balance
    ann = Account(1)
    def f():
        Account(2)
        other = Account(3)
        other.balance += 1
    f()
    ann.balance = 5
    """
    found = run(tmp_path, source, watch=("Account.balance",))
    assert writes(found, "ann.balance") == [1, 5]
    assert writes(found, "Account#1.balance") == [2]
    assert writes(found, "Account#2.balance") == [3, 4]


def test_calls_keep_a_stack_through_exceptions(tmp_path: Path) -> None:
    source = """
    def f(n):
        "The docstring stays."
        if n == 0: raise ValueError
        f(n - 1)
    assert f.__doc__ == "The docstring stays."
    try:
        f(1)
    except ValueError:
        pass
    """
    found = run(tmp_path, source, calls=("f",))
    assert found.kinds("MainThread") == ["enter", "enter", "exit", "exit"]


def test_labels() -> None:
    assert labels_of("x = 1  #: m1\ny = '#: no'\n# : no\nz = 2  #: m-2") == {1: "m1", 4: "m-2"}


def test_a_label_goes_to_the_assignment_of_its_line(tmp_path: Path) -> None:
    found = run(tmp_path, "x = 1  #: m1\nwhile x < 2:  #: m2\n    x += 1  #: m3\n", watch=("x",))
    events = [found.trace.event(e) for e in range(len(found.trace))]
    labelled = [(event.label, dict(event.write)) for event in events if event.label]
    assert labelled == [("m1", {"x": 1}), ("m2", {}), ("m3", {"x": 2}), ("m2", {})]


def test_imported_modules_are_rewritten_and_caches_left_alone(tmp_path: Path) -> None:
    (tmp_path / "bank.py").write_text("total = 1\ndef add():\n    global total\n    total += 1\n")
    found = run(tmp_path, "import bank\nbank.add()\nbank.total = 9\n", watch=("bank.total",))
    assert writes(found, "bank.total") == [1, 2, 9]
    assert not list(tmp_path.glob("__pycache__/bank*"))
    assert len(run(tmp_path, "import bank\n").trace) == 0


UNTOUCHED = """
import hashlib, json.decoder, library, own
for module in (json.decoder, library, own):
    codes = [f.__code__ for f in vars(module).values() if hasattr(f, "__code__")]
    print(module.__name__, hashlib.sha256(b"".join(code.co_code for code in codes)).hexdigest())
"""


def test_libraries_and_code_without_anything_watched_are_what_they_were(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "library.py").write_text("total = 1\ndef add():\n    global total\n    total += 1\nadd()\n")
    (tmp_path / "own.py").write_text("other = 1\ndef f():\n    global other\n    other += 1\n")
    (tmp_path / "program.py").write_text(UNTOUCHED)
    paths = [str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    subprocess.run([sys.executable, str(tmp_path / "program.py")], check=True)
    plain = capfd.readouterr().out
    found = run(tmp_path, UNTOUCHED, watch=("total", "library.total"), calls=("decode",))
    assert capfd.readouterr().out == plain
    assert len(found.trace) == 0


def test_what_a_formula_speaks_of_is_watched() -> None:
    text = 'AG(turn == 1 & P1.x < shared("N") & inside(P1, f) & forall i in "P*": i.y > 0)'
    found = watched(Specification(properties=(property_from_text("ctl", text, "p"),)))
    assert found == Watch(frozenset({"turn", "N"}), frozenset({"x", "y", "N"}), frozenset({"f"}))
