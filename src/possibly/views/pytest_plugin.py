"""A marker for pytest: a test that runs under every schedule.

    @pytest.mark.explore
    def test_two_deposits(): ...

    @pytest.mark.explore(executions=500, scheduler="pct")
    async def test_a_server(): ...

The test function is called by itself in processes of its own, one for each execution, with its fixtures as
they are in this process. It fails if some schedule fails, and the report tells that schedule in source
lines. It also fails if the search cannot be completed and no limit was asked for: then `open` says why.
"""

from __future__ import annotations

from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "explore(executions=None, seconds=None, scheduler='dpor', preemptions=2, seed=0): "
        "run the test under every schedule of its threads and tasks",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    marker = pyfuncitem.get_closest_marker("explore")
    if marker is None:
        return None
    _explore(pyfuncitem, dict(marker.kwargs))
    return True


def _explore(item: pytest.Function, options: dict[str, Any]) -> None:
    import possibly

    names = item._fixtureinfo.argnames
    given = {name: item.funcargs[name] for name in names}
    function = item.obj

    found = possibly.explore(lambda: function(**given), **options)
    if found.failure is not None:
        pytest.fail(found.explain(), pytrace=False)
    limited = {"executions", "seconds"} & options.keys() or options.get("scheduler", "dpor") != "dpor"
    if not found.complete and not limited:
        pytest.fail(f"not every schedule is covered: {'; '.join(found.open)}", pytrace=False)
