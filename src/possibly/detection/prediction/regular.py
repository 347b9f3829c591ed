"""A linear formula asked of sliced reorderings: what a slice does to it, as a function.

While the run is read once, a slice grows before it is known in which state it will begin, since the slices
before it grow as well. So for a slice not one state is held but the function that leads from each state in
which it may begin to the one in which it ends; the states are those of the automaton together with the values
of what the formula reads. Where a slice may begin is known from the same search with one slice less: whatever
a reordering into fewer slices ends in. Reorderings that differ in nothing else are one if their functions are
equal on these, so the search stays exact. ("Parametrizing reads-from equivalence for predictive monitoring"
guesses the beginnings instead.)

The formula is true of a reordering of all events on which it is true, and of a part of one after which
nothing that may follow makes it false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from possibly.detection.limits import Budget
from possibly.detection.prediction.facts import Facts, Interned, says_next
from possibly.detection.prediction.orders import Deciding, Sights
from possibly.detection.prediction.sliced import SlicedSearch
from possibly.logic.ltl.progression import Progression, State, TooLargeError
from possibly.logic.predicates.functions import compile_predicate, leaves
from possibly.logic.syntax import Leaf, Node, Shared
from possibly.trace.model import Trace

MOST_STARTS = 400
"""States in which a slice may begin; beyond, some are left out, and not found is no answer."""

Letter = tuple[tuple[int, int], ...]
"""The leaves that an event changes, and what they read then."""


class RegularSearch:
    """Looks for a sliced reordering on which a linear formula is true."""

    def __init__(self, trace: Trace, formula: Node, budget: Budget) -> None:
        self._trace = trace
        self._budget = budget
        self._meaning = _Meaning(trace, formula, budget)
        self.is_complete = True
        """Whether a formula that is not found true is so on no such reordering."""

    def found(self, slices: int) -> Deciding | None:
        """With so many slices at most."""
        try:
            return self._found(slices)
        except TooLargeError:
            self.is_complete = False
            return None

    def _found(self, slices: int) -> Deciding | None:
        starts: list[list[int]] = []
        for cuts in range(slices):
            question = _Sequence(self._meaning, starts)
            search = SlicedSearch(self._trace, question, cuts, self._budget)
            found = search.found()
            self.is_complete = self.is_complete and search.is_complete
            if found is not None or not search.ends:
                return found
            ends = dict.fromkeys(question.end(told) for told in search.ends)
            starts.append([each for each in ends if each is not None][:MOST_STARTS])
            self.is_complete = self.is_complete and len(ends) <= MOST_STARTS
        return None


class _Meaning:
    """What events do to the formula: states by number, each of the automaton and of what is read."""

    def __init__(self, trace: Trace, formula: Node, budget: Budget) -> None:
        self.leaves = leaves(formula)
        self._trace = trace
        self._sights, self._interned = Sights(trace), Interned()
        self._facts = Facts(trace, self.leaves)
        self._shared = {leaf.variable: leaf for leaf in self.leaves if isinstance(leaf, Shared)}
        self._automaton = Progression(formula, budget.look)
        self._atoms = [compile_predicate(atom) for atom in self._automaton.atoms]
        self._place = {leaf: place for place, leaf in enumerate(self.leaves)}
        self.says_next = says_next(formula)
        self._numbers: dict[tuple[frozenset[State], tuple[int, ...]], int] = {}
        self._states: list[tuple[frozenset[State], tuple[int, ...]]] = []
        self._steps: dict[tuple[int, Letter], int] = {}
        self._letters: dict[int, Letter] = {}
        first = self._read()
        self.start = self._number(
            frozenset(self._automaton.advance(self._automaton.initial, self._valuation(first))), first
        )

    def _read(self) -> tuple[int, ...]:
        """What the leaves read before the run."""
        found = [0] * len(self.leaves)
        for leaf, place in self._facts.place.items():
            found[self._place[leaf]] = self._facts.start[place]
        for name, asked in self._shared.items():
            found[self._place[asked]] = self._interned.of(name, self._sights.before(name))
        return tuple(found)

    def letter(self, event: int) -> Letter:
        if event not in self._letters:
            self._letters[event] = tuple(self._changes(event))
        return self._letters[event]

    def _changes(self, event: int) -> Iterator[tuple[int, int]]:
        for leaf, number in self._facts.set_by(event):
            yield self._place[leaf], number
        for name, sight in self._sights.written(event).items():
            if name in self._shared:
                yield self._place[self._shared[name]], self._interned.of(name, sight)

    def after(self, state: int, letter: Letter) -> int:
        key = state, letter
        if key not in self._steps:
            demands, read = self._states[state]
            values = list(read)
            for place, number in letter:
                values[place] = number
            now = tuple(values)
            if now == read and not self.says_next:
                return state
            truths = self._valuation(now)
            following = {after for demand in demands for after in self._automaton.advance(demand, truths)}
            self._steps[key] = self._number(frozenset(following), now)
        return self._steps[key]

    def decides(self, state: int, is_whole: bool) -> bool:
        demands = self._states[state][0]
        return any(each.accepts_all or (is_whole and each.may_end) for each in demands)

    def _number(self, demands: frozenset[State], read: tuple[int, ...]) -> int:
        key = demands, read
        if key not in self._numbers:
            self._numbers[key] = len(self._states)
            self._states.append(key)
        return self._numbers[key]

    def _valuation(self, read: tuple[int, ...]) -> int:
        values = {leaf: self._value(leaf, read) for leaf in self.leaves}
        return sum(
            bool(atom.evaluate([values[leaf] for leaf in atom.leaves])) << bit
            for bit, atom in enumerate(self._atoms)
        )

    def _value(self, leaf: Leaf, read: tuple[int, ...]) -> object:
        number = read[self._place[leaf]]
        if isinstance(leaf, Shared):
            return self._interned.value(number)
        return self._facts.value(self._facts.place[leaf], number)


class _Sequence:
    """The question of a `SlicedSearch`: what is told is the state of the first slice, then functions."""

    asked: tuple[str, ...] = ()

    def __init__(self, meaning: _Meaning, starts: Sequence[Sequence[int]]) -> None:
        self.leaves = meaning.leaves
        self._meaning = meaning
        self._starts = [{state: place for place, state in enumerate(each)} for each in starts]
        self._functions: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._steps: dict[tuple[int, Letter], int] = {}
        self._stopped = 0

    def start(self, slices: int) -> tuple[int, ...]:
        self._stopped = slices
        same = [self._number(tuple(each)) for each in self._starts]
        return (self._meaning.start, *same, 1)

    def after(self, told: tuple[int, ...], event: int, number: int) -> tuple[int, ...]:
        """The last says whether nothing was left out."""
        if number == self._stopped:
            return (*told[:-1], 0)
        letter = self._meaning.letter(event)
        if not letter and not self._meaning.says_next:
            return told
        step = self._meaning.after if number == 0 else self._composed
        return (*told[:number], step(told[number], letter), *told[number + 1 :])

    def tells(self, event: int) -> bool:
        return bool(self._meaning.letter(event)) or self._meaning.says_next

    def is_shown(self, told: tuple[int, ...], ends: Mapping[str, object], is_last: bool) -> bool:
        end = self.end(told)
        return end is not None and self._meaning.decides(end, is_last and told[-1] == 1)

    def end(self, told: tuple[int, ...]) -> int | None:
        """The state after all slices; None if one of them begins in a state that was left out."""
        state = told[0]
        for function, starts in zip(told[1:-1], self._starts, strict=True):
            if state not in starts:
                return None
            state = self._functions[function][starts[state]]
        return state

    def _composed(self, function: int, letter: Letter) -> int:
        key = function, letter
        if key not in self._steps:
            after = tuple([self._meaning.after(state, letter) for state in self._functions[function]])
            self._steps[key] = self._number(after)
        return self._steps[key]

    def _number(self, function: tuple[int, ...]) -> int:
        if function not in self._numbers:
            self._numbers[function] = len(self._functions)
            self._functions.append(function)
        return self._numbers[function]
