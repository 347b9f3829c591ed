"""The order in which a part of a run is executed, so that those who wait come to wait.

A thread may stop anywhere, so the events of a closed part come in the order of the run. A task of an event
loop that comes to a request goes on at once if it finds what it wants. So its last turn is put off until the
others have done all that they do, and such turns are tried in every order. That is a way only if each event
still comes after all that it needs and each read reads what it read, if locks are taken in the order of the
run, and if the loop could have done so: of two tasks that are ready the one goes on that was ready first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, permutations

from possibly.detection.prediction.closure import Closure, Required
from possibly.detection.prediction.wants import Wants
from possibly.trace.turns import Turn
from possibly.verdict.deadlocks import Want

MOST_ORDERS = 120
"""Orders of the last turns that are tried."""


class Ways:
    """Ways to closed parts of one run."""

    def __init__(self, order: Required, wants: Wants) -> None:
        self._order = order
        self._wants = wants
        self._trace = order.trace
        self._seen_writes = _seen_writes(order) if order.turns else {}

    def to(self, closure: Closure, wants: Sequence[Want], requests: Sequence[int]) -> list[int] | None:
        """All events inside, such that each request finds nothing when it is made; None: there is no way."""
        events = list(closure.events())
        halted = {
            turn: (want, request)
            for want, request in zip(wants, requests, strict=True)
            if (turn := self._halted(request)) is not None
        }
        if not halted:
            return events
        last = {turn: [each for each in events if self._order.turns.of(each) is turn] for turn in halted}
        put_off = {each for turn in last.values() for each in turn}
        others = [each for each in events if each not in put_off]
        for turns in islice(permutations(last), MOST_ORDERS):
            order = [*others, *(each for turn in turns for each in last[turn])]
            if self._is_fair(order, turns) and self._is_way(order, {last[t][-1]: halted[t] for t in turns}):
                return order
        return None

    def _halted(self, request: int) -> Turn | None:
        """The turn that ends in waiting for it."""
        done = self._order.turns.asked(request)
        mine = self._trace.events_of[self._trace.process[request]]
        return self._order.turns.of(mine[done - 1]) if done else None

    def _is_way(self, order: Sequence[int], stops: dict[int, tuple[Want, int]]) -> bool:
        """`stops`: the last event of a turn, with what is wanted then, and by which event."""
        trace, state = self._trace, _State(self._order)
        for event in order:
            if not state.may(event) or state.seen(event) != self._seen_writes.get(event, []):
                return False
            state.execute(event)
            if event in stops:
                want, request = stops[event]
                section = self._order.sections.of_acquire.get(request)
                if section is not None and want.is_lock:
                    if state.holder.get(section.lock, trace.process[event]) == trace.process[event]:
                        return False
                elif self._wants.still_given(want, request, state.cut) is None:
                    return False
        return True

    def _is_fair(self, order: Sequence[int], put_off: Sequence[Turn]) -> bool:
        """Whether no turn was put off behind one that was surely ready later."""
        place = {event: number for number, event in enumerate(order)}
        for turn in put_off:
            if turn.ready is None:
                continue
            ready, begun = place.get(turn.ready, -1), place[self._event(turn)]
            for other in self._between(order, ready, begun):
                if other.loop == turn.loop and place.get(other.earliest, -1) > ready:
                    return False
        return True

    def _between(self, order: Sequence[int], start: int, end: int) -> Iterator[Turn]:
        """The turns that begin there."""
        for event in order[start + 1 : end]:
            turn = self._order.turns.of(event)
            if turn is not None and self._event(turn) == event:
                yield turn

    def _event(self, turn: Turn) -> int:
        return self._trace.events_of[turn.process][turn.first - 1]


class _State:
    """What has been executed."""

    def __init__(self, order: Required) -> None:
        self._order = order
        self._trace = order.trace
        self.cut = [0] * len(order.trace.processes)
        self.holder: dict[int, int] = {}
        """Lock -> the process that has it."""
        self._newest: dict[int, int] = {}
        self._written: dict[str, int] = {}
        self._ends = {each.release: each for each in order.sections.of_acquire.values()}

    def may(self, event: int) -> bool:
        trace = self._trace
        section = self._order.sections.of_acquire.get(event)
        if section is not None and (
            section.lock in self.holder or self._newest.get(section.lock, -1) > section.acquire
        ):
            return False
        is_next = self.cut[trace.process[event]] == trace.position[event] - 1
        return is_next and all(
            trace.position[each] <= self.cut[trace.process[each]] for each in self._order.before(event)
        )

    def seen(self, event: int) -> list[int | None]:
        """The writes that its reads see."""
        return [self._written.get(variable) for variable in self._trace.reads(event)]

    def execute(self, event: int) -> None:
        self.cut[self._trace.process[event]] += 1
        self._written.update((variable, event) for variable, _ in self._trace.writes(event))
        section = self._order.sections.of_acquire.get(event)
        if section is not None:
            self.holder[section.lock] = self._trace.process[event]
            self._newest[section.lock] = event
        elif event in self._ends:
            self.holder.pop(self._ends[event].lock, None)


def _seen_writes(order: Required) -> dict[int, list[int | None]]:
    """For each event that reads: the writes that it saw in the run."""
    written: dict[str, int] = {}
    found: dict[int, list[int | None]] = {}
    for event in range(len(order.trace)):
        reads = [written.get(variable) for variable in order.trace.reads(event)]
        if reads:
            found[event] = reads
        written.update((variable, event) for variable, _ in order.trace.writes(event))
    return found
