"""`possibly.linearizable` and inputs for `possibly.explore`: drawn, tried on every schedule, told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from possibly.errors import UsageError

if TYPE_CHECKING:
    from possibly.session.exploring.exploration import Exploration
    from possibly.session.exploring.inputs import Inputs
    from possibly.session.exploring.objects import Scenario
    from possibly.session.why.failure import Failure


class Linearizable:
    """What the scenarios of an object showed."""

    def __init__(self, found: Inputs[Exploration]) -> None:
        failing, undecided = found.failing, found.undecided
        told = failing or undecided
        self.holds: bool | None = False if failing else None if undecided else True
        """True if every schedule of every scenario that was tried is explained, None if one was left open."""
        self.scenarios: int = found.count
        self.scenario: Scenario | None = None if told is None else told.input
        """The smallest that fails, or the first that was left open: for each thread its calls."""
        self.failure: Failure | None = None if failing is None else failing.answer.failure
        self.open: tuple[str, ...] = () if failing or undecided is None else tuple(undecided.answer.open)
        self._answer = None if told is None else told.answer

    def explain(self) -> str:
        """The scenario, its results and its schedule."""
        if self._answer is None:
            return f"linearizable in all schedules of {self.scenarios} scenarios"
        from possibly.views.text.exploration import report

        return "\n".join([*_lines(self.scenario or ()), *report(self._answer, "the scenario", None)])

    def __repr__(self) -> str:
        word = {True: "linearizable", False: "not linearizable", None: "undecided"}[self.holds]
        return f"<{word}, {self.scenarios} scenarios>"


def _lines(scenario: Scenario) -> list[str]:
    return [
        f"thread {number}: {'; '.join(map(str, calls))}" for number, calls in enumerate(scenario, start=1)
    ]


def linearizable(
    make: Callable[[], Any],
    operations: Sequence[Any],
    *,
    threads: int = 2,
    calls: int = 2,
    examples: int = 30,
    executions: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
) -> Linearizable:
    """Calls the operations of an object from several threads, in every schedule, and looks for an order.

    `make` is a class or a function that gives a new object; an operation is the name of a method, or a name
    with a value or a Hypothesis strategy for each argument. Each scenario has up to `calls` calls a thread.
    The object used by one thread alone says which results are right, so it must not block there.
    """
    from possibly.session.exploring.exploration import Options
    from possibly.session.exploring.explore import explore as explored
    from possibly.session.exploring.inputs import tried
    from possibly.session.exploring.objects import Run, check_operations, scenarios, sequential
    from possibly.session.exploring.programs import function_program

    if threads < 1 or calls < 1:
        raise UsageError("a scenario has at least one thread and one call")
    check_operations(make(), operations)
    options = Options("dpor", executions, seconds, seed=seed)

    def answer(scenario: Scenario) -> Exploration:
        allowed = sequential(make, scenario)

        def run() -> None:
            Run(make, scenario, allowed).go()

        with function_program(run, seed=seed) as program:
            return explored(program, options)

    found = tried(scenarios(operations, threads, calls), answer, lambda each: each.holds, examples, seed)
    return Linearizable(found)


def explored_inputs(
    given: Sequence[Any], explored: Callable[[Sequence[Any]], Any], examples: int, seed: int
) -> Any:
    """The `views.api.Explored` of the smallest input that fails, of the first left open, or of the last."""
    from hypothesis import strategies as st

    from possibly.session.exploring.inputs import is_strategy, tried

    drawn = st.tuples(*[each if is_strategy(each) else st.just(each) for each in given])
    last: list[Any] = []

    def answer(arguments: tuple[Any, ...]) -> Any:
        last[:] = [explored(arguments)]
        last[0].inputs = arguments
        return last[0]

    found = tried(drawn, answer, lambda each: each.holds, examples, seed)
    told = found.failing or found.undecided
    return last[0] if told is None else told.answer
