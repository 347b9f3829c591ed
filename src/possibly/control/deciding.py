"""Which order decides: the pairs of steps of a failing execution that, done the other way round, do not fail.

Theory of operation. Only steps that depend on each other and are not ordered by anything else could have been
done the other way round: its races (`schedulers.dpor`). Each of these is turned round, the last one first,
with all that does not follow from its first step kept before it; the program is executed in that order and
then as it likes. If it does not fail alike, the order of the two decides. What was not tried is not told.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.control.causality import Causality, members
from possibly.control.execution import Execution, Outcome, Program, Task
from possibly.control.minimise import decisive, fails_alike
from possibly.control.schedulers.course import Course

BUDGET = 8
"""So many pairs are turned round at most."""


def deciding(program: Program, execution: Execution, budget: int = BUDGET) -> Iterator[tuple[int, int]]:
    """The pairs of steps, by their numbers, in the order in which they are found out."""
    same = fails_alike(execution)
    order = Causality(decisive(execution))
    for first, then in list(_races(order))[:budget]:
        turned = turned_round(order, first, then)
        other = program.execute(Course(turned))
        if other.outcome is Outcome.DIVERGED or other.schedule[: len(turned)] != turned:
            continue  # nothing but this order is possible
        if not same(other):
            yield first, then


def _races(order: Causality) -> Iterator[tuple[int, int]]:
    for then in range(order.size - 1, -1, -1):
        for first in sorted(members(order.direct[then] & ~order.own[then]), reverse=True):
            if order.steps[first].task != order.steps[then].task:
                yield first, then


def turned_round(order: Causality, first: int, then: int) -> tuple[Task, ...]:
    """The tasks of a schedule in which the later of two steps comes before the other."""
    after = order.future[first]
    kept = [number for number in range(then) if number < first or not after >> number & 1]
    return (*(order.steps[number].task for number in kept), order.steps[then].task)
