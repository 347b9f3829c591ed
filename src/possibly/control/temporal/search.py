"""Searches for temporal steps that can be left and taken up again.

A search is a generator: it yields a `Path` for each step found, and None now and then so that whoever
drives it can show progress or stop. A search that nobody drives on stays where it is; that is all it takes
to resume it "after other temporal steps were exercised and backtracked" ("Temporal debugging for concurrent
systems", section 4). What it needs is on its own stack, in `visited` here, and nowhere else.

`DepthFirst` is DFS_min and DFS_max of section 5 as printed, with an explicit stack. With a bound a pair is
entered again if it is reached by a shorter way: else the bound would hide steps behind pairs that were
first met too deep. `BreadthFirst` finds the shortest steps first. `memoryless` has a file of its own.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from possibly.control.temporal.options import Options
from possibly.control.temporal.product import Pair, Product
from possibly.control.temporal.system import Move, State

PAUSE_EVERY = 512
"""Pairs between two pauses."""


class Path(NamedTuple):
    """A temporal step that was found."""

    moves: tuple[Move, ...]
    states: tuple[State, ...]
    """One more than moves."""
    loop: int | None = None
    """The search has seen that a way leads from this state of the path back to it: so there are arbitrarily
    long steps."""
    is_guess: bool = False
    """It was met by chance: there may be shorter ones."""


class Search:
    """What every search tells about itself."""

    visited = 0
    """Pairs entered so far."""
    was_cut = False
    """The bound has cut off some way: where nothing was found, a longer step may still exist."""
    has_loop = False
    """Some way leads back to a pair on it."""

    def paths(self) -> Iterator[Path | None]:
        raise NotImplementedError


class _Frame:
    __slots__ = ("accepting", "loops", "move", "pair", "rest")

    def __init__(
        self, move: Move | None, pair: Pair, accepting: bool, rest: Iterator[tuple[Move, Pair]]
    ) -> None:
        self.move = move
        self.pair = pair
        self.accepting = accepting
        self.rest = rest
        self.loops = False
        """A way leads from here back to here."""


class DepthFirst(Search):
    """DFS_min, or DFS_max if `maximal`."""

    def __init__(self, product: Product, options: Options) -> None:
        self.product = product
        self.maximal = options.size == "max"
        self.bound = options.bound
        self.every = options.all_paths
        self._stack: list[_Frame] = []
        self._depths: dict[Pair, int] = {}
        """The least depth at which each pair was entered."""
        self._on_stack: dict[Pair, int] = {}

    def paths(self) -> Iterator[Path | None]:
        for root in self.product.roots():
            if self._is_new(root, 1):
                yield from self._from(root)

    def _from(self, root: Pair) -> Iterator[Path | None]:
        saved_size = 0
        self._enter(None, root)
        fresh = True
        while self._stack:
            frame, size = self._stack[-1], len(self._stack)
            if fresh and frame.accepting:
                if self.maximal:
                    saved_size = size
                else:
                    yield self._report()
                    self._leave()
                    fresh = False
                    continue
            following = self._following(frame, size)
            if following is not None:
                self._enter(*following)
                fresh = True
                if self.visited % PAUSE_EVERY == 0:
                    yield None
                continue
            fresh = False
            if self.maximal and frame.accepting and saved_size == size:
                yield self._report()
            self._leave()

    def _following(self, frame: _Frame, size: int) -> tuple[Move, Pair] | None:
        """The next pair that is new to the search."""
        for move, pair in frame.rest:
            at = self._on_stack.get(pair)
            if at is not None:
                self._stack[at].loops = self.has_loop = True
            if self._is_new(pair, size + 1):
                return move, pair
        return None

    def _is_new(self, pair: Pair, size: int) -> bool:
        if pair in self._on_stack:
            return False
        known = None if self.every else self._depths.get(pair)
        if known is not None and (self.bound is None or known <= size):
            return False
        if self.bound is not None and size > self.bound:
            self.was_cut = True
            return False
        return True

    def _enter(self, move: Move | None, pair: Pair) -> None:
        self.visited += 1
        self._on_stack[pair] = len(self._stack)
        self._stack.append(_Frame(move, pair, self.product.is_accepting(pair), self.product.successors(pair)))
        if not self.every:
            self._depths[pair] = len(self._stack)

    def _leave(self) -> None:
        del self._on_stack[self._stack.pop().pair]

    def _report(self) -> Path:
        moves = tuple([frame.move for frame in self._stack if frame.move is not None])
        loop = next((number for number, frame in enumerate(self._stack) if frame.loops), None)
        return Path(moves, tuple([frame.pair[0] for frame in self._stack]), loop)


class BreadthFirst(Search):
    """Shortest steps first. A pair is three entries in columns, so that memory is that of the states."""

    def __init__(self, product: Product, options: Options) -> None:
        self.product = product
        self.bound = options.bound
        self.every = options.all_paths
        self._pause: int = getattr(product.system, "pause_every", PAUSE_EVERY)
        self.goes_on = options.size == "each"
        """A step that was reported is continued too."""
        self._states: list[State] = []
        self._readers = array("I")
        self._parents = array("Q")
        """One more than the number of the pair before; 0: none."""
        self._seen: list[set[State]] = []
        """The system states met with each automaton state."""

    def paths(self) -> Iterator[Path | None]:
        for state, reader in self.product.roots():
            self._add(state, reader, 0)
        level_end, size = len(self._states), 1
        number = 0
        while number < len(self._states):
            if number == level_end:
                level_end, size = len(self._states), size + 1
            if self.product.automaton.is_accepting(self._readers[number]):
                yield self._report(number)
                if self.goes_on:
                    self._expand_within(number, size)
            else:
                self._expand_within(number, size)
            number += 1
            if number % self._pause == 0:
                yield None

    def _expand_within(self, number: int, size: int) -> None:
        if self.bound is not None and size >= self.bound:
            self.was_cut = True
        else:
            self._expand(number)

    def _expand(self, number: int) -> None:
        state, reader = self._states[number], self._readers[number]
        advance, valuations = self.product.automaton.advance, self.product.valuations
        for _, after in self.product.system.successors(state):
            for reading in advance(reader, valuations(after)):
                if self.every:
                    if not self._is_on_way(number, after, reading):
                        self._add(after, reading, number + 1)
                elif reading >= len(self._seen) or after not in self._seen[reading]:
                    self._add(after, reading, number + 1)

    def _add(self, state: State, reader: int, parent: int) -> None:
        if not self.every:
            while reader >= len(self._seen):
                self._seen.append(set())
            if state in self._seen[reader]:
                return
            self._seen[reader].add(state)
        self.visited += 1
        self._states.append(state)
        self._readers.append(reader)
        self._parents.append(parent)

    def _way(self, number: int) -> Iterator[int]:
        """The numbers of the pairs from this one back to a root."""
        while True:
            yield number
            if not self._parents[number]:
                return
            number = self._parents[number] - 1

    def _is_on_way(self, number: int, state: State, reader: int) -> bool:
        for before in self._way(number):
            if self._readers[before] == reader and self._states[before] == state:
                self.has_loop = True
                return True
        return False

    def _report(self, number: int) -> Path:
        states = [self._states[each] for each in self._way(number)][::-1]
        return Path(tuple(moves_between(self.product, states)), tuple(states))


def moves_between(product: Product, states: list[State]) -> Iterator[Move]:
    """A transition between each two states; not kept, but found again."""
    for before, after in pairwise(states):
        yield next(move for move, following in product.system.successors(before) if following == after)
