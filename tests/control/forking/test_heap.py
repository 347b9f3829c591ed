"""What an execution leaves behind is seen: put back where that can be done, and else the end of its process.

Each program here changes something that outlives it and says what it found. It is executed in a process that
was used before, if that is kept, and has to find what it finds in a fresh one.
"""

from __future__ import annotations

import gc
import sys
import types
import weakref
from abc import ABCMeta
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from possibly.control.forking import heap, runner, unseen
from possibly.control.forking.zygote import script
from possibly.control.schedulers.course import Course

pytestmark = pytest.mark.skipif(not heap.can_be_seen(), reason="what looks at objects was not built")

THREADS = """
import threading
lock = threading.Lock()
n = 0
def work():
    global n
    with lock: n += 1
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
PUT_BACK = {
    "the environment, read": "import os\nprint(os.environ.get('HOME'))",
    "a counter in a library": "import json\ntry: print(json.a_b)\n"
    "except AttributeError: print('absent')\njson.a_b = 1",
    "a registry": "import mimetypes\nprint(len(mimetypes.types_map))\nmimetypes.types_map['.a_b'] = 'x'",
    "a registry of types": "import copyreg\nprint(len(copyreg.dispatch_table))\nclass A: pass\n"
    "copyreg.pickle(A, str)",
    "a codec": "import codecs\ntry: print(codecs.lookup('a_b'))\nexcept LookupError: print('absent')\n"
    "codecs.register(lambda name: codecs.lookup('utf-8') if name == 'a_b' else None)\n"
    "print('x'.encode('a_b'))",
    "the path of modules": "import sys\nprint(len(sys.path))\nsys.path.append('a_b')",
    "a part of the path": "import sys\nprint(sys.path[-1])\nsys.path[-1] += 'a_b'",
    "a hook": "import sys\nprint(sys.excepthook)\nsys.excepthook = print",
    "a dialect": "import csv\nprint(csv.list_dialects())\ncsv.register_dialect('a_b', delimiter='|')",
    "a cache": "import re\nprint(len(re._cache))\nre.compile('a_b+')\nprint(len(re._cache))",
    "a level of a logger": "import logging\nprint(logging.root.level, logging.getLevelName(7))\n"
    "logging.root.setLevel(5)\nlogging.addLevelName(7, 'SEVEN')",
    "an attribute of a class": "import string\nprint(string.Template.delimiter)\n"
    "string.Template.delimiter += '%'",
    "a list of a class": "import optparse\nprint(len(optparse.Option.ATTRS))\n"
    "optparse.Option.ATTRS.append('a')",
    "a dictionary of a class": "import configparser\nstates = configparser.ConfigParser.BOOLEAN_STATES\n"
    "print(states)\nstates['a_b'] = True",
    "a class that is followed": "import collections\nCounter = collections.Counter\n"
    "print(hasattr(Counter, 'a_b'))\nCounter.a_b = [1]",
    "an abstract class": "import collections.abc as c\nprint(isinstance(3, c.Sized))\nclass A: pass\n"
    "c.Sized.register(A)",
    "a type by an abstract class": "import collections.abc as c\nprint(isinstance(3, c.Sequence), "
    "isinstance(True, c.Iterable))\nc.Sequence.register(int)\nprint(isinstance(3, c.Sequence), "
    "isinstance(True, c.Iterable))",
    "an exit hook": "import atexit\natexit.register(print, 'bye')",
    "a variable of a module": "import tempfile\nprint(tempfile.tempdir)\ntempfile.tempdir = '/tmp/a_b'",
    "a file": "print(os.path.exists('a.txt'))\nwith open('a.txt', 'a') as f: f.write('a')\n"
    "print(open('a.txt').read())",
    "a method": "import json\nprint(json.JSONEncoder().encode({}))\n"
    "json.JSONEncoder.encode = lambda self, value: 'replaced'\nprint(json.JSONEncoder().encode({}))",
}
LEFT = {
    "a method of an operator": "import fractions\nF = fractions.Fraction\nprint(F(1, 2) + F(1, 3))\n"
    "F.__add__ = lambda one, other: 7\nprint(F(1, 2) + F(1, 3))",
    "an environment variable": "import os\nprint(os.environ.get('A_B'))\nos.environ['A_B'] = 'c'",
    "a folder": "import os\nprint(os.getcwd())\nos.chdir('/')",
    "the rights of files": "import os\nprint(os.umask(0o27))",
    "a filter of warnings": "import warnings\nprint(len(warnings.filters))\nwarnings.simplefilter('ignore')",
    "a context variable": "import contextvars\nprint(len(contextvars.copy_context()))\n"
    "contextvars.ContextVar('a').set(1)",
    "the depth of the stack": "import sys\nprint(sys.getrecursionlimit())\nsys.setrecursionlimit(5000)",
    "a default of a function": "import json\nprint(json.dumps.__kwdefaults__)\n"
    "json.dumps.__kwdefaults__ = {'indent': 3, **json.dumps.__kwdefaults__}",
    "an attribute of a function": "import json\nprint(hasattr(json.dumps, 'a_b'))\njson.dumps.a_b = 1",
    "a file that stays open": "f = open('a.txt', 'a')\nprint(f.tell())\nf.write('a')",
    "a type that is interned": "import ctypes\nnumber = ctypes.POINTER(ctypes.c_int)\n"
    "print(hasattr(number, 'a_b'))\nnumber.a_b = 1",
    "numbers of random": "import random\nprint(random.random())\nrandom.seed(3)\nprint(random.random())",
}


def reused(source: str, folder: Path, executions: int = 4) -> int:
    """In how many executions a process was used again; each finds what a fresh one finds."""
    (folder / "program.py").write_text(source + THREADS)
    times = 0
    with script((str(folder / "program.py"),)) as controlled:
        controlled.execute(Course())
        first = controlled.execute(Course())
        for _ in range(executions):
            controlled.begin(Course())
            found = controlled.end()
            assert (found.output, found.steps, found.outcome) == (first.output, first.steps, first.outcome)
            times += controlled.is_reused
            assert controlled.agrees()
    return times


@pytest.fixture
def looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MANY", 0)


@pytest.mark.usefixtures("looks_at_once")
@pytest.mark.parametrize("name", PUT_BACK)
def test_it_is_put_back(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert reused(f"import os\nos.environ.get('HOME')\n{PUT_BACK[name]}", tmp_path) > 0


@pytest.mark.usefixtures("looks_at_once")
@pytest.mark.parametrize("name", LEFT)
def test_it_ends_the_process(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert reused(LEFT[name], tmp_path) == 0


def test_who_executes_little_does_not_pay_for_the_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "WORTH", float("inf"))  # else some are forked in the middle of others
    source = PUT_BACK["a counter in a library"]
    assert reused(source, tmp_path, runner.MANY - 3) == 0, "two came before, and one is made ahead"
    assert reused(source, tmp_path, runner.MANY + 3) > 0


# ---- by objects -------------------------------------------------------------------------------------


class Slotted:
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 1


def _cell() -> types.CellType:
    value = 0

    def function() -> int:
        return value

    assert function.__closure__ is not None
    return function.__closure__[0]


def _function() -> None: ...


class Attributes:
    value = 0


def _cleared(made: Any) -> None:
    made.clear()


CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "an item": (lambda: {"a": 1}, lambda made: made.update(a=2)),
    "an equal item": (lambda: {"a": 1}, lambda made: made.update(a=True)),
    "one more": (lambda: {"a": 1}, lambda made: made.update(b=2)),
    "one less": (lambda: {"a": 1, "b": 2}, lambda made: made.pop("a")),
    "another order": (lambda: {"a": 1, "b": 2}, lambda made: made.update(a=made.pop("a"))),
    "none": (lambda: {"a": [1]}, _cleared),
    "an item of a list": (lambda: [1, 2], lambda made: made.__setitem__(0, 3)),
    "a list that grows": (lambda: [1, 2], lambda made: made.append(3)),
    "a list the other way": (lambda: [1, 2], lambda made: made.reverse()),
    "a set": (lambda: {1, 2}, lambda made: made.add(3)),
    "a set that shrinks": (lambda: {1, 2}, lambda made: made.remove(1)),
    "a queue": (lambda: deque([1, 2], 3), lambda made: made.appendleft(3)),
    "the order of a dictionary": (lambda: OrderedDict(a=1, b=2), lambda made: made.move_to_end("a")),
}


def watched(*objects: Any) -> heap.Heap:
    return heap.Heap(list(objects), set(), is_whole=False)


@pytest.mark.parametrize("name", CHANGES)
def test_a_container_gets_back_what_it_held(name: str) -> None:
    make, change = CHANGES[name]
    made = make()
    before = repr(made)
    kept = watched(made)
    assert kept.put_back() == ""
    for _ in range(2):
        change(made)
        assert repr(made) != before
        assert kept.put_back() == ""
        assert repr(made) == before


def test_what_is_no_container_is_left() -> None:
    slotted, cell, attributes, numbers, octets = Slotted(), _cell(), Attributes(), count(), bytearray(b"a")
    for changed, change in (
        (slotted, lambda: setattr(slotted, "value", 2)),
        (cell, lambda: setattr(cell, "cell_contents", 2)),
        (attributes, lambda: setattr(attributes, "value", 2)),
        (_function, lambda: setattr(_function, "__defaults__", (1,))),
        (numbers, lambda: next(numbers)),
        (octets, lambda: octets.append(1)),
    ):
        kept = watched(changed)
        assert kept.put_back() == ""
        change()
        assert kept.put_back() != "", type(changed)


def test_a_function_that_was_looked_at_is_as_it_was() -> None:
    def function(given: int) -> str:
        return str(given)

    kept = watched(function)
    assert vars(function) == {}
    assert list(function.__annotations__) == ["given", "return"]
    assert kept.put_back() == ""
    function.more = 1  # type: ignore[attr-defined]
    assert kept.put_back() != ""
    del function.more  # type: ignore[attr-defined]
    assert kept.put_back() == ""
    function.__annotations__["given"] = "str"
    assert kept.put_back() != ""


def test_a_class_gets_back_its_methods() -> None:
    class Base:
        def __len__(self) -> int:
            return 1

    class Derived(Base):
        pass

    space = gc.get_referents(vars(Base))[0]
    kept = watched(Base, space)
    assert len(Derived()) == 1
    Base.__len__ = lambda self: 2  # type: ignore[method-assign]
    Base.more = 3  # type: ignore[attr-defined]
    assert len(Derived()) == 2
    assert kept.put_back() == ""
    assert len(Derived()) == 1
    assert not hasattr(Derived, "more")


def test_results_that_a_function_remembers_stay() -> None:
    """Else it would remember less than before: what it computed as its module was imported."""
    remembering = lru_cache(str)
    remembering(0)
    kept = watched(remembering)
    remembering(1)
    assert kept.put_back() == ""
    assert remembering.cache_info().currsize == 2


def test_what_the_collector_does_not_know_is_seen() -> None:
    """A dictionary of texts alone is nothing to the collector, nor what was frozen before."""
    module = types.ModuleType("a_b")
    module.names = {"a": "b"}  # type: ignore[attr-defined]
    assert not gc.is_tracked(module.names)
    found = {id(each) for each in heap._everything()}
    assert {id(module.names), id(vars(module))} <= found


def test_only_what_nobody_else_can_come_to_is_ours() -> None:
    everything = heap._everything()
    apart = heap._ours(everything)
    assert id(vars(heap)) in apart
    assert id(heap.UNCHANGING) in apart or id(heap.UNCHANGING) not in {id(each) for each in everything}
    for shared in (vars(sys), sys.path, sys.modules, vars(gc), gc.get_referents(vars(OrderedDict))[0]):
        assert id(shared) not in apart


def test_the_state_of_the_process_is_told() -> None:
    before = unseen.standing()
    assert unseen.is_as_it_was(before)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 1)
    try:
        assert not unseen.is_as_it_was(before)
    finally:
        sys.setrecursionlimit(limit)


def test_an_answer_that_was_out_of_date_does_not_come_back() -> None:
    base = ABCMeta("base", (), {})
    derived = ABCMeta("derived", (base,), {})

    class Registered:
        """Not yet."""

    derived.register(int)
    assert issubclass(int, base) and not issubclass(Registered, base), "which is remembered"
    derived.register(Registered)  # and out of date
    kept = heap.Heap([base, derived, *gc.get_referents(vars(base)["_abc_impl"])], set(), is_whole=False)
    assert issubclass(Registered, base)
    assert kept.put_back() == ""
    assert issubclass(Registered, base)


class Pretends:
    """Says that it is an object of another class."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.kind


def test_objects_that_say_they_are_classes() -> None:
    """As `weakref.proxy` does of a class, which joblib has, and dask's own proxies."""
    lying = [weakref.proxy(Pretends), *map(Pretends, (type, dict, types.ModuleType, types.FunctionType))]
    seen = heap.Heap([*lying, Pretends], heap._ours(lying), is_whole=False)
    assert seen.put_back() == ""
