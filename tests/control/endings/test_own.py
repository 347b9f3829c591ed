"""An error of possibly itself is never told as the program's exception."""

from __future__ import annotations

import linecache
import queue
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from possibly.control import causality
from possibly.control.endings.failures import failure_of
from possibly.control.endings.own import error_of_ours
from possibly.control.execution import Access
from possibly.probes import port
from possibly.views.cli.main import main

FILE = f"{port._OWN}control/models/imaginary.py"
OURS = {
    "an assertion": "assert thing is None",
    "a name": "return undefined",
    "a name that has no value yet": "return late\n    late = 1",
    "an attribute of None": "return None.task",
    "an attribute of an object of ours": "return ours.missing",
    "a table of the module": "return TABLE[thing]",
    "a table of an object of ours": "return ours.thing[9]",
    "a function of ours that is called in another way": "return helper(thing, thing)",
    "a class of ours that is called in another way": "return Made()",
    "nothing where something should be": "return ours.nothing + 1",
    "nothing that is looked into": "if ours.nothing[0]:\n        return 1",
}
"""What goes wrong in a function of ours."""
ON_BEHALF = {
    "as the standard library does": "raise ValueError('released too often')",
    "an object of the program": "return thing.missing",
    "a container of the program": "return thing[9]",
    "a call": "return int(thing)",
    "a call of the program's function that does not fit": "return thing.failing(1)",
    "a function that was given": "return given(1)",
    "nothing that was given to be called": "return ours.nothing()",
    "nothing that the program gave": "return given + thing.nothing",
    "nothing that an object of ours keeps for the program": "return ours.nothing + thing.nothing",
    "what the program's method raises": "return thing.failing()",
    "what it raises while we have caught something": (
        "try:\n        return TABLE[thing]\n    except KeyError:\n        return thing.failing()"
    ),
}


class Ours:
    """As an object of ours."""

    __module__ = "possibly.control.models.imaginary"
    nothing = None
    thing = "x"


class Thing:
    nothing = None

    def __getitem__(self, key: Any) -> Any:
        return {}[key]

    def failing(self) -> None:
        raise AssertionError("of the program")


def raised(
    body: str, handle: Callable[[BaseException], BaseException] = lambda error: error
) -> BaseException:
    """What the program gets from a function of ours with this body."""
    head = "TABLE = {}\ndef helper(thing): pass\nclass Made:\n    def __init__(self, a): pass\n"
    source = f"{head}def model(thing, ours, given):\n    {body}\n"
    linecache.cache[FILE] = len(source), None, source.splitlines(keepends=True), FILE
    space: dict[str, Any] = {"__name__": Ours.__module__}
    exec(compile(source, FILE, "exec"), space)  # noqa: S102
    ours = Access("x", True) if "missing" in body or "thing[9]" in body else Ours()
    try:
        space["model"](Thing(), ours, lambda: None)
    except Exception as error:  # noqa: BLE001
        return handle(error)
    raise RuntimeError("nothing went wrong")


@pytest.mark.parametrize("body", OURS)
def test_what_is_about_our_own_data_is_ours(body: str) -> None:
    told = failure_of(raised(OURS[body]), "0")
    assert told["kind"] == "internal" and told["place"].startswith("tests/control/endings/test_own.py:")
    assert "an error of possibly itself" in told["message"] and "models/imaginary.py:" in told["message"]
    assert "imaginary.py" in told["traceback"]


@pytest.mark.parametrize("body", ON_BEHALF)
def test_what_is_done_for_the_program_is_the_programs(body: str) -> None:
    assert failure_of(raised(ON_BEHALF[body]), "0")["kind"] in ("exception", "assertion")


@pytest.mark.skipif(not causality.__file__.endswith(".so"), reason="nothing is compiled")
def test_what_goes_wrong_in_a_compiled_module_is_ours() -> None:
    """It tells its file relative to where it was built, and nothing of its variables."""
    wrong: Any = None
    with pytest.raises(TypeError) as found:
        causality.Causality(wrong)
    told = error_of_ours(found.value)
    assert told is not None and "control/causality.py:" in told


def chained(error: BaseException) -> BaseException:
    try:
        raise queue.Empty from error
    except queue.Empty as found:
        return found


def test_what_the_program_makes_of_it_is_ours_too() -> None:
    assert error_of_ours(raised(OURS["a name"], chained)) is not None
    assert error_of_ours(BaseExceptionGroup("group", [raised(OURS["a name"])])) is not None
    assert error_of_ours(raised(ON_BEHALF["a call"], chained)) is None


PROGRAM = f"""
import threading
lock = threading.Lock()
space = {{}}
exec(compile("def model(): assert False", {FILE!r}, "exec"), space)
def work():
    with lock:
        space["model"]()
thread = threading.Thread(target=work)
thread.start()
thread.join()
lock.acquire()
assert not lock.acquire(blocking=False), "nothing counts after an error of ours"
lock.acquire()
"""


def test_the_verdict_is_unknown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    assert main(["explore", str(tmp_path / "program.py")]) == 3
    said = capfd.readouterr().out
    assert "left open by an error of possibly itself: AssertionError" in said and "program.py:8" in said
    assert "what helps: please report it" in said and "deadlock" not in said
