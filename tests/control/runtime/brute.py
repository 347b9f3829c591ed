"""All schedules of a program, one by one: what every search is compared with.

Every access to memory is a choice point, nothing is left out, and the search goes back and takes the next
choice at each step. So it is exponential, and right by construction. Only starting, ending and joining
threads is done as soon as it can be: the programs compared here do nothing else in their first thread. And
variables that are assigned once, before any thread runs, are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from possibly.control.execution import Choice, Execution, Operation, Step, Task
from possibly.control.forking.zygote import script
from possibly.control.runtime.memory import EVERYTHING
from possibly.control.schedulers.dpor import Dpor

Result = tuple[str, str, bytes]
"""How an execution ended, what went wrong, and what it printed."""


CONSTANT = tuple(
    "L M R E S Q C O a d o log threads t F I N G job account up State checked twice locked stats".split()
)
FREE = ("start", "end", "join", "exit")


def at_once(enabled: tuple[Task, ...], pending: dict[Task, Operation]) -> Task | None:
    return next((task for task in enabled if task == "0" or pending[task].kind in FREE), None)


@dataclass
class Prefix:
    """Follows the given choices, then takes the first task."""

    tasks: tuple[Task, ...]

    def choose(self, choice: Choice) -> Task | None:
        if choice.number < len(self.tasks):
            return self.tasks[choice.number]
        return at_once(choice.enabled, choice.pending) or choice.enabled[0]

    def done(self, step: Step) -> None:
        pass


def result_of(execution: Execution) -> Result:
    failure = execution.failure or {}
    return execution.outcome.value, str(failure.get("kind", "")), execution.output


def brute_force(path: Path, most: int, slack: float = 1.0, memory: bool = True) -> set[Result] | None:
    """The results of all schedules; None if there are more than `most`.

    Without `memory` only operations are choice points: for programs whose tasks share nothing else.
    """
    found: set[Result] = set()
    with script((str(path),), ignored=frozenset(CONSTANT), slack=slack) as program:
        program.visible = {EVERYTHING} if memory else set()
        prefix: list[Task] = []
        for _ in range(most):
            execution = program.execute(Prefix(tuple(prefix)))
            if program.grown and not memory:  # more is a choice point now: all begins anew
                prefix = []
                found.clear()
                continue
            assert execution.schedule[: len(prefix)] == tuple(prefix)
            found.add(result_of(execution))
            following = _next(execution)
            if following is None:
                return found
            prefix = following
    return None


def _next(execution: Execution) -> list[Task] | None:
    """The next choices in order: the last step that had a later alternative takes it."""
    for number in range(len(execution.steps) - 1, -1, -1):
        step = execution.steps[number]
        if at_once(step.enabled, step.pending):
            continue
        later = step.enabled[step.enabled.index(step.task) + 1 :]
        if later:
            return [*execution.schedule[:number], later[0]]
    return None


def reduced(path: Path, most: int = 2000, slack: float = 1.0) -> tuple[set[Result], int]:
    """The results of the executions that the reduction keeps, and how many there are."""
    found: set[Result] = set()
    count = 0
    with script((str(path),), slack=slack) as program:
        explorer = Dpor()
        while (plan := explorer.plan()) is not None:
            execution = program.execute(plan)
            count += 1
            assert count <= most
            assert not execution.uncontrolled
            if program.grown and (count > 1 or program.repeat):
                explorer = Dpor()
                if program.repeat:
                    continue
                explorer.plan()
            explorer.learn(execution)
            if execution.outcome.value != "cut off":
                found.add(result_of(execution))
    return found, count
