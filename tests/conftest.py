"""Hypothesis profiles: the usual one, and `soak` for `make soak` with many more cases; the markers `alone`
and `large`.

No deadline: the machines that run the tests are shared and noisy. Tests that are marked `alone` run in an
interpreter of their own: what is forked from a process in which many tests ran is not what users have. Those
that are marked `large`, or cases of them, take seconds and show what smaller ones show too.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.sampling import EXAMPLES, IS_SAMPLE, few

EXECUTING = frozenset(("control", "examples", "probes", "real", "recorder", "session", "views", "why"))

settings.register_profile(
    "usual", deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", settings.get_profile("usual"), max_examples=2_000)
settings.load_profile("usual")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("POSSIBLY_KERNELS") != "off" and (stale := _stale()):
        pytest.exit(f"{stale[0]} was changed after it was compiled: run make venv", 2)
    # Whoever starts the tests in the background has told them, and all they start, to ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "large(*cases): the test, or these cases of it, are left to the soak")
    config.addinivalue_line("markers", "alone: run the test in an interpreter of its own")


def _stale() -> list[Path]:
    """Native modules that are not what their source says; all of them are in one library."""
    control = Path(__file__).parents[1] / "src" / "possibly" / "control"
    built = max((each.stat().st_mtime for each in control.glob("native__mypyc*.so")), default=None)
    sources = (each.with_name(each.name.partition(".")[0] + ".py") for each in control.rglob("*.so"))
    return [each for each in sources if built and each.exists() and each.stat().st_mtime > built]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the normal run a test has a sample of its cases, and none that are marked `large`."""
    if not IS_SAMPLE:
        return
    cases: dict[str, list[str]] = {}
    for each in items:
        if not _is_large(each):
            cases.setdefault(_test(each), []).append(_case(each))
    chosen = {test: few(names, _executes(test)) for test, names in cases.items()}
    kept = [each for each in items if _case(each) in chosen.get(_test(each), ()) and not _is_large(each)]
    config.hook.pytest_deselected(items=[each for each in items if each not in set(kept)])
    items[:] = kept


def _test(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _case(item: pytest.Item) -> str:
    return item.callspec.id if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ""


def _is_large(item: pytest.Item) -> bool:
    """Whether the test is marked, or this case of it."""
    marks = list(item.iter_markers("large"))
    return any(not mark.args or _case(item) in mark.args for mark in marks)


def _executes(test: str) -> bool:
    """Whether it executes programs, which makes a case cost a third of a second or more."""
    return test.split("/")[1] in EXECUTING


def pytest_collection_finish() -> None:
    """What the tests themselves consist of is not looked through in every process that they fork."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if pyfuncitem.get_closest_marker("alone") is None or os.environ.get("POSSIBLY_ALONE"):
        return None
    alike = [each for each in pyfuncitem.session.items if each.path == pyfuncitem.path]
    told = _alone(tuple(each.nodeid for each in alike if each.get_closest_marker("alone")))
    if f"\n{pyfuncitem.nodeid} SKIPPED" in told:
        pytest.skip("skipped in an interpreter of its own")
    assert f"PASSED {pyfuncitem.nodeid}" in told.splitlines(), told
    return True


@cache
def _alone(tests: tuple[str, ...]) -> str:
    """What pytest says of the tests of a file that are marked, in one interpreter for all of them."""
    command = [sys.executable, "-m", "pytest", "-v", "-rA", "-p", "no:cacheprovider", "-p", "no:xdist"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        [*command, *tests],
        env={**environment, "POSSIBLY_ALONE": "1"},
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout
