"""Sites tell the same, compiled and plain; what they exchange is told as it changes."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from possibly.probes.watching.modules import Places, with_sites
from possibly.probes.watching.telling import Telling
from possibly.probes.watching.watch import Watch
from possibly.recorder import entries as e
from possibly.recorder.log import Log, compiled
from possibly.recorder.merging.sources import read_entries
from possibly.recorder.telling.sites import KINDS, Sites

WORDS = frozenset({"x", "y", "v", "n", "f"})
PROGRAMS = {
    "values": "x = 1; x = 1 << 80; x = True; x = None; x = 1.5; x = float('inf'); x = 'a'; "
    "x = (1, 2); x = object",
    "reads": "x = [1]\nfor i in range(3): y = x\nz = x[0] + len(x)",
    "attributes": "class A:\n    def __init__(self, v): self.v = v\na = A(1); a.v = (1, 2); "
    "a.v = [a.v]; y = a.v",
    "slots": "class A:\n    __slots__ = ('v',)\na = A(); a.v = 1; a.v = 'b'; y = a.v",
    "stores that fail": "class A:\n    __slots__ = ()\nclass B:\n    @property\n    def v(self): return 1\n"
    "class C:\n    def __setattr__(self, name, value): raise KeyError\n"
    "for each in (A(), B(), C(), object(), 1):\n"
    "    try:\n        each.v = 1\n    except (AttributeError, KeyError): pass\n",
    "stores by code": "class A:\n    def __setattr__(self, name, value): self.__dict__[name] = value\n"
    "class B:\n    @property\n    def v(self): return self.n\n    @v.setter\n"
    "    def v(self, value): self.n = value\n"
    "for each in (A(), B(), A): each.v = 2",
    "locals": "def g(v, *n, y=1):\n    v += 1\n    for n in (v, y): y = n\n    x = [v]; "
    "x.append(n)\n    return x\ng(1, 2)",
    "calls": "def f(a, *b):\n    if a: raise KeyError\n    return b\nf(0, 1)\ntry:\n"
    "    f([1])\nexcept KeyError: pass",
    "containers": "x = []; y = x; y.append(1); x.append(2); y[0] = 3; y += [4]; z = y; "
    "del z[0]; x = [z]; z.pop()",
    "cells": "def g():\n    x = [1]\n    def h():\n        nonlocal x\n        x = x + [2]; "
    "x.append(3); x[0] += 1\n"
    "    h(); return x\ng()",
    "labels": "x = 1  #: one\nif x:  #: two\n    pass  #: three\nfor x in range(2):  #: four\n    y = x\n",
}
WATCHES = {
    "names": Watch(names=WORDS, members=WORDS, functions=WORDS, arguments=frozenset("f")),
    "scoped": Watch(names=WORDS, members=WORDS, scoped=WORDS),
    "unasked": Watch(shared_names=WORDS, shared_members=WORDS, every_call=True, most_calls=100),
    "everything": Watch(everything=True, every_call=True),
}
needs_compiler = pytest.mark.skipif(compiled() is None, reason="nothing is compiled here")


def told(folder: Path, source: str, watch: Watch, kernel: ModuleType | None) -> list[Any]:
    """All entries of a module that is executed, but for those that say what numbers mean."""
    folder.mkdir()
    (folder / "program.py").write_text(source)
    log = Log(str(folder), "program", kernel=kernel, unasked=watch.unasked)
    log.limit_calls(watch.most_calls)
    sites = Sites(log)
    places = Places(sites.maker("program.py"), sites.marks("program.py"))
    file = str(folder / "program.py")
    code = with_sites(compile(source, file, "exec"), file, "__main__", watch, places)
    module = sys.modules["told"] = ModuleType("told")
    module.__dict__.update(__file__=file, **sites.builtins())
    try:
        exec(code, vars(module))  # noqa: S102
    finally:
        del sys.modules["told"]
    log.flush()
    found = [entry for entry in read_entries(log.path) if entry[0] not in (e.HEADER, e.OBJECT, e.NAMED)]
    sites.silence()
    log.close()
    return found


@needs_compiler
@pytest.mark.parametrize("watch", WATCHES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_both_tell_the_same(program: str, watch: str, tmp_path: Path) -> None:
    asked = PROGRAMS[program], WATCHES[watch]
    plain = told(tmp_path / "plain", *asked, None)
    assert told(tmp_path / "compiled", *asked, compiled()) == plain
    assert plain or (program, watch) == ("calls", "scoped")


def values(found: list[Any], kind: int) -> list[Any]:
    return [entry[-1] for entry in found if entry[0] == kind]


@pytest.mark.parametrize("kernel", [None, compiled()], ids=["plain", "compiled"])
def test_what_fails_is_not_told(kernel: ModuleType | None, tmp_path: Path) -> None:
    found = told(tmp_path / "log", PROGRAMS["stores that fail"], WATCHES["names"], kernel)
    assert not [entry for entry in found if entry[0] == e.MEMBER_WRITE]


@pytest.mark.parametrize("kernel", [None, compiled()], ids=["plain", "compiled"])
def test_what_code_of_the_program_stores_is_told_once_it_is(
    kernel: ModuleType | None, tmp_path: Path
) -> None:
    found = told(tmp_path / "log", PROGRAMS["stores by code"], WATCHES["names"], kernel)
    assert values(found, e.MEMBER_WRITE) == [2, 2, 2, 2]


def test_a_container_is_told_by_whatever_name_it_changes(tmp_path: Path) -> None:
    watch = Watch(names=frozenset("x"))
    found = told(tmp_path / "log", PROGRAMS["containers"], watch, None)
    expected = [[], [1], [1, 2], [3, 2], [3, 2, 4], [2, 4], [[2, 4]], [[2]]]
    assert values(found, e.WRITE) == expected


def test_a_word_that_is_turned_off_is_not_told(tmp_path: Path) -> None:
    log = Log(str(tmp_path), "program", unasked=("v", "x"))
    sites = Sites(log)
    places = Places(sites.maker("p.py"), sites.marks("p.py"))
    watch = Watch(shared_names=frozenset("x"), shared_members=frozenset("v"))
    source = "x = 1\nx += 1\nx = [x]\nx.append(2)\n"
    code = with_sites(compile(source, "p.py", "exec"), "p.py", "__main__", watch, places)
    before = log.sequence()
    exec(code, {})  # noqa: S102
    assert log.sequence() - before == 6
    log.turn_off(1)
    before = log.sequence()
    exec(code, {})  # noqa: S102
    assert log.sequence() == before
    log.close()


def test_every_kind_has_a_site() -> None:
    assert set(KINDS) == set(Telling) - {Telling.MARK}
