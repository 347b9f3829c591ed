"""Negation normal form for the tableau: down to the smallest parts, and with the past as a mirror image.

The past, which the paper does not have (see `normal`), has Y, Z, S and its dual T with
`p T q = !(!p S !q)`; O p is `true S p`, H p is `false T p`.
"""

from __future__ import annotations

from possibly.logic.ltl.normal import FALSE, TRUE, NormalForms
from possibly.logic.predicates.functions import is_state
from possibly.logic.printer import unparse
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or

_DUAL = {
    "true": "false", "false": "true", "atom": "not atom", "not atom": "atom", "and": "or", "or": "and",
    "X": "N", "N": "X", "U": "R", "R": "U", "Y": "Z", "Z": "Y", "S": "T", "T": "S",
}  # fmt: skip


class TableauForms(NormalForms):
    """Normal forms whose negation is again one of them."""

    def __init__(self) -> None:
        super().__init__()
        self._negations: dict[int, int] = {}

    def is_atom(self, node: Node) -> bool:
        return is_state(node) and not isinstance(node, Not | And | Or | Implies | Iff)

    def past(self, operator: str, operands: tuple[Node, ...], positive: bool) -> int:
        parts = [self.normal(part, positive) for part in operands]
        match operator:
            case "O":
                return self.make("S", TRUE, *parts) if positive else self.make("T", FALSE, *parts)
            case "H":
                return self.make("T", FALSE, *parts) if positive else self.make("S", TRUE, *parts)
        return self.make(operator if positive else _DUAL[operator], *parts)

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
