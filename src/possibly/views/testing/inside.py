"""What one execution of a test does: its fixtures, the test, the fixtures' end, all of it under control.

The test runs as pytest would run it, with every plugin that has a say in that (asyncio, anyio, unittest).
Before the executions only fixtures of a wider scope are set up, once (`fixtures` tells the exceptions).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import pytest

from possibly.session.exploring.programs import name_values
from possibly.views.testing.fixtures import forget_what_died, wider

SKIPPED, EXPECTED = "TestWasSkipped", "TestWasExpectedToFail"
"""Types by which an execution says that it did not fail."""

NO_FAILURES = (pytest.skip.Exception, pytest.xfail.Exception)
OUTCOMES = (*NO_FAILURES, pytest.fail.Exception)


class TestWasSkipped(Exception):
    """`pytest.skip` in a test."""

    __test__ = False


class TestWasExpectedToFail(Exception):
    """`pytest.xfail` in a test."""

    __test__ = False


@dataclass(frozen=True, slots=True)
class Parts:
    """What pytest does with a test, put aside to happen in each execution."""

    setup: Callable[[], None]
    runtest: Callable[[], None]
    teardown: Callable[[], None]


def prepare(item: Any) -> None:
    """Instead of the usual setup of the test: what outlives it."""
    values_of(item)


def values_of(item: Any) -> dict[str, Any]:
    """The values of the fixtures that outlive the test, which are set up if they are not yet."""
    return {name: item._request.getfixturevalue(name) for name in wider(item)}


def execution_of(item: Any, parts: Parts) -> Callable[[], None]:
    """The function that is called in each execution."""
    known = (
        item.obj,
        values_of(item),
    )  # what may be reached from there is modelled: see `control.forking.function`

    def execution() -> None:
        assert known
        try:
            _executed(item, parts)
        except pytest.skip.Exception as skipped:
            raise TestWasSkipped(skipped.msg) from None
        except pytest.xfail.Exception as expected:
            raise TestWasExpectedToFail(expected.msg) from None
        except BaseException as error:  # noqa: BLE001 - it goes on, with another traceback
            raise error.with_traceback(_from_file(error.__traceback__, str(item.path)))  # noqa: B904

    return execution


def _executed(item: Any, parts: Parts) -> None:
    stack = item.session._setupstate.stack
    known = {node: len(finalizers) for node, (finalizers, _) in stack.items()}
    if hasattr(item, "_initrequest"):
        item._initrequest()
    forget_what_died(item)
    errors: list[BaseException] = []
    try:
        with _put_aside(errors), _parts_reported(item, errors):
            parts.setup()
            name_values(getattr(item, "funcargs", {}))
            parts.runtest()
            _raise_unittest(item)
    finally:
        for node in reversed(list(stack)):
            finalizers = stack[node][0]
            while len(finalizers) > known.get(node, 0):
                with _put_aside(errors):
                    finalizers.pop()()
        with _put_aside(errors):
            parts.teardown()
    _raise_first(errors)


@contextmanager
def _parts_reported(item: Any, errors: list[BaseException]) -> Iterator[None]:
    """Parts of a test (`subtests`, `subTest`) report that they failed, and the test goes on."""
    hooks, made = item.ihook, list[BaseException]()
    make, log = hooks.pytest_runtest_makereport, hooks.pytest_runtest_logreport

    def makereport(**given: Any) -> Any:
        if given["call"].excinfo is not None:
            made.append(given["call"].excinfo.value)
        return make(**given)

    def logreport(*, report: Any) -> None:
        if report.failed:
            errors.extend(made[-1:])

    hooks.pytest_runtest_makereport, hooks.pytest_runtest_logreport = makereport, logreport
    try:
        yield
    finally:
        hooks.pytest_runtest_makereport, hooks.pytest_runtest_logreport = make, log


@contextmanager
def _put_aside(errors: list[BaseException]) -> Iterator[None]:
    """What fails here does not keep the fixtures from their teardown, as in pytest."""
    try:
        yield
    except (Exception, *OUTCOMES) as error:  # noqa: BLE001 - it is raised in the end
        errors.append(error)


def _raise_first(errors: list[BaseException]) -> None:
    """The failure that came first: that of the test before those of its fixtures; a skip counts last."""
    failures = [each for each in errors if not isinstance(each, NO_FAILURES)]
    for error in (*failures, *errors):
        raise error


def _raise_unittest(item: Any) -> None:
    """A `TestCase` reports its failure instead of raising it."""
    for found in getattr(item, "_excinfo", None) or ():
        raise found.value


def _from_file(trace: TracebackType | None, file: str) -> TracebackType | None:
    """The traceback from the first line of that file on, without the frames of pytest above it."""
    found = trace
    while found is not None and found.tb_frame.f_code.co_filename != file:
        found = found.tb_next
    return trace if found is None else found


def call_coroutine(item: Any) -> None:
    """Calls a test that is a coroutine function, where no other plugin does."""
    names = item._fixtureinfo.argnames
    asyncio.run(item.obj(**{name: item.funcargs[name] for name in names}))
