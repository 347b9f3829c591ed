"""Finite LTL with past as an automaton that is built only where a run leads.

Here belongs the meaning of linear formulas on finite sequences: what a formula still demands after one
more state. It follows the tableau of "Temporal debugging for concurrent systems" (Gunter and Peled,
section 3) in that a state is a set of obligations with a flag `strong`, and departs from it in that states
are made one valuation at a time instead of one node at a time, and in that past operators are added.

Theory of operation. The formula is put into negation normal form (`normal`) over atoms, `and or`, X (strong
next), N (weak next), U, R and *slots*: a slot stands for a past subformula, whose value follows from a
memory of one bit a slot. Reading a state splits each obligation into the ways in which it can be met (a
disjunctive normal form over what must hold from the next state on). A way that contains an X demands that
there is a next state: that is its flag `strong`; ways that differ in it are not merged. If a past operator
stands over a future one, the value of its operand is guessed and the guess becomes an obligation.
The word may end in a state that is not strong; a state without any obligation accepts every continuation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from possibly.logic.depth import deep
from possibly.logic.ltl.normal import FALSE, TRUE, NormalForms
from possibly.logic.syntax import And, Literal, Node, Not, Or, Temporal

Valuation = int
"""Truth of the atoms at a state: bit i is that of atom i."""

Ways = frozenset[int]
"""Alternatives, each a set of demands on the next state as bits: bit 2 f for formula f, bit 2 f + 1 for
formula f in a next state that must exist."""

_MET: Ways = frozenset([0])
_UNMET: Ways = frozenset()

MOST_WORK = 20_000_000
"""Pairs of ways that may be combined before the automaton counts as too large."""


class TooLargeError(Exception):
    """The automaton of the formula grows beyond what can be built; the answer is not known."""


class State(NamedTuple):
    """What the run so far leaves to be shown."""

    memory: int
    """Bit i for slot i: the value it needs from the previous state; -1 before the first state."""
    obligations: int
    """Bit f: formula f must hold from the next state on, if there is one."""
    strong: bool
    """There must be a next state."""

    @property
    def may_end(self) -> bool:
        return not self.strong

    @property
    def accepts_all(self) -> bool:
        return not self.obligations and not self.strong


class _Slot(NamedTuple):
    """A past subformula: operator Y Z O H S, its operands both as they are and negated."""

    operator: str
    positive: tuple[int, ...]
    negative: tuple[int, ...]
    guessed: tuple[bool, ...]
    """The operand speaks of the future, so its value is guessed."""


class Progression(NormalForms):
    """The automaton of a formula on finite sequences of states.

    `atoms` are the state predicates whose truth a caller supplies at each state. `check` is called now and
    then during long work and may raise to end it.
    """

    def __init__(self, formula: Node, check: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._slots: list[_Slot] = []
        self._slot_numbers: dict[_Slot, int] = {}
        self._steps: dict[tuple[State, Valuation], tuple[State, ...]] = {}
        self._speaks_of_future: dict[int, bool] = {}
        self._work = _Work(check)
        self.initial = State(-1, 1 << self.of(formula), False)

    def advance(self, state: State, valuation: Valuation) -> tuple[State, ...]:
        """The states after reading one more state of the run; none if no way is left."""
        key = (state, valuation)
        if key not in self._steps:
            with deep():
                self._steps[key] = tuple(self._advance(state, valuation))
        return self._steps[key]

    def following(self, state: State, valuation: Any) -> Iterable[State]:
        """As `advance`, but not kept: the valuation may raise where it is asked for an atom it lacks."""
        with deep():
            return self._advance(state, valuation)

    def demands(self, state: State) -> list[Node]:
        """What must hold from the next state on, as formulas."""
        with deep():
            return [self._formula(number) for number in _bits(state.obligations)]

    def _formula(self, number: int) -> Node:
        kind, parts = self.table[number]
        if kind in ("atom", "not atom"):
            atom = self.atoms[parts[0]]
            if kind == "atom":
                return atom
            return atom.operand if isinstance(atom, Not) else Not(atom)
        if kind in ("slot", "not slot"):
            slot = self._slots[parts[0]]
            past = Temporal(slot.operator, tuple([self._formula(part) for part in slot.positive]))
            return past if kind == "slot" else Not(past)
        below = tuple([self._formula(part) for part in parts])
        match kind:
            case "true" | "false":
                return Literal(kind == "true")
            case "and":
                return And(below)
            case "or":
                return Or(below)
            case "U" if parts[0] == TRUE:
                return Temporal("F", below[1:])
            case "R" if parts[0] == FALSE:
                return Temporal("G", below[1:])
        return Temporal(kind, below)

    def accepts(self, word: Sequence[Valuation]) -> bool:
        """Whether the formula holds on this sequence, which must not be empty."""
        states = {self.initial}
        for valuation in word:
            states = {following for state in states for following in self.advance(state, valuation)}
        return any(state.may_end for state in states)

    # ---- negation normal form -------------------------------------------------------------------

    def past(self, operator: str, operands: tuple[Node, ...], positive: bool) -> int:
        return self.make("slot" if positive else "not slot", self._slot(operator, operands))

    def _slot(self, operator: str, operands: tuple[Node, ...]) -> int:
        positive = tuple(self.normal(operand, True) for operand in operands)
        negative = tuple(self.normal(operand, False) for operand in operands)
        slot = _Slot(operator, positive, negative, tuple(map(self._is_future, positive)))
        if slot not in self._slot_numbers:
            self._slot_numbers[slot] = len(self._slots)
            self._slots.append(slot)
        return self._slot_numbers[slot]

    def _is_future(self, formula: int) -> bool:
        """Whether the value of the formula depends on later states, other than through a slot."""
        if formula not in self._speaks_of_future:
            kind, parts = self.table[formula]
            inner = kind in ("and", "or") and any(map(self._is_future, parts))
            self._speaks_of_future[formula] = inner or kind in ("X", "N", "U", "R")
        return self._speaks_of_future[formula]

    # ---- progression ----------------------------------------------------------------------------

    def _advance(self, state: State, valuation: Valuation) -> Iterable[State]:
        found: dict[State, None] = {}
        for past, memory, guesses in self._pasts(state.memory, valuation):
            reader = _Reader(self.table, valuation, past, self._work)
            for way in reader.all_of([*_bits(state.obligations), *guesses]):
                demands = list(_bits(way))
                obligations = {demand >> 1 for demand in demands} - {TRUE}
                strong = any(demand & 1 for demand in demands)
                found[State(memory, sum(1 << formula for formula in obligations), strong)] = None
        return found

    def _pasts(self, memory: int, valuation: Valuation) -> Iterable[tuple[int, int, list[int]]]:
        """Each possible (values of the slots now, memory for the next state, obligations of the guesses)."""
        guessed = [(s, i) for s, slot in enumerate(self._slots) for i, g in enumerate(slot.guessed) if g]
        for choice in product((True, False), repeat=len(guessed)):
            guess = dict(zip(guessed, choice, strict=True))
            past = remember = 0
            for number, slot in enumerate(self._slots):
                # Slots are numbered inside out, so those that an operand speaks of are known by now.
                operands = [
                    guess[number, i] if slot.guessed[i] else self._value(part, valuation, past)
                    for i, part in enumerate(slot.positive)
                ]
                now, then = _past_value(slot.operator, operands, memory, bool(memory >> number & 1))
                past |= now << number
                remember |= then << number
            yield (
                past,
                remember,
                [
                    self._slots[s].positive[i] if value else self._slots[s].negative[i]
                    for (s, i), value in guess.items()
                ],
            )

    def _value(self, formula: int, valuation: Valuation, past: int) -> bool:
        return bool(_Reader(self.table, valuation, past, self._work).ways(formula))


def _past_value(operator: str, operands: Sequence[bool], memory: int, before: bool) -> tuple[bool, bool]:
    """The value of a past operator now, and what the next state needs to know."""
    first = memory == -1
    match operator:
        case "Y":
            return (not first and before), operands[0]
        case "Z":
            return (first or before), operands[0]
        case "O":
            now = operands[0] or (not first and before)
        case "H":
            now = operands[0] and (first or before)
        case _:
            now = operands[1] or (operands[0] and not first and before)
    return now, now


def _bits(number: int) -> Iterator[int]:
    """The places of the ones."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


