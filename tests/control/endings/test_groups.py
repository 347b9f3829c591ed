"""A group of exceptions is told by what went wrong first: the user's line, not that of who hands it on."""

from __future__ import annotations

from possibly.control.endings.failures import failure_of
from possibly.probes.port import given_name


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as found:  # noqa: BLE001 - also what ends a program
        return found


def test_the_first_of_a_group_is_told_with_the_traceback_of_all() -> None:
    first = raised(AssertionError("stock"))
    inner = BaseExceptionGroup("inner", [first, raised(KeyError("k"))])
    told = failure_of(raised(BaseExceptionGroup("outer", [inner])), "0")
    assert (told["kind"], told["type"], told["message"]) == (
        "assertion", "AssertionError", "AssertionError: stock"
    )  # fmt: skip
    assert "KeyError" in told["traceback"] and "outer" in told["traceback"]


def test_a_function_inside_another_gives_its_own_name() -> None:
    names = {"main.<locals>.work": "work", "worker 1": "worker 1", "odd.<locals>.": "odd.<locals>."}
    assert {each: given_name(each) for each in names} == names
