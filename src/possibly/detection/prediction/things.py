"""Semaphores and queues of a recorded run: how many units, how much room, and who gives what.

How many units a semaphore has, and how many places a queue, is read off the order: acquire n + k takes the
unit of release k, and put n + k the place of get k. A primitive of which the run does not show it keeps the
recorded order of all that was done with it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from possibly.trace.model import NONE, Trace

ACQUIRE, RELEASE = "acquire", "release"
SEND, RECEIVE = "send", "receive"


class Kinds:
    """The kinds of the events of a trace, as texts."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def __getitem__(self, event: int) -> str:
        return self.trace.strings[self.trace.kind[event]]

    def of(self, events: Sequence[int]) -> list[str]:
        return [self[event] for event in events]

    def split(self, events: Sequence[int], kind: str) -> Acts:
        return Acts(self.trace, [event for event in events if self[event] == kind])


class Acts:
    """Events of one kind, by process, so that those inside a cut are counted quickly."""

    def __init__(self, trace: Trace, events: Sequence[int]) -> None:
        self.events = tuple(events)
        self.positions: dict[int, list[int]] = defaultdict(list)
        for event in events:
            self.positions[trace.process[event]].append(trace.position[event])

    def inside(self, cut: Sequence[int]) -> int:
        """How many are in a cut."""
        return sum(bisect_right(places, cut[process]) for process, places in self.positions.items())

    def left(self, cut: Sequence[int]) -> dict[int, int]:
        """The processes that have more of them to do, each with the position of the next."""
        found = {}
        for process, places in self.positions.items():
            done = bisect_right(places, cut[process])
            if done < len(places):
                found[process] = places[done]
        return found


@dataclass(frozen=True, slots=True)
class Semaphore:
    units: int
    signals: bool
    """Whether somebody gave a unit that he had not taken."""
    releases: Acts


@dataclass(frozen=True, slots=True)
class Queue:
    room: int | None
    """None: it never fills."""
    sends: Acts
    receives: Acts


def units_of(kinds: Kinds, events: Sequence[int]) -> int | None:
    """The units that a semaphore begins with; None if it is none, or if the run does not show it."""
    if not set(kinds.of(events)) <= {ACQUIRE, RELEASE}:
        return None
    acquires, releases = (kinds.split(events, kind).events for kind in (ACQUIRE, RELEASE))
    return _lag(kinds.trace, acquires, releases)


def _lag(trace: Trace, takers: Sequence[int], givers: Sequence[int]) -> int | None:
    """The n for which taker n + k comes after giver k, for all k; None if there is none."""
    number_of = {event: number for number, event in enumerate(givers)}
    lags = {
        number - number_of[earlier]
        for number, taker in enumerate(takers)
        for earlier in trace.after(taker)
        if earlier in number_of
    }
    if len(lags) != 1 or (found := lags.pop()) < 0:
        return None
    pairs = zip(givers, takers[found:], strict=False)
    is_so = all(
        giver < taker and (trace.process[giver] == trace.process[taker] or giver in trace.after(taker))
        for giver, taker in pairs
    )
    return found if is_so and len(takers) - found <= len(givers) else None


def queue_of(kinds: Kinds, events: Sequence[int], waits: Callable[[int], bool]) -> Queue | None:
    """The queue, if it is one whose items leave it as they came, and nobody only looks or tries."""
    trace = kinds.trace
    if not set(kinds.of(events)) <= {SEND, RECEIVE} or not all(map(waits, events)):
        return None
    sends, receives = kinds.split(events, SEND), kinds.split(events, RECEIVE)
    taken = dict(zip(trace.delivery_receive, trace.delivery_send, strict=True))
    if [taken.get(event, NONE) for event in receives.events] != list(sends.events[: len(receives.events)]):
        return None
    room = _lag(trace, sends.events, receives.events)
    if room is None and any(set(trace.after(event)) & set(receives.events) for event in sends.events):
        return None  # places were used in some other way
    return Queue(room, sends, receives)