class _Work:
    """Counts combined ways, so that a formula whose automaton explodes ends in an error and not in a hang."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.check = check
        self.done = 0

    def add(self, pairs: int) -> None:
        self.done += pairs
        if self.done > MOST_WORK:
            raise TooLargeError
        if pairs > 1000:
            self.check()


class _Reader:
    """Splits formulas at one state of the run into the ways in which they can be met."""

    def __init__(
        self, table: Sequence[tuple[str, tuple[int, ...]]], valuation: Valuation, past: int, work: _Work
    ) -> None:
        self.table = table
        self.work = work
        self.valuation = valuation
        self.past = past
        self.known: dict[int, Ways] = {}

    def ways(self, formula: int) -> Ways:
        if formula not in self.known:
            self.known[formula] = self._split(formula, *self.table[formula])
        return self.known[formula]

    def _split(self, formula: int, kind: str, parts: tuple[int, ...]) -> Ways:
        match kind:
            case "true":
                return _MET
            case "false":
                return _UNMET
            case "atom":
                return _MET if self.valuation >> parts[0] & 1 else _UNMET
            case "not atom":
                return _UNMET if self.valuation >> parts[0] & 1 else _MET
            case "slot":
                return _MET if self.past >> parts[0] & 1 else _UNMET
            case "not slot":
                return _UNMET if self.past >> parts[0] & 1 else _MET
            case "and":
                return self.all_of(parts)
            case "or":
                return self.least(way for part in parts for way in self.ways(part))
            case "X":
                return frozenset([2 << 2 * parts[0]])
            case "N":
                return frozenset([1 << 2 * parts[0]])
            case "U":
                later = self.both(self.ways(parts[0]), frozenset([2 << 2 * formula]))
                return self.least([*self.ways(parts[1]), *later])
            case _:
                sooner = self.least([*self.ways(parts[0]), 1 << 2 * formula])
                return self.both(self.ways(parts[1]), sooner)

    def all_of(self, formulas: Iterable[int]) -> Ways:
        found = _MET
        for formula in formulas:
            found = self.both(found, self.ways(formula))
        return found

    def both(self, first: Ways, second: Ways) -> Ways:
        if first == _MET or second == _MET:
            return second if first == _MET else first
        self.work.add(len(first) * len(second))
        return self.least(a | b for a in first for b in second)

    def least(self, ways: Iterable[int]) -> Ways:
        """Without the ways that demand more than another one does."""
        distinct = sorted(set(ways), key=int.bit_count)
        kept: list[int] = []
        for way in distinct:
            self.work.add(len(kept))
            if not any(less & way == less for less in kept):
                kept.append(way)
        return frozenset(kept)
