"""Steps 1 to 3 of checking a task formula: negation, transformation, and the formula tree.

Here belong the equivalences of Frey, "Debugging parallel programs using temporal logic specifications",
section 5.2, and the tree of section 5.3. The negated formula is brought into a form in which `not` stands
only inside `t:(...)`; `all_next` is the dual of `next`. An s-node stands for the cuts that satisfy its
formula, a u-node for those that leave it undefined. The rules of the successors are the paper's, with
connectives of several operands taken together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from possibly.logic.depth import deep
from possibly.logic.syntax import And, Implies, Node, Not, Or, Temporal
from possibly.logic.tasks.formulas import ForTask, Provided, Says, free_variables, task_text

DUAL = {
    "next": "all_next", "all_next": "next", "sometime": "always", "always": "sometime",
    "until": "before", "before": "until",
    "forall": "exists", "exists": "forall",
}  # fmt: skip


def negated(node: Node) -> Node:
    """The transformed formula that is satisfied exactly where this one is unsatisfied."""
    with deep():
        return _transformed(node, negate=True)


def transformed(node: Node) -> Node:
    """The same formula without `implies`, and without `not` outside `t:(...)`."""
    with deep():
        return _transformed(node, negate=False)


def _transformed(node: Node, negate: bool) -> Node:
    match node:
        case Not(operand):
            return _transformed(operand, not negate)
        case Says(tvar, formula):
            return Says(tvar, _local_negation(formula) if negate else formula)
        case And(operands) | Or(operands):
            kind = Or if isinstance(node, And) == negate else And
            return kind(tuple([_transformed(part, negate) for part in operands]))
        case Implies(left, right):
            kind = And if negate else Or
            return kind((_transformed(left, not negate), _transformed(right, negate)))
        case Temporal(operator, (operand,)):
            return Temporal(DUAL[operator] if negate else operator, (_transformed(operand, negate),))
        case Temporal(operator, (left, right)):
            pair = (_transformed(left, negate), _transformed(right, negate=False))
            return Temporal(DUAL[operator] if negate else operator, pair)
        case ForTask(quantifier, tvar, body):
            return ForTask(DUAL[quantifier] if negate else quantifier, tvar, _transformed(body, negate))
        case Provided(body, condition):
            return Provided(_transformed(body, negate), condition)
    raise TypeError(f"not a task formula: {type(node).__name__}")


def _local_negation(formula: Node) -> Node:
    return formula.operand if isinstance(formula, Not) else Not(formula)


@dataclass(frozen=True, slots=True, eq=False)
class TreeNode:
    """A node of the formula tree. `kind` is `s` (satisfied) or `u` (undefined)."""

    kind: str
    formula: Node
    successors: tuple[TreeNode, ...] = ()
    variables: tuple[str, ...] = ()
    """The free task variables of the formula."""
    is_costly: bool = field(default=False)
    """It contains `until` or `before`."""

    @property
    def text(self) -> str:
        return f"{self.kind}-node({task_text(self.formula)})"


def formula_tree(formula: Node) -> TreeNode:
    """The tree of a transformed formula; equal nodes are one and the same."""
    known: dict[tuple[str, Node], TreeNode] = {}
    with deep():
        return _tree("s", formula, known)


def _tree(kind: str, formula: Node, known: dict[tuple[str, Node], TreeNode]) -> TreeNode:
    key = kind, formula
    if key not in known:
        below = [_tree(word, part, known) for word, part in _successors(kind, formula)]
        costly = isinstance(formula, Temporal) and len(formula.operands) == 2 and kind == "s"
        known[key] = TreeNode(
            kind,
            formula,
            tuple(below),
            tuple(sorted(free_variables(formula))),
            costly or any(node.is_costly for node in below),
        )
    return known[key]


def _successors(kind: str, formula: Node) -> list[tuple[str, Node]]:
    match formula:
        case And(operands):
            own = [(kind, part) for part in operands]
            return own if kind == "s" else own + [("s", part) for part in operands[:-1]]
        case Or(operands):
            return [(kind, part) for part in operands] + [("s", negated(part)) for part in operands[:-1]]
    return [] if kind == "u" else _below_satisfied(formula)


def _below_satisfied(formula: Node) -> list[tuple[str, Node]]:
    match formula:
        case Temporal("next" | "sometime", (operand,)):
            return [("s", operand)]
        case Temporal("all_next", (operand,)):
            return [("s", operand), ("u", operand)]
        case Temporal("always", (operand,)):
            return [("s", negated(operand))]
        case Temporal("until", (left, right)):
            return [("s", negated(left)), ("s", right)]
        case Temporal("before", (left, right)):
            return [("s", left), ("s", right)]
        case ForTask("exists", _, body) | Provided(body, _):
            return [("s", body)]
        case ForTask("forall", _, body):
            return [("s", negated(body))]
    return []
