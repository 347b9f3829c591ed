"""What is put in when a module is imported is put in however that module came."""

from __future__ import annotations

import sys
import time
import types

import pytest

from possibly.probes.patching import Patches


def test_what_waits_for_a_module_that_another_installation_brought_is_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patches, told = Patches(), []
    patches.when_imported("late_module", lambda _: told.append("late"))

    def brings(_: Patches) -> None:
        monkeypatch.setitem(sys.modules, "late_module", types.ModuleType("late_module"))
        told.append("early")

    patches.when_imported("sys", brings)
    patches.catch_up()
    patches.catch_up()
    assert told == ["early", "late"]


@pytest.mark.parametrize(("name", "given"), [("time", ()), ("localtime", (0,)), ("sleep", (0,))])
def test_what_stands_for_a_function_in_c_is_no_method_of_a_class_that_keeps_it(
    name: str, given: tuple[int, ...]
) -> None:
    patches = Patches()
    plain = getattr(time, name)
    patches.put(time, name, lambda *given: plain(*given))
    try:
        kept = type("Kept", (), {"function": getattr(time, name)})
        kept().function(*given)
        assert getattr(time, name).__name__ == name
    finally:
        patches.undo()
    assert getattr(time, name) is plain


def test_what_stands_for_a_function_of_python_is_a_method_as_that_was() -> None:
    module = types.ModuleType("module")
    module.function = lambda given: given  # type: ignore[attr-defined]
    Patches().put(module, "function", lambda given: (given,))
    kept = type("Kept", (), {"function": module.function})()
    assert kept.function() == (kept,)
