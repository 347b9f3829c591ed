"""A whole history: an order for each of its parts, or the shortest prefix that cannot be linearised.

A prefix of a history is a history in which operations that have not returned yet may have happened or not,
with any result; every prefix of a linearizable history is linearizable. The search of a part says at which
return all orders end, but it knew the results of operations that return later. So the prefix that ends
there is searched by itself, and if it can be linearised, a later one is found by bisection.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace

from possibly.detection.histories.lookahead import Overlapping
from possibly.detection.histories.models import Model
from possibly.detection.histories.parts import Parts, parts_of
from possibly.detection.histories.search import Effort, Found, Search
from possibly.detection.limits import LimitReachedError
from possibly.trace.histories.model import History, Operation, Outcome, Value
from possibly.verdict.histories import Linearized, Prefix


class Linearizer:
    """Answers for one history and one model."""

    def __init__(self, model: Model, effort: Effort) -> None:
        self._model = model
        self._effort = effort
        self._orders: dict[Value, tuple[Operation, ...]] = {}
        self._prefix: Prefix | None = None
        self._reason: str | None = None

    def answer(self, parts: Parts) -> Linearized:
        for key in sorted(parts, key=lambda key: len(parts[key])):
            try:
                self._look_at(key, parts[key])
            except LimitReachedError as error:
                self._reason = self._reason or str(error)
        holds = False if self._prefix else None if self._reason else True
        reason = None if self._prefix else self._reason
        return Linearized(
            holds, self._orders, self._prefix, self._effort.configurations, reason, self._reason is None
        )

    def _look_at(self, key: Value, operations: Sequence[Operation]) -> None:
        """One part; if a prefix was found elsewhere, only as far as to make a shorter one."""
        if self._prefix is not None:
            operations = _prefix_of(operations, self._prefix.length - 1)
        found = self._searched(operations)
        if found.order is not None:
            self._orders[key] = tuple(operations[number] for number in found.order)
        elif found.stuck is not None:
            self._prefix = self._shortest(key, operations, operations[found.stuck])

    def _searched(self, operations: Sequence[Operation]) -> Found:
        moves = [(number, each, self._model.move(each)) for number, each in enumerate(operations)]
        known = [(number, each, move) for number, each, move in moves if move is not None]
        overlapping = [Overlapping(each.called, each.returned, move) for _, each, move in known]
        found = Search(overlapping, self._model.initial, self._effort).found()
        numbers = [number for number, _, _ in known]
        return replace(
            found,
            order=None if found.order is None else tuple(numbers[each] for each in found.order),
            stuck=None if found.stuck is None else numbers[found.stuck],
        )

    def _shortest(self, key: Value, operations: Sequence[Operation], stuck: Operation) -> Prefix:
        """The shortest prefix of this part: it ends with the first return out of reach, or later."""
        ends = sorted(each.returned for each in operations if each.returned is not None)
        ends = ends[bisect_left(ends, stuck.returned or 0) :]

        def has_order(place: int) -> bool:
            return self._searched(_prefix_of(operations, ends[place] + 1)).order is not None

        end = ends[_first_without(len(ends), has_order)]
        before = self._searched(_prefix_of(operations, end))
        return Prefix(
            key,
            tuple(each for each in operations if each.called < end),
            end + 1,
            next(each for each in operations if each.returned == end),
            tuple(operations[number] for number in before.order or ()),
            before.state,
        )


def _first_without(count: int, has_order: Callable[[int], bool]) -> int:
    """The first place without an order: all later ones have none either, and the last is known to."""
    low, high, width = -1, 0, 1
    while has_order(high):
        low, high, width = high, min(high + width, count - 1), 2 * width
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if has_order(middle) else (low, middle)
    return high


def _prefix_of(operations: Sequence[Operation], length: int) -> list[Operation]:
    """What is known of the operations after so many calls and returns."""
    return [
        each if each.returned is not None and each.returned < length else _pending(each)
        for each in operations
        if each.called < length
    ]


def _pending(operation: Operation) -> Operation:
    return replace(operation, outcome=Outcome.UNKNOWN, result=None, returned=None, error=None)


def linearized(
    history: History,
    model: Model,
    effort: Effort | None = None,
    key: Callable[[Operation], Value] | None = None,
) -> Linearized:
    """Whether the history is one of that object."""
    return Linearizer(model, effort or Effort()).answer(parts_of(history, model, key))
