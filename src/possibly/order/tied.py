"""Events that a slice ties together, in an order in which they can be executed.

Here belong the strongly connected components of what events need (Tarjan, "Depth-first search and linear
graph algorithms", 1972), without recursion. Adding a component to a cut of the slice is the smallest step
that stays inside the slice (thesis, section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from possibly.order.computation import Cut, Place


def components(start: Cut, end: Cut, needs: Iterable[tuple[Place, Place]]) -> Iterator[list[Place]]:
    """The events in `end` and not in `start`, in groups; a group comes after all that it needs."""
    after: dict[Place, list[Place]] = {}
    for f, e in needs:
        after.setdefault(f, []).append(e)
    search = _Search(start, after)
    for process, count in enumerate(end):
        if count > start[process]:
            yield from search.run((process, count))


class _Search:
    def __init__(self, start: Cut, after: dict[Place, list[Place]]) -> None:
        self.start = start
        self.after = after
        self.index: dict[Place, int] = {}
        self.low: dict[Place, int] = {}
        self.open: list[Place] = []
        self.is_open: set[Place] = set()

    def _needed(self, place: Place) -> Iterator[Place]:
        process, count = place
        if count - 1 > self.start[process]:
            yield process, count - 1
        yield from self.after.get(place, ())

    def _enter(self, place: Place) -> tuple[Place, Iterator[Place]]:
        self.index[place] = self.low[place] = len(self.index)
        self.open.append(place)
        self.is_open.add(place)
        return place, self._needed(place)

    def run(self, root: Place) -> Iterator[list[Place]]:
        stack = [self._enter(root)] if root not in self.index else []
        while stack:
            place, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    self.low[above] = min(self.low[above], self.low[place])
                if self.low[place] == self.index[place]:
                    yield self._close(place)
            elif following not in self.index:
                stack.append(self._enter(following))
            elif following in self.is_open:
                self.low[place] = min(self.low[place], self.index[following])

    def _close(self, place: Place) -> list[Place]:
        group: list[Place] = []
        while not group or group[-1] != place:
            group.append(self.open.pop())
        self.is_open.difference_update(group)
        return group
