"""A route: choices to follow, then a run that looks at each state and takes what is still to be tried there.

The route lives in the process that runs the program. It tells the digest of every state that it comes to
behind its prefix; where that is a state of which the explorer knows a choice that nobody has made, it makes
this choice, so that one execution tries many.
"""

from __future__ import annotations

from typing import Any

from possibly.control.execution import Choice, Operation, Seen, Step, Task, Thing
from possibly.control.joining.state import Looker
from possibly.control.schedulers.course import ancestry

Wishes = dict[bytes, tuple[Task, ...]]
"""Of states, by their digests: tasks whose step from there is still to be tried."""


class Route:
    """A scheduler for one execution of a joining explorer."""

    def __init__(
        self,
        number: int = 0,
        prefix: tuple[Task, ...] = (),
        wishes: Wishes | None = None,
        shared: frozenset[Thing] = frozenset(),
    ) -> None:
        self.number = number
        self.prefix = prefix
        self.wishes: Wishes = wishes or {}
        self.shared = shared
        self._states: list[bytes | None] = []
        self._looker = Looker(shared)

    def __reduce__(self) -> tuple[Any, ...]:
        return Route, (self.number, self.prefix, self.wishes, self.shared)

    @property
    def seen(self) -> Seen:
        """What is told of the execution besides its steps."""
        touched = {thing: list(found) for thing, found in self._looker.touched.items()}
        return Seen(self.number, tuple(self._states), touched)

    def choose(self, choice: Choice) -> Task | None:
        number, enabled = choice.number, choice.enabled
        if number < len(self.prefix):
            self._looker.note()
            self._states.append(UNSEEN)
            return self.prefix[number] if self.prefix[number] in enabled else None
        ranked = sorted((_rank(choice.pending[task]), ancestry(task), task) for task in enabled)
        if len(enabled) == 1 or ranked[0][0] < LAST:
            self._looker.note()
            self._states.append(UNSEEN)
            return ranked[0][2]
        state = self._looker.look()
        self._states.append(state)
        if state is not None:
            for task in self.wishes.pop(state, ()):
                if task in enabled:
                    return task
        return ranked[0][2]

    def done(self, step: Step) -> None:
        self._looker.done(step)


UNSEEN = b""
"""Of a state that was not looked at."""
RANKS = {"end": 0, "join": 0, "exit": 0, "release": 1, "give": 1, "start": 2}
"""What hardly ever is in a race is done as soon as it can be: so different ways come to equal states, and it
is worth to look only where nobody is about to do such a thing."""
LAST = 3


def _rank(operation: Operation) -> int:
    return RANKS.get(operation.kind, LAST)
