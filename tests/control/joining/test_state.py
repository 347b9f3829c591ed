"""A digest that left anything out would join states that go on differently: each program here shows one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from possibly.control.joining import state, values
from possibly.control.joining.explorer import Joining
from possibly.control.joining.frames import READS, Held
from possibly.control.schedulers.dpor import Dpor
from tests.control.joining.judged import results

pytestmark = pytest.mark.skipif(not READS, reason="frames of this interpreter cannot be read")
HEAD = (
    "import threading\nlock = threading.Lock()\nx = y = w = 0\nbox = [0]\nclass O: pass\no = O()\no.v = 0\n"
)
TAIL = """
def three():
    global w
    w = 3
def four():
    global w
    w = 4
threads = [threading.Thread(target=f) for f in (one, two, three, four)]
for t in threads: t.start()
for t in threads: t.join()
print(x, y, w, box, o.v)
"""
GLOBAL = """
def one():
    global x
    x = 1
    with lock: pass
def two():
    global x
    x = 2
    with lock: pass
"""
LOCAL = """
def one():
    global y
    z = x
    with lock: pass
    y = z
def two():
    global x
    x = 7
    with lock: pass
"""
ITEM = GLOBAL.replace("x =", "box[0] =").replace("    global x\n", "")
ATTRIBUTE = GLOBAL.replace("x =", "o.v =").replace("    global x\n", "")
STACK = """
def one():
    global x
    x += 1
def two():
    global x
    x += 5
