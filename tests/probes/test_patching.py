"""What is put in when a module is imported is put in however that module came."""

from __future__ import annotations

import sys
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
