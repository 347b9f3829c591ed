"""The plugin for pytest: tests that run under every schedule, and tests that are recorded and checked.

    @pytest.mark.explore
    def test_two_deposits(): ...

    @pytest.mark.explore(seconds=30)
    async def test_a_server(): ...

    @pytest.mark.record(races=True)
    def test_once(): ...

An explored test is called in processes of its own, one for each execution, fixtures of its own scope with it.
It passes if every schedule is covered and none fails. The failure tells the schedule in source lines and the
command that shows it again. Here are the hooks; `views/testing` does the work and is imported when a test is
marked.
"""

from __future__ import annotations

import inspect
from collections.abc import Generator
from typing import Any

import pytest

EXPLORE, RECORD = "explore", "record"


def pytest_addoption(parser: pytest.Parser) -> None:
    from possibly.views.testing.options import add_options

    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "explore(seconds=None, executions=None, jobs=1, seed=0, scheduler='dpor', preemptions=2, include=(), "
        "exclude=(), trust=(), within=(), split=False, faults=(), at_most=1, open='fail'): run the test "
        "under every schedule of its threads and tasks",
    )
    config.addinivalue_line(
        "markers",
        "record(spec=None, watch=(), calls=(), races=False, ctl=(), ltl=(), tl=(), expect=(), never=()): "
        "record the test and check the run in every order it could have had",
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """A marked test gets another setup and another call, whatever kind of test it is."""
    explore, record = item.get_closest_marker(EXPLORE), item.get_closest_marker(RECORD)
    marked: Any = item
    if explore is not None:
        from possibly.views.testing.explored import ExploredTest
        from possibly.views.testing.inside import prepare

        test = ExploredTest(item, explore)
        marked.setup = lambda: prepare(item)
        marked.teardown = test.debuggers.come_back
        marked.runtest = test.run
    elif record is not None:
        from possibly.views.testing.recorded import run_recorded

        runtest = item.runtest
        marked.runtest = lambda: run_recorded(item, record, runtest)


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A marked coroutine function that no plugin for asynchronous tests has taken is called here."""
    if pyfuncitem.get_closest_marker(EXPLORE) is None and pyfuncitem.get_closest_marker(RECORD) is None:
        return None
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    from possibly.views.testing.inside import call_coroutine

    call_coroutine(pyfuncitem)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Fixtures of a wider scope that start a thread are remembered."""
    if fixturedef.scope == "function":
        return (yield)
    from possibly.views.testing.fixtures import OWNERS, threads_alive

    before = threads_alive()
    try:
        return (yield)
    finally:
        if threads_alive() - before:
            OWNERS.add(fixturedef)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """What replays have to say beside their outcome."""
    if config.getoption("--possibly-replay"):
        from possibly.views.testing.explored import NOTES

        for note in config.stash.get(NOTES, []):
            terminalreporter.write_line(note)
