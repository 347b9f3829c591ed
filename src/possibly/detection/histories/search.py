"""One part of a history: an order of its operations that the model allows, found by a search with a memory.

"Testing for linearizability" (Lowe), sections 3 and 4: the just-in-time form of Wing's and Gong's search
with a memory of configurations. Operations are put in order as late as possible, that is when one of them
returns. A configuration is the next return, the operations that overlap it and stand in the order already,
and the state.

Departures from it:
- An operation that never changes the state is put in order as soon as the state allows it: whatever follows
  is allowed as well.
- One whose return is unknown need not stand in the order. Of two configurations that differ in those alone,
  the one that used fewer can do whatever the other can, so the other is not entered. Of unknown operations
  that do the same, the first is used first. None is used only to be overwritten.
- A configuration in which a read can no longer get what it got is left at once (`lookahead`).

What is left is exponential in the operations that overlap, as the question is NP-hard.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from possibly.detection.histories.lookahead import Lookahead, Overlapping, Watch
from possibly.detection.histories.models import State
from possibly.detection.limits import Budget, LimitReachedError

Path = tuple[int, "Path"] | None
"""Operations in order, the last first."""
Configuration = tuple[int, int, int, State, Path]
"""The next return, operations in order that have not returned, unknown ones in order, state, order so far."""

NOTHING: frozenset[int] = frozenset()


class Effort:
    """Counts configurations and stops at the limits; `None` is no limit."""

    def __init__(self, most: int | None = None, timeout: float | None = None) -> None:
        self.configurations = 0
        self._most = most
        self._budget = Budget(timeout=timeout)

    def spend(self) -> None:
        self.configurations += 1
        self._budget.visit()
        if self._most is not None and self.configurations > self._most:
            raise LimitReachedError(f"more than {self._most:,} configurations; raise --max-states")


@dataclass(frozen=True, slots=True)
class Found:
    """What the search came to."""

    order: tuple[int, ...] | None
    """Operations in an order that the model allows; None if there is none."""
    stuck: int | None = None
    """If there is none: the operation whose return no order reaches, as the results of all others are."""
    state: State = None
    """After the order."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """A return, and what may be put in order before it."""

    operation: int
    bit: int
    pure: tuple[tuple[int, int], ...]
    """Operations that overlap it and change nothing, with their bits."""
    others: tuple[tuple[int, int], ...]
    """Those that do, the returning one first."""
    unknown: tuple[tuple[tuple[int, int], ...], ...]
    """Unknown ones that were called before, those that do the same together."""
    watches: tuple[Watch, ...]
    """Reads that must still be able to get what they got."""


class Search:
    """The orders of one part."""

    def __init__(self, operations: Sequence[Overlapping], initial: State, effort: Effort) -> None:
        self._initial = initial
        self._effort = effort
        self._steps = [each.move.step for each in operations]
        self._blind = frozenset(number for number, each in enumerate(operations) if each.move.blind)
        self._unknown = frozenset(number for number, each in enumerate(operations) if each.returned is None)
        self._moments = _moments(operations)
        self._entered: dict[Hashable, list[int]] = {}
        self._furthest = 0

    def found(self) -> Found:
        """An order, or where all of them end. Raises when the effort is spent."""
        stack: list[Configuration] = [(0, 0, 0, self._initial, None)]
        while stack:
            at, done, used, state, path = self._settled(*stack.pop())
            if at == len(self._moments):
                return Found(_in_order(path), state=state)
            self._furthest = max(self._furthest, at)
            if self._is_new(at, done, used, state):
                self._effort.spend()
                stack.extend(self._successors(at, done, used, state, path))
        return Found(None, self._moments[self._furthest].operation)

    def _settled(self, at: int, done: int, used: int, state: State, path: Path) -> Configuration:
        """As far as there is nothing to choose: past returns in order, with all that changes nothing."""
        while at < len(self._moments):
            moment = self._moments[at]
            for operation, bit in moment.pure:
                if not done & bit and self._steps[operation](state):
                    done |= bit
                    path = operation, path
            if not done & moment.bit:
                break
            done ^= moment.bit
            at += 1
        return at, done, used, state, path

    def _is_new(self, at: int, done: int, used: int, state: State) -> bool:
        """Nothing was entered that can do the same, and no read is lost."""
        if any(watch.is_lost(done, used, state) for watch in self._moments[at].watches):
            return False
        least = self._entered.setdefault((at, done, state), [])
        if any(known & used == known for known in least):
            return False
        least[:] = [known for known in least if known & used != used]
        least.append(used)
        return True

    def _successors(self, at: int, done: int, used: int, state: State, path: Path) -> Iterator[Configuration]:
        """The most promising last, since the stack gives it first: the operation that returns."""
        moment = self._moments[at]
        # What only an unknown operation did and nobody saw is not worth to be overwritten.
        useless = self._blind if path is not None and path[0] in self._unknown else NOTHING
        for alike in moment.unknown:
            following = next((each for each in alike if not used & each[1]), None)
            if following is not None and following[0] not in useless:
                operation, bit = following
                for after in self._steps[operation](state):
                    if after != state:
                        yield at, done, used | bit, after, (operation, path)
        for operation, bit in reversed(moment.others):
            if not done & bit and operation not in useless:
                for after in self._steps[operation](state):
                    yield at, done | bit, used, after, (operation, path)


def _in_order(path: Path) -> tuple[int, ...]:
    found = []
    while path is not None:
        operation, path = path
        found.append(operation)
    return tuple(reversed(found))


def _moments(operations: Sequence[Overlapping]) -> list[_Moment]:
    returns = sorted(
        (each.returned, number) for number, each in enumerate(operations) if each.returned is not None
    )
    calls = sorted(range(len(operations)), key=lambda number: operations[number].called)
    bits, ahead = _Bits(), Lookahead(operations)
    active: dict[int, int] = {}
    unknown: dict[Hashable, list[tuple[int, int]]] = {}
    found, following = [], 0
    for returned, number in returns:
        while following < len(calls) and operations[calls[following]].called < returned:
            _call(calls[following], operations[calls[following]], active, unknown, bits)
            following += 1
        watches = ahead.watches(returned, active, (pair for alike in unknown.values() for pair in alike))
        found.append(_moment(number, operations, active, unknown, watches))
        bits.free(active.pop(number))
    return found


class _Bits:
    """Bits for operations that overlap; one that has returned gives its bit back."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._count = 0

    def take(self) -> int:
        if self._free:
            return self._free.pop()
        self._count += 1
        return 1 << (self._count - 1)

    def free(self, bit: int) -> None:
        self._free.append(bit)


def _call(
    number: int,
    operation: Overlapping,
    active: dict[int, int],
    unknown: dict[Hashable, list[tuple[int, int]]],
    bits: _Bits,
) -> None:
    if operation.returned is not None:
        active[number] = bits.take()
    elif not operation.move.pure:
        mark = operation.move.like
        bit = 1 << sum(map(len, unknown.values()))
        unknown.setdefault(("one", number) if mark is None else mark, []).append((number, bit))


def _moment(
    number: int,
    operations: Sequence[Overlapping],
    active: dict[int, int],
    unknown: dict[Hashable, list[tuple[int, int]]],
    watches: tuple[Watch, ...],
) -> _Moment:
    pairs = sorted(active.items(), key=lambda pair: (pair[0] != number, operations[pair[0]].returned))
    pure = tuple(pair for pair in pairs if operations[pair[0]].move.pure)
    others = tuple(pair for pair in pairs if not operations[pair[0]].move.pure)
    return _Moment(number, active[number], pure, others, tuple(map(tuple, unknown.values())), watches)
