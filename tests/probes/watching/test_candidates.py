"""What the source of a program says that its tasks may share."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from possibly.probes.watching.candidates import candidates, candidates_of_program

SOURCES = {
    "def f():\n    global x\n    x = 1": "x",
    "def f():\n    x = 0\n    def g():\n        nonlocal x\n        x += 1": "x",
    "class C:\n    def __init__(self): self.x = 0": "",
    "class C:\n    def __init__(self, other): other.x = 0": ".x",
    "class C:\n    def __init__(self): self.x = []": ".x",
    "class C:\n    def add(self): self.x += 1": ".x",
    "def f(box): del box.x": ".x",
    "def f(box): box.x[1][2] = 3": ".x",
    "def f(box): box.x[1].append(2)": ".x",
    "def f(): x.append(1)": "x",
    "def f(x): x.append(1)": "",
    "def f(): del x[0]": "x",
    "def f(): return x + LIMIT.high\nx = 1": "",
    "x = []": "x",
    "x: dict = dict()": "x",
    "x = y = {1: 2}": "x y",
    "x, (y, z) = [], ({}, 1)": "x",
    "x = lock = Lock()\ndef f(): x.acquire()": "",
    "def f(): __name__[0] = 1": "",
    "f = lambda: x.add(1)": "x",
    "for box.x in range(3): pass": "",
    "def f():\n    for box.x in range(3): pass": ".x",
}
"""Attributes with a dot before them."""


@pytest.mark.parametrize("source", SOURCES)
def test_what_functions_change(source: str) -> None:
    found = candidates(ast.parse(source))
    told = sorted(found.names) + [f".{word}" for word in sorted(found.members)]
    assert " ".join(told) == SOURCES[source]


def test_modules_of_the_program_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "package").mkdir()
    files = {
        "program.py": "import json, package.one\nfrom package import two\ndef f(): return package.one.a",
        "package/__init__.py": "from .three import *",
        "package/one.py": "def f():\n    global a\n    a = 1",
        "package/two.py": "from . import four\nx = = 1",
        "package/three.py": "import program\nb = []",
        "package/four.py": "c = []",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = candidates_of_program((str(tmp_path / "program.py"), "--option"))
    assert sorted(found.names) == ["a", "b"] and sorted(found.members) == ["a"]
    monkeypatch.chdir(tmp_path)
    assert candidates_of_program(("-m", "package.three")).names >= {"b"}
    assert not candidates_of_program(("-m", "json")).names
    assert not candidates_of_program((os.fspath(tmp_path / "nothing.py"),)).members
