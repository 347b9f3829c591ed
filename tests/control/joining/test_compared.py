"""Numbers that are only added to and compared with constants: which these are, and that nothing is lost."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from possibly.control.joining import compared as module
from possibly.control.joining.compared import NEVER, Numbers, compared_in, is_of_numbers
from possibly.control.joining.explorer import Joining
from possibly.control.joining.frames import READS
from possibly.control.joining.orders import Orders
from possibly.control.joining.unseen import unread_lists
from possibly.control.schedulers.dpor import Dpor
from tests.control.joining.generated import compared_program
from tests.control.joining.judged import results
from tests.control.runtime.brute import brute_force

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
needs_frames = pytest.mark.skipif(not READS, reason="frames of this interpreter cannot be read")
COUNTING = "n = 0\ndef work():\n    global n\n    n += 1\n"
"""Line 4 reads and writes."""


def found(source: str) -> Numbers:
    return compared_in({"p.py": ast.parse(source)})


def test_a_number_that_is_onlyCounting_means_nothing() -> None:
    here = frozenset({("p.py", 4, "n")})
    assert found(COUNTING) == Numbers({"n": NEVER}, frozenset(), here, here | {("p.py", 1, "n")})


@pytest.mark.parametrize(
    ("use", "cut"),
    [
        ("if n: pass", 0), ("if n != 0: pass", 0), ("assert n < 3", 3), ("while not n: pass", 0),
        ("x = n == 2", 2), ("if n > 1 and n < 5: pass", 5), ("if 0 < n <= 4: pass", 4), ("f(n > 7)", 7),
        ("m = n\nif m > 2: pass", 2), ("m = n + 1\nif m > 2: pass", 2),
        ("m = 3 if n else n\nx = m > 9", 9), ("x = n + 4 == 5", 5), ("x = 1 if n else 2", 0),
    ],
)  # fmt: skip
def test_what_it_is_compared_with_is_its_cut(use: str, cut: int) -> None:
    assert found(COUNTING + use).cuts["n"] == cut


def test_a_read_means_nothing_where_its_sum_is_larger_than_the_cut() -> None:
    assert ("p.py", 4, "n") in found(COUNTING + "if n: pass").reads
    assert ("p.py", 4, "n") not in found(COUNTING + "if n > 1: pass").reads
    assert not found(COUNTING + "if n: pass").writes
    assert not found("n = 0\ndef work():\n    global n\n    n += 1; f()\nif n: pass").reads
    assert not found("n = 0\ndef work():\n    global n\n    m = n; n = n + 1\nif m: pass").reads


LASTZERO = "a = [0] * 4\ndef looks():\n    while a[i] != 0: i -= 1\ndef fills(j):\n    a[j] = a[j - 1] + 1\n"


def test_items_count_too() -> None:
    compared = found(LASTZERO)
    assert compared.cuts == {"a": 0} and compared.containers == {"a"} and compared.reads == {("p.py", 5, "a")}
    assert found("d = {'k': 0}\ndef f():\n    d['k'] += 1\n").cuts == {"d": NEVER}


def test_attributes_of_self_count_too() -> None:
    source = "class A:\n    def __init__(self): self.n = 0\n    def f(self): self.n += 1\n"
    assert found(source).cuts == {"n": NEVER}
    assert "n" not in found(source + "x.n += 1").cuts
    assert "n" not in found(source.replace("class A", "class A(Base)")).cuts
    assert "n" not in found("class A:\n    n = 0\n").cuts


@pytest.mark.parametrize(
    "use",
    [
        "print(n)", "x = [n]", "x = n - 1", "x = n * 2", "n -= 1", "n *= 2", "n = -1", "n = 1.5", "n = True",
        "n = f()", "x = n == m", "x = n == y + 1", "x = n in y", "x = n is 0", "x = a[n]", "return_(n)",
        "x, n = 1, 2", "for n in x: pass", "with f() as n: pass", "del n", "def g(n): pass", "g(n=1)",
        "x = -n",
        "import n", "x.n = 3", "x = y.n", "x = n or 5", "x.y = n", "x.y += n", "x[0].y = n", "x = (n := 1)",
        "if n > -1: pass", "if n > 1.5: pass", "x = 'n'", "x = f'{n}'", "def n(): pass", "class n: pass",
        "n = [0]", "x = n[0]", "x = y = n, 1", "x = y.z = n", "x = lambda: n", "assert y, n",
        "x: int = n; f(x)",
        "n: int", "try: pass\nexcept E as n: pass", "m = n\nprint(m)", "m = 0\nn = m\nm = f()", "x = n < n",
        "globals()", "x.__dict__", "getattr(x, y)", "import sys", "n += '1'", "m = 0\nm += n", "m = n + n",
        "n += n",
        "n = None",
        "match n:\n    case 1: pass",
        "class A:\n    def __getattr__(self, name): pass",
    ],
)  # fmt: skip
def test_whatever_else_is_done_makes_it_a_number_like_others(use: str) -> None:
    assert "n" not in found(COUNTING + use).cuts


@pytest.mark.parametrize(
    "use",
    [
        "print(a)", "x = a", "x = a[0]; f(x)", "a = [1]", "a.append(1)", "del a[0]", "a[0] = f()", "a[:] = x",
        "x = a[0:2]", "for x in a: pass", "x = len(a)", "a[0] -= 1", "a[f] += y", "def g(a): pass",
        "x = 0 in a",
        "def g():\n    a = [0]", "x = y.a", "a += [1]", "b = a", "x = a == [1]", "a[0], y = 1, 2",
        "x = a * 2",
    ],
)  # fmt: skip
def test_whatever_else_is_done_makes_it_a_list_like_others(use: str) -> None:
    assert "a" not in found(LASTZERO + use).cuts


def test_only_exact_whole_numbers_are_taken_together() -> None:
    assert is_of_numbers([0, 3]) and is_of_numbers({"k": 1}) and is_of_numbers([])
    assert not is_of_numbers([True]) and not is_of_numbers([-1]) and not is_of_numbers([1.0])
    assert not is_of_numbers((0,)) and not is_of_numbers({"k": None})


MADE = "import threading\n{0}threads = [threading.Thread(target=f, args=(i,)) for f, i in {1}]\n"
PROGRAM = f"{MADE}for t in threads: t.start()\nfor t in threads: t.join()\n"


def executions(path: Path, source: str) -> int:
    path.write_text(source)
    found = results(path, Dpor, alike=Orders)
    assert found is not None
    return int(found[1].tree.executions)


def test_fewer_executions_than_classes(tmp_path: Path) -> None:
    looks = (
        "a = [0] * 6\ndef looks(i):\n    while a[i] != 0: i -= 1\ndef fills(j):\n    a[j] = a[j - 1] + 1\n"
    )
    tasks = "[(looks, 5), (fills, 1), (fills, 2), (fills, 3), (fills, 4), (fills, 5)]"
    assert executions(tmp_path / "p.py", PROGRAM.format(looks, tasks)) == 6  # of 64 classes
    count = "n = 0\ndef f(i):\n    global n\n    n += 1\n"
    assert executions(tmp_path / "q.py", PROGRAM.format(count, "[(f, 1), (f, 2), (f, 3)]")) == 1  # of 36
    count += "def g(i):\n    if n: print(i)\n"
    assert executions(tmp_path / "r.py", PROGRAM.format(count, "[(f, 1), (g, 2)]")) == 2


def outcomes(path: Path, most: int = 400) -> list[Any] | None:
    """Of all classes, of those that Orders leaves, and of states."""
    module._compared.cache_clear()
    plain = results(path, Dpor, most)
    if plain is None:
        return None
    fewer = results(path, Dpor, alike=Orders, unread=unread_lists)
    joined = results(path, Joining, alike=Orders, unread=unread_lists)
    state = results(path, Joining)
    assert fewer is not None and joined is not None and state is not None
    assert joined[1].is_complete and state[1].is_complete
    return [plain[0], fewer[0], joined[0], state[0]]


@needs_frames
@pytest.mark.parametrize("seed", range(10 * CASES) if CASES > 1 else (0, 1, 2, 3, 5))
def test_nothing_is_lost(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    path = tmp_path / "program.py"
    path.write_text(compared_program(random, random.choice((2, 2, 3, 3, 4))))
    found = outcomes(path, 150)
    if found is not None:
        plain, *others = found
        assert all(other == plain for other in others)


@needs_frames
@pytest.mark.parametrize("seed", range(1000, 1000 + 2 * CASES))
def test_all_schedules_end_alike(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(compared_program(Random(seed), 2, 1))
    expected = brute_force(path, 150)
    found = outcomes(path)
    if expected is not None and found is not None:
        assert all(other == expected for other in found)


def _never(parent: ast.AST, node: ast.AST, parents: Any) -> int | None:
    return None if CUT(parent, node, parents) is None else 0


def _more(value: ast.expr) -> int | None:
    found = LEAST(value)
    return None if found is None else found + 9


CUT, LEAST = module._cut, module._least
COUNTED = "n = m = 0\ndef f(i):\n    global n, m\n    n += 1\n"
APART = "n = m = 0\ndef f(i):\n    global n, m\n    if i == 1: n = 5\n    else: m = n + 1\n"
MUTANTS = [
    (module, "_cut", _never, COUNTED, "print(n == 2)"),
    (module, "_least", _more, APART, "print(m > 3)"),
    (module._Uses, "_join", lambda self, word, other: None, f"{COUNTED}    m = n + 1\n", "print(m == 3)"),
]


@needs_frames
@pytest.mark.parametrize(("owner", "name", "mutant", "source", "tail"), MUTANTS)
def test_a_condition_that_is_left_out_loses_results(
    owner: Any,
    name: str,
    mutant: Any,
    source: str,
    tail: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(source, "[(f, 1), (f, 2)]") + tail + "\n")
    found = outcomes(path)
    assert found is not None and found[1] == found[0] == found[2]
    monkeypatch.setattr(owner, name, mutant)
    module._compared.cache_clear()
    fewer = results(path, Dpor, alike=Orders)
    assert fewer is not None and fewer[0] < found[0]


@needs_frames
def test_states_with_numbers_beyond_the_cut_are_one(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    source = "n = 0\ndef f(i):\n    global n\n    n = 4 if i == 1 else 5 if i == 2 else 6\n"
    path.write_text(PROGRAM.format(source, "[(f, 1), (f, 2), (f, 3)]") + "print(n > 3)\n")
    module._compared.cache_clear()
    together = results(path, Joining)
    path.write_text(
        path.read_text() + "print(n > 100, n == n)\n"
    )  # two of them compared: it is one like others
    module._compared.cache_clear()
    apart = results(path, Joining)
    assert together is not None and apart is not None
    assert together[1].graph.places < apart[1].graph.places


HIDDEN = """\
a = [0, 0]
m = 0
def f(i):
    global m
    m = i + 1
    a[i] = a[1 - i] + 1
def g(i):
    global m
    a[i] = a[1 - i] + 1
    m = 3
"""


def test_nobody_learns_of_others_by_an_access_that_means_nothing(tmp_path: Path) -> None:
    path = tmp_path / "program.py"  # else `m` seems to be ordered by the items, and is no choice point
    path.write_text(PROGRAM.format(HIDDEN, "[(f, 0), (g, 1)]") + "print(m)\n")
    found = outcomes(path)
    assert found is not None and all(each == found[0] for each in found)
    assert len(found[0]) == 2
