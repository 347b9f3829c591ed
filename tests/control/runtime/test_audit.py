"""Whatever plain Python shows to change something meets, under control, whoever looks at it.

Every method, attribute and operator of objects in C is tried on a plain object, and what it changes is
found out there; then one execution tells what each of them touches. A sample of the objects in `audited/`,
all of them if POSSIBLY_CASES asks for more.
"""

from __future__ import annotations

import os
import sys
import types
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from possibly.control.runtime import known_calls
from tests.control.runtime.audit import Fact, facts, missed

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
OBJECTS = [
    line.replace("\\n", "\n")
    for line in (Path(__file__).parent / "audited" / "objects.txt").read_text(encoding="utf-8").splitlines()
]
CHOSEN = [
    each for each in OBJECTS if CASES > 1 or any(word in each for word in ("partial", "flags", "range(5)"))
]
OF_EACH = 6
"""So many ways to look are compared with each change."""
EXCEPTIONS = {
    "o.detach()": "a second one only finds that there was a first",
    "o.deserialize('a')": "a whole database is put in the place of another one",
}
"""Changes that are not told of, and why."""


def a_few(found: list[Fact]) -> Iterator[Fact]:
    counts: dict[str, int] = {}
    for each in found:
        counts[each.change] = counts.get(each.change, 0) + 1
        if counts[each.change] <= OF_EACH and each.change not in EXCEPTIONS:
            yield each


@pytest.mark.parametrize("setup", CHOSEN)
def test_who_looks_meets_who_changes(setup: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = list(a_few(facts(setup)))
    assert found
    assert missed(found, tmp_path / "program.py") == []


def functions_of(name: str) -> set[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some are to go
            module = import_module(name)
    except ImportError:
        return set()
    return {each for each, held in vars(module).items() if isinstance(held, types.BuiltinFunctionType)}


SETTING = (
    "set",
    "register",
    "unregister",
    "enable",
    "disable",
    "start",
    "stop",
    "clear",
    "reset",
    "freeze",
    "unfreeze",
)
"""So begin the names of functions that change a state."""
OTHERWISE = {
    "each thread has its own": (
        "set_asyncgen_hooks set_coroutine_origin_tracking_depth setprofile settrace setcontext "
        "set_errno _set_running_loop _setprofileallthreads _settraceallthreads"
    ),
    "it is modelled": (
        "set_sentinel _set_sentinel start_new start_new_thread _start_new_thread "
        "start_joinable_thread _start_joinable_thread register unregister _register_task _unregister_task "
        "_register_eager_task _unregister_eager_task _clear setitimer set_wakeup_fd"
    ),
    "what it sets is given to it": (
        "setattr setitem __setitem__ _set_factories set_conversion_mode setxattr setns"
    ),
    "caches": (
        "_clear_type_cache _clear_internal_caches _clear_type_descriptors _clearcache "
        "_reset_caches _reset_registry"
    ),
    "a program that changes who it is asks nobody": (
        "setegid seteuid setgid setgroups setpgid setregid setresgid setresuid setreuid setsid "
        "setuid setpgrp sethostname register_at_fork"
    ),
}
"""Such functions of modules without a state, and why they change none."""


def test_modules_without_a_state_have_no_function_that_sets_one() -> None:
    known = {name for _, name in known_calls.PROCESS_STATE}
    known |= {name for names in OTHERWISE.values() for name in names.split()}
    found: dict[str, set[str]] = {}
    for module in sorted(known_calls.WITHOUT_STATE & set(sys.stdlib_module_names)):
        setting = {each for each in functions_of(module) if each.lstrip("_").startswith(SETTING)}
        found |= {module: setting - known} if setting - known else {}
    assert found == {}
