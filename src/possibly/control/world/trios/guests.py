"""Runs of trio that another loop drives, tick by tick (`start_guest_run`).

Trio's ticks come when the loop of the host finds time for them, and that is nobody's choice here: such a run
leaves the search open. The one that tests meet is under control: anyio's plugin for pytest drives trio from a
plain queue, so that nothing happens but ticks until a fixture or the test is done. Here it is driven as
`trio.run` drives itself, and stands still in between (`Run.is_paused`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.world.trios.known import runs
from possibly.control.world.trios.runs import pause


class Driver:
    """One run of trio that goes on for as long as somebody waits for it."""

    def __init__(self, main: Any, options: dict[str, Any]) -> None:
        core: Any = sys.modules["trio._core._run"]
        strict = options.get("strict_exception_groups", True)
        restrict = options.get("restrict_keyboard_interrupt_to_checkpoints", False)
        self._runner = core.setup_runner(
            options.get("clock"), options.get("instruments", ()), restrict, strict
        )
        self._ticks = core.unrolled_run(self._runner, main, ())
        self._timeout: float | None = None
        self.is_over = False

    def go_on_until(self, is_done: Callable[[], bool]) -> None:
        while not is_done() and not self.is_over:
            self._tick()
        pause(self._runner)

    def _tick(self) -> None:
        run = runs.get(self._runner)
        if run is not None:
            run.is_paused = False
        events = None if self._timeout is None else self._runner.io_manager.get_events(self._timeout)
        try:
            self._timeout = self._ticks.send(events)
        except StopIteration:
            self.is_over = True
            outcome = self._runner.main_task_outcome
            self._runner.main_task_outcome = None
            outcome.unwrap()


def _call_in_runner_task(plain: Any) -> Any:
    def call_in_runner_task(self: Any, function: Any, /, *given: Any, **options: Any) -> Any:
        if running.kernel is None:
            return plain(self, function, *given, **options)
        if self._send_stream is None:
            self._driver = Driver(self._run_tests_and_fixtures, self._options)
            self._driver.go_on_until(lambda: self._send_stream is not None)
        outcomes: list[Any] = []
        self._send_stream.send_nowait((function(*given, **options), outcomes))
        self._driver.go_on_until(lambda: bool(outcomes))
        return outcomes[0].unwrap()

    return call_in_runner_task


def _exit(plain: Any) -> Any:
    def leave(self: Any, *error: Any) -> Any:
        driver = getattr(self, "_driver", None)
        if driver is None:
            return plain(self, *error)
        if self._send_stream is not None:
            self._send_stream.close()
            driver.go_on_until(lambda: False)
            self._send_stream = None
        return None

    return leave


def install(patches: Any) -> None:
    """When anyio's part for trio has been imported."""
    runner: Any = sys.modules["anyio._backends._trio"].TestRunner
    patches.put(runner, "_call_in_runner_task", _call_in_runner_task(runner._call_in_runner_task))
    patches.put(runner, "__exit__", _exit(runner.__exit__))
