"""The import hook finds the user's own modules, with or without their source, and no others."""

from __future__ import annotations

import py_compile
import sys
from pathlib import Path
from types import CodeType

import pytest

from possibly.probes.patching import Patches
from possibly.probes.watching.imports import Finder, SourcelessLoader, SourceLoader, put_first, take_away

seen: list[str] = []


def instrument(code: CodeType, file: str, module: str) -> CodeType:
    seen.append(module)
    return code


def test_modules_of_the_user_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_source.py").write_text("x = 1\n")
    (tmp_path / "own_compiled.py").write_text("x = 2\n")
    py_compile.compile(str(tmp_path / "own_compiled.py"), cfile=str(tmp_path / "own_compiled.pyc"))
    (tmp_path / "own_compiled.py").unlink()
    finder = Finder(Patches(), instrument)
    kinds = {name: finder.find_spec(name, None) for name in ("own_source", "own_compiled", "json", "nowhere")}
    assert type(getattr(kinds["own_source"], "loader", None)) is SourceLoader
    assert type(getattr(kinds["own_compiled"], "loader", None)) is SourcelessLoader
    assert kinds["json"] is None and kinds["nowhere"] is None
    seen.clear()
    put_first(finder)
    try:
        values = [__import__(name).x for name in ("own_source", "own_compiled")]
    finally:
        take_away(finder)
        for name in ("own_source", "own_compiled"):
            sys.modules.pop(name, None)
    assert values == [1, 2] and seen == ["own_source", "own_compiled"]
    take_away(finder)


def test_without_an_instrument_code_is_what_it_was(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n")
    loader = Finder(Patches()).loader("plain", str(tmp_path / "plain.py"))
    code = loader.get_code("plain")
    assert code.co_code == compile("x = 1\n", "plain.py", "exec").co_code
