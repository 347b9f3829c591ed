"""A failing schedule made simple: as few context switches as possible, and still the same failure.

Theory of operation. Only what happened before the failing step matters; of a deadlock or livelock, all. First
the steps are reordered within their trace: such an execution is equivalent, so it fails as well, and it has
the fewest switches that any order of these steps has. A task that has the turn keeps it as long as it can:
taking a step of it earlier never makes another one impossible. So a state is how far each task is, and a
search by breadth over who has the next turn finds the fewest turns; if there are too many states, the
furthest-reaching task has it. Then executions with fewer preemptions are tried that need not be equivalent:
all of them in the order of their number, as far as the budget goes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from possibly.control.causality import Causality, members
from possibly.control.execution import Execution, Outcome, Program, Step, Task
from possibly.control.schedulers.bounded import Bounded, preemptions
from possibly.control.schedulers.course import Course

STATES = 20_000
"""So many states are searched for the fewest turns; then a greedy order has to do."""
BAD = (Outcome.FAILED, Outcome.DEADLOCK, Outcome.LIVELOCK)

Same = Callable[[Execution], bool]


def switches(steps: tuple[Step, ...]) -> int:
    """How often another task goes on."""
    return sum(one.task != other.task for one, other in pairwise(steps))


def decisive(execution: Execution) -> tuple[Step, ...]:
    """The steps up to the failing one; all, if it is their end that fails."""
    failed_at = (execution.failure or {}).get("step")
    return execution.steps[:failed_at] if isinstance(failed_at, int) else execution.steps


def cost(execution: Execution) -> tuple[int, int, int]:
    """What is minimised: preemptions, switches, steps, all up to the failure."""
    steps = decisive(execution)
    return preemptions(steps), switches(steps), len(steps)


def fails_alike(execution: Execution) -> Same:
    """Whether another execution shows the same kind of failure at the same place."""
    failure = execution.failure or {}

    def same(other: Execution) -> bool:
        told = other.failure or {}
        return other.outcome is execution.outcome and all(
            told.get(key) == failure.get(key) for key in ("kind", "place", "type")
        )

    return same


def minimised(
    program: Program, execution: Execution, budget: int = 200, same: Same | None = None
) -> Execution:
    """The simplest failing execution found; the given one if there is none simpler."""
    same = same or fails_alike(execution)
    best = _tried(program, execution, same)
    fewer = cost(best)[0] - 1
    if fewer < 0:
        return best
    explorer = Bounded(fewer)
    for _ in range(budget):
        if (plan := explorer.plan()) is None:
            break
        other = program.execute(plan)
        if same(other):
            # It has the fewest preemptions that any failing execution has: they come in that order.
            return min(best, _tried(program, other, same), key=cost)
        explorer.learn(other)
    return best


def _tried(program: Program, execution: Execution, same: Same) -> Execution:
    """The execution or its reordering, whichever is simpler."""
    schedule = fewest_turns(execution)
    if schedule == execution.schedule[: len(schedule)]:
        return execution
    other = program.execute(Course(schedule))
    return min(execution, other, key=cost) if same(other) else execution


def fewest_turns(execution: Execution, needed: int | None = None) -> tuple[Task, ...]:
    """The tasks of the decisive steps in an equivalent order with the fewest turns, or of those `needed`."""
    steps = decisive(execution)
    if not steps:  # it fails before the first
        return ()
    order = Causality(steps)
    if needed is None:
        needed = order.past[-1] if len(steps) < len(execution.steps) else (1 << len(steps)) - 1
    turns = _breadth_first(order, needed) or _greedy(order, needed)
    return tuple(task for task, count in turns for _ in range(count))


_Turns = list[tuple[Task, int]]


def _turn(order: Causality, needed: int, done: int, task: Task) -> int:
    """What is done when a task has gone as far as it can alone."""
    for number in members(order.of_task[task] & needed & ~done):
        if order.past[number] & needed & ~done & ~(1 << number):
            break
        done |= 1 << number
    return done


def _breadth_first(order: Causality, needed: int) -> _Turns | None:
    tasks = [task for task, mask in order.of_task.items() if mask & needed]
    origin: dict[int, tuple[int, Task] | None] = {0: None}
    frontier = [0]
    while needed not in origin:
        reached: list[int] = []
        for done in frontier:
            for task in tasks:
                after = _turn(order, needed, done, task)
                if after not in origin:
                    origin[after] = (done, task)
                    reached.append(after)
        if len(origin) > STATES or not reached:
            return None
        frontier = reached
    turns: _Turns = []
    state = needed
    while (came := origin[state]) is not None:
        turns.append((came[1], (state ^ came[0]).bit_count()))
        state = came[0]
    turns.reverse()
    return turns


def _greedy(order: Causality, needed: int) -> _Turns:
    turns: _Turns = []
    done = 0
    while done != needed:
        reached = {task: _turn(order, needed, done, task) for task in order.of_task}
        task = max(reached, key=lambda each: (reached[each] ^ done).bit_count())
        turns.append((task, (reached[task] ^ done).bit_count()))
        done = reached[task]
    return turns
