"""Why an execution fails, found by executing the program in other orders and not by guessing.

`Cause` is the answer: the pairs of moments whose order decides, what would have to happen without others in
between, from which step on nothing helps any more, and the passing execution that is nearest. What was not
tried is not told.

- `atomic`: the fewest moments of one task that would have to happen without others in between
- `nearby`: executions near a given one
- `returning`: the point of no return
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from possibly.control.execution import Execution, Operation, Task, Thing
from possibly.control.naming import Sort, is_of_a_type, sort_of


class Moment(NamedTuple):
    """A step of an execution, or what a task was about to do when it ended."""

    number: int | None
    """Of the step; None: it was never done."""
    task: Task
    operation: Operation


class Pair(NamedTuple):
    """Two moments in conflict: with the second before the first the program does not fail."""

    first: Moment
    then: Moment
    other: Execution
    """The one that shows it."""

    @property
    def thing(self) -> Thing | None:
        """What the two meet for: memory of the program rather than what is around it."""
        mine = {access.thing: access.writes for access in self.first.operation.footprint}
        then = self.then.operation.footprint
        shared = [each.thing for each in then if each.thing in mine and (each.writes or mine[each.thing])]
        memory = (thing for thing in shared if sort_of(thing) is Sort.MEMORY and not is_of_a_type(thing))
        own = self.then.operation.thing
        is_common = own in shared or own == self.first.operation.thing
        return next(memory, own if is_common else shared[0] if shared else None)


class Atomic(NamedTuple):
    """Moments of one task: if nobody comes in between, the program does not fail."""

    first: Moment
    last: Moment
    between: tuple[int, ...]
    """The steps of others that came in between and that both depend on."""


class NoReturn(NamedTuple):
    """From here on every schedule fails."""

    step: int
    """So many steps are done; 0: the program fails in every schedule."""
    executions: int
    """That were needed to know it."""
    is_exact: bool
    """Every schedule was covered; else none of those that were executed passes."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a failing execution fails, as far as other orders were tried."""

    pairs: tuple[Pair, ...] = ()
    atomic: Atomic | None = None
    in_turn: tuple[Task, Task] | None = None
    """If the first of these has come to its end before the second begins, the program does not fail."""
    no_return: NoReturn | None = None
    passing: Execution | None = None
    """An execution that does not fail and is as near as any that was tried."""
    tried: int = 0
    """Executions that were needed to know which pairs decide."""
    is_freer: bool = False
    """Only in orders that the event loop does not take by itself does it pass."""
    is_beyond: bool = False
    """In no order that the event loop takes by itself does it fail."""
