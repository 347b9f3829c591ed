"""Negation normal form for the tableau: formulas of finite LTL with past as numbers in a table.

"First, we push negation inwards, so that only propositional variables can appear negated" ("Temporal
debugging for concurrent systems", section 3). Of the future X (strong next), N (weak next), U and its dual
R (the paper's V) remain; F p is `true U p`, G p is `false R p`, p W q is `q R (p | q)`. The past, which the
paper does not have, mirrors it: Y, Z, S and its dual T with `p T q = !(!p S !q)`; O p is `true S p`, H p is
`false T p`.
"""

from __future__ import annotations

from possibly.logic.depth import deep
from possibly.logic.predicate import is_state
from possibly.logic.printer import unparse
from possibly.logic.syntax import And, Iff, Implies, Literal, Node, Not, Or, Temporal

TRUE, FALSE = 0, 1

_DUAL = {
    "true": "false", "false": "true", "atom": "not atom", "not atom": "atom", "and": "or", "or": "and",
    "X": "N", "N": "X", "U": "R", "R": "U", "Y": "Z", "Z": "Y", "S": "T", "T": "S",
}  # fmt: skip


class NormalForms:
    """Each formula once, by number; parts before the whole."""

    def __init__(self) -> None:
        self.atoms: list[Node] = []
        self.table: list[tuple[str, tuple[int, ...]]] = []
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}
        self._atom_numbers: dict[Node, int] = {}
        self._negations: dict[int, int] = {}
        self.make("true")
        self.make("false")

    def of(self, formula: Node) -> int:
        with deep():
            return self._of(formula, True)

    def make(self, kind: str, *parts: int) -> int:
        key = kind, parts
        if key not in self._numbers:
            self._numbers[key] = len(self.table)
            self.table.append(key)
        return self._numbers[key]

    def negated(self, formula: int) -> int:
        """The dual: every operator exchanged, down to the atoms."""
        if formula not in self._negations:
            kind, parts = self.table[formula]
            if kind in ("atom", "not atom"):
                found = self.make(_DUAL[kind], *parts)
            else:
                found = self.make(_DUAL[kind], *[self.negated(part) for part in parts])
            self._negations[formula] = found
            self._negations[found] = formula
        return self._negations[formula]

    def text(self, formula: int) -> str:
        """The formula as the contract writes it; T, which it has no letter for, as a negated S."""
        kind, parts = self.table[formula]
        match kind, parts:
            case "true" | "false", _:
                return kind
            case "atom", (atom,):
                return unparse(self.atoms[atom])
            case "not atom", (atom,):
                return f"!({unparse(self.atoms[atom])})"
            case "and" | "or", _:
                return f"({(' & ' if kind == 'and' else ' | ').join(map(self.text, parts))})"
            case "U" | "S", (0, part):
                return f"{'F' if kind == 'U' else 'O'} {self.text(part)}"
            case "R" | "T", (1, part):
                return f"{'G' if kind == 'R' else 'H'} {self.text(part)}"
            case "T", _:
                return f"!{self.text(self.negated(formula))}"
            case _, (left, right):
                return f"({self.text(left)} {kind} {self.text(right)})"
        return f"{kind} {self.text(parts[0])}"

    # ---- translation ----------------------------------------------------------------------------

    def _of(self, node: Node, positive: bool) -> int:
        match node:
            case Literal(value) if isinstance(value, bool):
                return TRUE if value == positive else FALSE
            case Not(operand):
                return self._of(operand, not positive)
            case And(operands):
                return self._combined(positive, [self._of(part, positive) for part in operands])
            case Or(operands):
                return self._combined(not positive, [self._of(part, positive) for part in operands])
            case Implies(left, right):
                return self._combined(not positive, [self._of(left, not positive), self._of(right, positive)])
            case Iff(left, right):
                both = [self._of(left, True), self._of(right, positive)]
                neither = [self._of(left, False), self._of(right, not positive)]
                return self._combined(False, [self._combined(True, both), self._combined(True, neither)])
            case Temporal(operator, operands):
                return self._temporal(operator, [self._of(part, positive) for part in operands], positive)
            case _ if is_state(node):
                return self.make("atom" if positive else "not atom", self._atom(node))
        raise TypeError(f"not a linear formula: {type(node).__name__}")

    def _atom(self, node: Node) -> int:
        if node not in self._atom_numbers:
            self._atom_numbers[node] = len(self.atoms)
            self.atoms.append(node)
        return self._atom_numbers[node]

    def _combined(self, conjunction: bool, parts: list[int]) -> int:
        neutral, absorbing = (TRUE, FALSE) if conjunction else (FALSE, TRUE)
        kept = list(dict.fromkeys([part for part in parts if part != neutral]))
        if absorbing in kept:
            return absorbing
        if len(kept) < 2:
            return kept[0] if kept else neutral
        return self.make("and" if conjunction else "or", *kept)

    def _temporal(self, operator: str, parts: list[int], positive: bool) -> int:
        match operator:
            case "X" | "N" | "U" | "R" | "Y" | "Z" | "S":
                return self.make(operator if positive else _DUAL[operator], *parts)
            case "F" | "O":
                kind = "U" if operator == "F" else "S"
                return self.make(kind, TRUE, *parts) if positive else self.make(_DUAL[kind], FALSE, *parts)
            case "G" | "H":
                kind = "R" if operator == "G" else "T"
                return self.make(kind, FALSE, *parts) if positive else self.make(_DUAL[kind], TRUE, *parts)
            case "W":
                either = self._combined(not positive, parts)
                return self.make("R" if positive else "U", parts[1], either)
        raise TypeError(f"not an operator of finite LTL: {operator}")
