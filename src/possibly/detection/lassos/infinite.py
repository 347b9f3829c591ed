"""Linear formulas on infinite words, as guesses that are checked position by position.

Theory of operation. At each position of a word every temporal part of a formula is true or false. `Guess`
says which is which. It must fit the position (p U q is true where q is, false where neither p nor q is)
and the next position's guess must fit it (where p is true and q is not, p U q is true there iff it is true
here). One thing no pair of positions shows: a p U q that is true must be `fulfilled`, so somewhere on a
loop it is false or q is true; likewise for R, its dual. Of a word that repeats a loop there is just one
right guess, and it repeats with it: a loop that leads from a guess back to it, on which every part is
fulfilled somewhere, decides the formula. (The tableau of Lichtenstein and Pnueli, "Checking that finite
state concurrent programs satisfy their linear specification".)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or, Temporal
from possibly.logic.walk import nodes
from possibly.records import dataclass

FUTURE = frozenset("XNFGURW")
Truths = tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Guess:
    """What is true of the temporal parts at a position."""

    parts: Truths
    following: tuple[bool | None, ...]
    """What the next position must say of each part; of X and N, of its operand. None: anything."""
    fulfilled: int
    """The parts, as bits, that need not wait for anything here."""


class Infinite:
    """The temporal parts of one formula, and the guesses about them."""

    def __init__(self, formula: Node) -> None:
        self.formula = formula
        found = dict.fromkeys(node for node in _bottom_up(formula) if isinstance(node, Temporal))
        self.parts = tuple(found)
        self._number = {part: number for number, part in enumerate(self.parts)}
        inside = [leaf for part in (*self.parts, formula) for leaf in _states(part)]
        self.atoms: tuple[Node, ...] = tuple(dict.fromkeys(inside))
        self._atom = {atom: number for number, atom in enumerate(self.atoms)}
        self.all_fulfilled = (1 << len(self.parts)) - 1
        self.following = lru_cache(maxsize=None)(self._following)

    def first(self, atoms: Truths, value: bool) -> list[Guess]:
        """The guesses of a word's first position that give the formula this value."""
        anything = (None,) * len(self.parts)
        guesses = self.following(atoms, anything)
        return [guess for guess in guesses if self._is(self.formula, atoms, guess.parts) == value]

    def _following(self, atoms: Truths, wanted: tuple[bool | None, ...]) -> list[Guess]:
        """The guesses of a position that is as the one before wants it."""
        found: list[Truths] = [()]
        for part, want in zip(self.parts, wanted, strict=True):
            found = [
                (*truths, value) for truths in found for value in self._fitting(part, atoms, truths, want)
            ]
        nexts = [(part, want) for part, want in zip(self.parts, wanted, strict=True) if _is_next(part)]
        return [
            self._guess(atoms, truths)
            for truths in found
            if all(want in (None, self._is(part.operands[0], atoms, truths)) for part, want in nexts)
        ]

    def _fitting(self, part: Temporal, atoms: Truths, truths: Truths, want: bool | None) -> Iterator[bool]:
        """The values of a part that fit the position, those of the parts before being known."""
        if _is_next(part):
            yield from (False, True)
            return
        known = self._decided(part, atoms, truths)
        for value in (False, True):
            if known in (None, value) and want in (None, value):
                yield value

    def _decided(self, part: Temporal, atoms: Truths, truths: Truths) -> bool | None:
        """What the position alone says of a part; None: it is what it is at the next one."""
        right = self._is(part.operands[-1], atoms, truths)
        if part.operator in "FG":
            return None if right == (part.operator == "G") else right
        left = self._is(part.operands[0], atoms, truths)
        if part.operator == "R":
            return None if right and not left else right
        return None if left and not right else right

    def _guess(self, atoms: Truths, truths: Truths) -> Guess:
        following: list[bool | None] = []
        fulfilled = 0
        for number, (part, value) in enumerate(zip(self.parts, truths, strict=True)):
            waits = _is_next(part) or self._decided(part, atoms, truths) is None
            following.append(value if waits else None)
            lasting = part.operator in "RGWXN"
            if not waits or value == lasting or _is_next(part):
                fulfilled |= 1 << number
        return Guess(truths, tuple(following), fulfilled)

    def _is(self, node: Node, atoms: Truths, truths: Truths) -> bool:
        if node in self._atom:
            return atoms[self._atom[node]]
        match node:
            case Temporal():
                return truths[self._number[node]]
            case Not(operand):
                return not self._is(operand, atoms, truths)
            case And(operands):
                return all(self._is(each, atoms, truths) for each in operands)
            case Or(operands):
                return any(self._is(each, atoms, truths) for each in operands)
            case Implies(left, right):
                return not self._is(left, atoms, truths) or self._is(right, atoms, truths)
            case Iff(left, right):
                return self._is(left, atoms, truths) == self._is(right, atoms, truths)
        raise AssertionError(f"no linear formula: {node}")


def is_future(formula: Node) -> bool:
    """Whether the formula speaks of what comes alone."""
    return all(node.operator in FUTURE for node in nodes(formula) if isinstance(node, Temporal))


def _is_next(part: Temporal) -> bool:
    return part.operator in "XN"


def _bottom_up(node: Node) -> Iterator[Node]:
    if is_state(node):
        return
    for part in _operands(node):
        yield from _bottom_up(part)
    yield node


def _states(node: Node) -> Iterator[Node]:
    """The state predicates of a formula, as large as they are."""
    if is_state(node):
        yield node
        return
    for part in _operands(node):
        yield from _states(part)


def _operands(node: Node) -> Sequence[Node]:
    match node:
        case Temporal(_, operands) | And(operands) | Or(operands):
            return operands
        case Not(operand):
            return (operand,)
        case Implies(left, right) | Iff(left, right):
            return left, right
    return ()
