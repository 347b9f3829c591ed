"""The order among the events of an expression while they arrive, and what of it can be forgotten.

Here belongs the on-line form of `projection`. For every process the latest events of the expression in its
past are kept, and for each process the last one known; for an earlier event, the past that it had, since
somebody may still come to need it. Law of forgetting, where every process begins after an event of an earlier
one: what every process that can act knows, nobody has to be told again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from possibly.order.computation import Place
from possibly.order.growing.lines import Line, Step

FIRST_SWEEP = 256
"""Things kept at which those that nobody needs are looked for the first time."""


@dataclass(slots=True)
class Past:
    """The latest events of the expression in some past, and for each process the last one known."""

    frontier: tuple[int, ...] = ()
    clock: dict[int, int] = field(default_factory=dict)


class OnlinePasts:
    """The past of every process, and of every earlier event that somebody may still have to learn of."""

    def __init__(self) -> None:
        self._now: dict[int, Past] = {}
        self._marks: dict[int, tuple[list[int], list[Past]]] = {}
        """For each process the positions at which its past changed, with the past from there on."""
        self._owner: dict[int, int] = {}
        self.ended: set[int] = set()
        self._kept = 0
        self._sweep_at = FIRST_SWEEP

    def before(self, step: Step, more: Sequence[Place]) -> Past:
        """The past of a step, itself not included; `more` are places that come before it by rules."""
        if len(step) == 1 and not step[0].needs and not more:
            return self._now.get(step[0].process) or Past()
        found = Past()
        own = {line.place for line in step}
        for line in step:
            found = self._joined(found, self._now.get(line.process, Past()))
            for place in line.needs:
                if place not in own:
                    found = self._joined(found, self._at(place))
        for place in more:
            found = self._joined(found, self._at(place))
        return found

    def with_event(self, number: int, step: Step, past: Past) -> Past:
        """The past after a step that is an event of the expression."""
        owner = step[0].process
        self._owner[number] = owner
        return Past((number,), {**past.clock, owner: number})

    def after(self, step: Step, past: Past) -> None:
        for line in step:
            self._now[line.process] = past
            positions, pasts = self._marks.setdefault(line.process, ([], []))
            if not pasts or pasts[-1] is not past:
                positions.append(line.position)
                pasts.append(past)
                self._kept += 1
            if line.fields.get("kind") == "end":
                self.ended.add(line.process)

    def knows(self, line: Line) -> bool:
        """Whether a line that needs nothing and is no event of the expression changes nothing."""
        return line.process in self._now and line.fields.get("kind") != "end"

    def _at(self, place: Place) -> Past:
        positions, pasts = self._marks.get(place[0], ([], []))
        at = bisect_right(positions, place[1]) - 1
        # What was forgotten, everybody knows.
        return pasts[at] if at >= 0 else Past()

    def _joined(self, one: Past, two: Past) -> Past:
        if one is two or not two.clock:
            return one
        if not one.clock:
            return two
        if all(one.clock.get(process, -1) >= number for process, number in two.clock.items()):
            kept = tuple([n for n in one.frontier if n in two.frontier or self._is_new(n, two)])
            return one if kept == one.frontier else Past(kept, one.clock)
        kept_both = [n for n in one.frontier if n in two.frontier or self._is_new(n, two)]
        kept_both += [n for n in two.frontier if n not in one.frontier and self._is_new(n, one)]
        clock = dict(one.clock)
        for process, number in two.clock.items():
            clock[process] = max(number, clock.get(process, -1))
        return Past(tuple(sorted(kept_both)), clock)

    def _is_new(self, number: int, past: Past) -> bool:
        return past.clock.get(self._owner[number], -1) < number

    def owner(self, number: int) -> int:
        """The process of an event that somebody may still speak of."""
        return self._owner[number]

    def sweep(self, needed: Callable[[], set[int]]) -> set[int] | None:
        """Now and then: forgets what every process knows. Then the events still spoken of, else None."""
        if self._kept + len(self._owner) < self._sweep_at:
            return None
        acting = [past for process, past in self._now.items() if process not in self.ended]
        for process, (positions, pasts) in self._marks.items():
            # The newest past of a process stays: somebody may join it.
            first = next((at for at in range(len(pasts) - 1) if not _is_known(pasts[at], acting)), None)
            first = max(len(pasts) - 1, 0) if first is None else first
            self._marks[process] = positions[first:], pasts[first:]
        spoken = needed()
        for _, pasts in self._marks.values():
            for past in pasts:
                spoken.update(past.frontier)
                spoken.update(past.clock.values())
        self._owner = {number: owner for number, owner in self._owner.items() if number in spoken}
        self._kept = sum(len(pasts) for _, pasts in self._marks.values())
        self._sweep_at = max(FIRST_SWEEP, 2 * (self._kept + len(self._owner)))
        return spoken


def _is_known(past: Past, acting: Sequence[Past]) -> bool:
    return all(
        other.clock.get(process, -1) >= number for other in acting for process, number in past.clock.items()
    )