"""

SUBTLE = {
    "a method that is replaced": (
        "class A:\n    def get(self): return 5\ndef f(self): return 0\ndef g(self): return 1",
        "A.get = g if i else f",
        "A().get()",
    ),
    "a slot whose name is mangled": (
        "class A:\n    __slots__ = ('__v',)\n    def put(self, v): self.__v = v\n"
        "    def get(self): return self.__v\na = A()",
        "a.put(i)",
        "a.get()",
    ),
    "an attribute of a member": (
        "from enum import Enum\nclass Color(Enum):\n    RED = 1",
        "Color.RED.last = i",
        "Color.RED.last",
    ),
    "what a property closes over": (
        "class A: pass\ndef made(k): return property(lambda self: k)",
        "A.p = made(i)",
        "A().p",
    ),
    "what a static method closes over": (
        "class A: pass\ndef made(k): return staticmethod(lambda: k)",
        "A.s = made(i)",
        "A.s()",
    ),
    "a base class that nothing else names": (
        "def made():\n    class B:\n        v = 0\n        @classmethod\n"
        "        def put(cls, i): B.v = i\n    class A(B): pass\n    return A()\na = made()",
        "a.put(i)",
        "a.v",
    ),
    "the class of an object that nothing else names": (
        "def made(k):\n    class A:\n        def get(self): return k\n    return A()\na = None",
        "global a\n    a = made(i)",
        "a.get()",
    ),
    "one of two functions of a line": (
        "a = None",
        "global a\n    a = (lambda: 1) if i else (lambda: 2)",
        "a()",
    ),
    "the arguments of an exception": (
        "a = None",
        "global a\n    try: raise ValueError(i)\n    except ValueError as error: a = error",
        "a.args",
    ),
    "the arguments of a partial call": (
        "from functools import partial\na = None",
        "global a\n    a = partial(int, i)",
        "a()",
    ),
    "a field of a dataclass": (
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
        "    v: list = field(default_factory=list)\na = A()",
        "a.v.append(i)",
        "a.v",
    ),
    "an attribute of the main thread": (
        "",
        "threading.main_thread().last = i",
        "threading.main_thread().last",
    ),
    "the name of the main thread": (
        "",
        "threading.main_thread().name = f'main{i}'",
        "threading.main_thread().name",
    ),
    "the number of the next thread": (
        "def odd(k): return [threading.Thread() for _ in range(k)] and None\nlast = 0",
        "global last\n    if not last and i: odd(1)\n    last = 1",
        "threading.Thread().name",
    ),
    "an argument of the program": ("import sys\nsys.argv.append('')", "sys.argv[1] = str(i)", "sys.argv[1]"),
    "the level of a logger": (
        "import logging",
        "logging.getLogger('a').setLevel(10 + i)",
        "logging.getLogger('a').level",
    ),
    "an attribute of the first logger": (
        "import logging",
        "logging.getLogger().propagate = bool(i)",
        "logging.getLogger().propagate",
    ),
    "what a filter of a logger keeps": (
        "import logging\nclass F:\n    n = 0\n    def filter(self, record): return True\n"
        "logging.getLogger('a').addFilter(F())",
        "logging.getLogger('a').filters[0].n = i",
        "logging.getLogger('a').filters[0].n",
    ),
    "what a handler has caught": (
        "import logging\nclass H(logging.Handler):\n    n = 0\n    def emit(self, record): pass\n"
        "logging.getLogger('a').addHandler(H())",
        "logging.getLogger('a').handlers[0].n = i",
        "logging.getLogger('a').handlers[0].n",
    ),
    "a pattern": (
        "import re\np = re.compile('')",
        "global p\n    p = re.compile('x' * 300 + str(i))",
        "p.pattern[-1]",
    ),
    "a logger that a variable holds": (
        "import logging\nlog = logging.getLogger('a')",
        "log.disabled = bool(i)",
        "log.disabled",
    ),
    "the order of an ordered dictionary": (
        "from collections import OrderedDict\nd = OrderedDict(a=1, b=2)",
        "d.move_to_end('a' if i else 'b')",
        "list(d)",
    ),
    "where the items of a set lie": (
        "s = None\ndef laid(order):\n    found = set()\n    for each in order: found.add(each)\n"
        "    found.discard(0)\n    found.discard(16)\n    return found",
        "global s\n    s = laid((0, 16, 8) if i else (8, 0, 16))",
        "s.add(2) or list(s)",
    ),
    "which item of a set is next": (
        "s = None\ndef turned(k):\n    found = {1, 2, 3, 4}\n    for _ in range(k): found.add(found.pop())\n"
        "    return found",
        "global s\n    s = turned(3 + i)",
        "s.pop()",
    ),
    "which item of a kind of set is next": (
        "class Own(set): pass\ns = None\ndef turned(k):\n    found = Own({1, 2, 3, 4})\n"
        "    for _ in range(k): found.add(found.pop())\n    return found",
        "global s\n    s = turned(3 + i)",
        "s.pop()",
    ),
}
"""What differs: what is there before, what two threads do with i = 0 and 1, what shows it at the end."""


def subtle(what: str) -> str:
    before, done, shown = SUBTLE[what]
    both = "".join(
        f"def {name}():\n    put({i})\n    with lock: pass\n" for name, i in (("one", 0), ("two", 1))
    )
    return f"{before}\ndef put(i):\n    {done}\n{both}" + TAIL.replace("print(", f"print({shown}, ")


def found(path: Path, source: str) -> tuple[Any, Any]:
    path.write_text(HEAD + source + ("" if "threads" in source else TAIL))
    plain, joined = results(path, Dpor), results(path, Joining)
    assert plain is not None and joined is not None
    return plain[0], joined[0]


@pytest.mark.parametrize("source", [GLOBAL, LOCAL, ITEM, ATTRIBUTE, STACK])
def test_nothing_is_lost(source: str, tmp_path: Path) -> None:
    plain, joined = found(tmp_path / "program.py", source)
    assert plain == joined


@pytest.mark.parametrize("what", SUBTLE)
def test_states_that_differ_in_little_are_not_joined(what: str, tmp_path: Path) -> None:
    plain, joined = found(tmp_path / "program.py", subtle(what))
    assert len(plain) == 4  # two last writers of w, and two of what differs
    assert plain == joined


def _without_locals(words: Any, held: Held) -> None:
    words.said += (held.code.co_name, held.at)


def _without_items(words: Any, value: Any) -> None:
    words.said += ("list", len(value))


def _without_attributes(words: Any, value: Any, cls: type) -> None:
    words.said += ("instance", cls.__qualname__)


@pytest.mark.parametrize(
    ("source", "owner", "name", "mutant"),
    [
        (GLOBAL, state, "_say_module", lambda words, name: None),
        (LOCAL, values.Words, "frame", _without_locals),
        (STACK, values.Words, "frame", _without_locals),
        (ITEM, values.Words, "_list", _without_items),
        (ATTRIBUTE, values.Words, "_instance", _without_attributes),
    ],
)
def test_a_digest_that_leaves_something_out_loses_results(
    source: str, owner: Any, name: str, mutant: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, mutant)
    if name == "frame":  # what a task remembers of loops has variables of its frames too
        monkeypatch.setattr(state, "_say_trail", lambda words, task, versions: None)
    if name == "_list":
        monkeypatch.setitem(values._WAYS, list, mutant)
    plain, joined = found(tmp_path / "program.py", source)
    assert joined < plain
