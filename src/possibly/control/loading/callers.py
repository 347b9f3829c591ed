"""Functions of libraries that call what the program gave them: their calls are seen.

A target of a thread, the work of a pool or a callback need not be code of the program: `setattr`, or
`append` of a shared list. Whoever calls such a thing in the end gets sites at its calls, and at nothing else,
unless the program may also change where it finds what it calls (`thread.run`, `timer.args`).
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from possibly.control.runtime import sites
from possibly.probes.instructions.insert import Wanted, instrumented


def tell_of_calls(function: Any) -> None:
    """From now on whatever the function calls is told of, as if the program had called it."""
    if isinstance(function, FunctionType):
        wanted = Wanted(sites.site_maker("", ""), only_calls=True)
        function.__code__ = instrumented(function.__code__, wanted, False)


def tell_of_all(function: Any) -> None:
    """From now on whatever the function does is told of, as if it were the program's own."""
    wanted = Wanted(sites.site_maker("", ""))
    function.__code__ = instrumented(function.__code__, wanted, False)


def measure() -> None:
    """Lets sites learn what a new object looks like, by the way that instrumented code shows it."""
    site = sites.Site(sites.MEASURE, "", "", "", None)
    FunctionType(instrumented(_made.__code__, Wanted(lambda *_: site), False), globals())()


def _made() -> list[Any]:
    return list()  # noqa: C408 - the call is what is measured
