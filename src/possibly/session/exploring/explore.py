"""Exploring a program: executions under control, one after another, until one fails or all are covered.

The verdict says what was covered. `complete` is true only if the explorer has nothing left, it is one that
covers everything, and nothing happened outside control; otherwise `open` says what leaves it open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from possibly.control.execution import Explorer
from possibly.control.forking.zygote import ControlledProgram
from possibly.session.exploring.checks import Check
from possibly.session.exploring.exploration import Exploration, Options, Progress
from possibly.session.exploring.search import Search

USUAL = Options()


def explore(
    program: ControlledProgram,
    options: Options = USUAL,
    looks_wrong: Check | None = None,
    progress: Progress | None = None,
    make: Callable[[], Explorer] | None = None,
) -> Exploration:
    """Runs the program until something fails, nothing is left, or a limit is hit.

    `make` gives an explorer other than that of the options. Schedules with the fewest faults come first.
    """
    most = program.options.get("at_most", 0)
    found = Exploration()
    for count in range(most + 1):
        if most:
            program.options["at_most"] = count
        found = _after(found, Search(program, _left_of(options, found), looks_wrong, progress, make).run())
        if not found.complete:
            break
    return found


def _left_of(options: Options, found: Exploration) -> Options:
    """The limits that are left for a search after another."""
    executions = options.executions and max(options.executions - found.executions, 1)
    seconds = options.seconds and max(options.seconds - found.seconds, 0.1)
    return replace(options, executions=executions, seconds=seconds)


def _after(before: Exploration, found: Exploration) -> Exploration:
    """Of two searches the later one, with what both took."""
    found.executions += before.executions
    found.steps += before.steps
    found.restarts += before.restarts
    found.seconds += before.seconds
    return found
