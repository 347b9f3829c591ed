"""Negation normal form of finite LTL: formulas as numbers in a table, each once, parts before the whole.

"First, we push negation inwards, so that only propositional variables can appear negated" ("Temporal
debugging for concurrent systems", section 3). Of the future X (strong next), N (weak next), U and its dual
R (the paper's V) remain; F p is `true U p`, G p is `false R p`, p W q is `q R (p | q)`: q releases p, and p
or q holds up to and with that moment. What becomes of the past, which the paper does not have, and what
counts as an atom is for the heirs to say: `tableau_normal` splits all there is, `progression` nothing that
one look at a state decides.
"""

from __future__ import annotations

from possibly.logic.depth import deep
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Iff, Implies, Literal, Node, Not, Or, Temporal

TRUE, FALSE = 0, 1
_PAST = frozenset("YZOHS")


class NormalForms:
    """The table, and the way into it."""

    def __init__(self) -> None:
        self.atoms: list[Node] = []
        """The state predicates that remain whole."""
        self.table: list[tuple[str, tuple[int, ...]]] = []
        """The kind of each formula and its parts; of `atom` and `not atom` the number in `atoms`."""
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}
        self._atom_numbers: dict[Node, int] = {}
        self._known: dict[tuple[Node, bool], int] = {}
        self.make("true")
        self.make("false")

    def of(self, formula: Node) -> int:
        with deep():
            return self.normal(formula, True)

    def make(self, kind: str, *parts: int) -> int:
        key = kind, parts
        if key not in self._numbers:
            self._numbers[key] = len(self.table)
            self.table.append(key)
        return self._numbers[key]

    def normal(self, node: Node, positive: bool) -> int:
        """The formula, or its negation."""
        key = node, positive
        if key not in self._known:
            self._known[key] = self._translated(node, positive)
        return self._known[key]

    def is_atom(self, node: Node) -> bool:
        """Whether a formula is not looked into."""
        return is_state(node)

    def past(self, operator: str, operands: tuple[Node, ...], positive: bool) -> int:
        """A formula that begins with an operator of the past, or its negation."""
        raise NotImplementedError

    def combined(self, conjunction: bool, parts: list[int]) -> int:
        neutral, absorbing = (TRUE, FALSE) if conjunction else (FALSE, TRUE)
        kept = sorted({part for part in parts if part != neutral})
        if absorbing in kept:
            return absorbing
        if len(kept) < 2:
            return kept[0] if kept else neutral
        return self.make("and" if conjunction else "or", *kept)

    def _translated(self, node: Node, positive: bool) -> int:
        match node:
            case Literal(value) if isinstance(value, bool):
                return TRUE if value == positive else FALSE
            case _ if self.is_atom(node):
                return self.make("atom" if positive else "not atom", self._atom(node))
            case Not(operand):
                return self.normal(operand, not positive)
            case And(operands):
                return self.combined(positive, [self.normal(part, positive) for part in operands])
            case Or(operands):
                return self.combined(not positive, [self.normal(part, positive) for part in operands])
            case Implies(left, right):
                parts = [self.normal(left, not positive), self.normal(right, positive)]
                return self.combined(not positive, parts)
            case Iff(left, right):
                both = [self.normal(left, True), self.normal(right, positive)]
                neither = [self.normal(left, False), self.normal(right, not positive)]
                return self.combined(False, [self.combined(True, both), self.combined(True, neither)])
            case Temporal(operator, operands) if operator in _PAST:
                return self.past(operator, operands, positive)
            case Temporal(operator, operands):
                return self._future(operator, [self.normal(part, positive) for part in operands], positive)
        raise TypeError(f"not a linear formula: {type(node).__name__}")

    def _atom(self, node: Node) -> int:
        if node not in self._atom_numbers:
            self._atom_numbers[node] = len(self.atoms)
            self.atoms.append(node)
        return self._atom_numbers[node]

    def _future(self, operator: str, parts: list[int], positive: bool) -> int:
        """Of the operands both as they are or both negated."""
        match operator:
            case "X" | "N":
                return self.make("X" if (operator == "X") == positive else "N", *parts)
            case "F" | "G":
                eventually = (operator == "F") == positive
                return self.make("U", TRUE, *parts) if eventually else self.make("R", FALSE, *parts)
            case "U" | "R":
                return self.make("U" if (operator == "U") == positive else "R", *parts)
            case "W":
                return self.make("R" if positive else "U", parts[1], self.combined(not positive, parts))
        raise TypeError(f"not an operator of finite LTL: {operator}")
