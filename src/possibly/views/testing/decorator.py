"""`possibly.explored`: a function, or a method of a `unittest.TestCase`, that runs under every schedule.

    class TestBank(unittest.TestCase):
        @possibly.explored(seconds=30)
        def test_two_deposits(self): ...

It raises an AssertionError with the failing schedule; a search that decided nothing raises one too, or warns.
"""

from __future__ import annotations

import functools
import unittest
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, overload

from possibly.errors import UsageError

Function = TypeVar("Function", bound=Callable[..., Any])
FAIL, WARN = "fail", "warn"
SKIPS = ("SkipTest", "Skipped")


@overload
def explored(function: Function, /) -> Function: ...
@overload
def explored(*, open: str = FAIL, **options: Any) -> Callable[[Function], Function]: ...
def explored(function: Any = None, /, *, open: str = FAIL, **options: Any) -> Any:  # noqa: A002
    """Runs what it decorates under every schedule whenever that is called; options as for `explore`."""
    if open not in (FAIL, WARN):
        raise UsageError(f"an open verdict is a failure or a warning, not {open!r}", hint="fail, warn")
    if function is None:
        return lambda found: explored_by(found, open, options)
    return explored_by(function, open, options)


def explored_by(function: Callable[..., Any], when_open: str, options: dict[str, Any]) -> Callable[..., None]:
    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> None:
        _explore(function, given, named, when_open, options)

    return called


def _explore(
    function: Callable[..., Any],
    given: tuple[Any, ...],
    named: dict[str, Any],
    when_open: str,
    options: dict[str, Any],
) -> None:
    from possibly.views.api import explore

    found = explore(functools.partial(function, **named) if named else function, *given, **options)
    if found.failure is not None:
        if found.failure.details.get("type") in SKIPS:
            raise unittest.SkipTest(found.failure.message.partition(": ")[2])
        raise AssertionError(f"\n{found.explain()}")
    if found.holds is None:
        text = f"undecided after {found.executions:,} executions: {'; '.join(map(str, found.open))}"
        if when_open == FAIL:
            raise AssertionError(text)
        warnings.warn(text, stacklevel=3)
