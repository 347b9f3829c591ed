"""Graphs of places that are walked and not stored: each place is entered once, and knows the way to it.

A walk is deep first. `following` gives the places one step on; the one to be entered first comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from possibly.detection.limits import LOOK_EVERY, Budget

P = TypeVar("P", bound=Hashable)


class Graph(Generic[P]):
    """The places that a walk has entered; at most `most`."""

    def __init__(self, budget: Budget, most: int) -> None:
        self._budget = budget
        self._most = most
        self._ways: dict[P, tuple[int, P | None]] = {}
        """The last step to a place, and the place before it; None at the start."""
        self.is_complete = True
        """Whether a walk that found nothing has entered every place."""

    def found(
        self,
        starts: Iterable[P],
        following: Callable[[P], Iterable[tuple[int, P]]],
        is_wanted: Callable[[P], bool],
    ) -> P | None:
        """The first place that is wanted."""
        pending: list[tuple[int, P, P | None]] = [(0, start, None) for start in starts]
        while pending:
            step, place, before = pending.pop()
            if place in self._ways:
                continue
            self._ways[place] = step, before
            if is_wanted(place):
                return place
            if len(self._ways) >= self._most:
                self.is_complete = False
                return None
            if len(self._ways) % LOOK_EVERY == 0:
                self._budget.look()
            pending += [(step, after, place) for step, after in following(place)]
        return None

    def steps_to(self, place: P) -> list[int]:
        """How the walk came there."""
        steps: list[int] = []
        step, before = self._ways[place]
        while before is not None:
            steps.append(step)
            step, before = self._ways[before]
        return steps[::-1]
