"""Formulas as trees: the surface form that the parser yields and, with names resolved, the bound form.

Here belong the node types alone. `parser` makes them, `printer` writes them, `bind` resolves names and
expands quantifiers (after it `Name`, `Quantified`, `Index` and `Count` are gone and `Local`, `Shared`
stand for variables, and every process is a plain string), `predicate` evaluates the state part,
`classes` classifies it. `span` is the column range in the text, for messages; it never counts in
comparisons.

All are immutable, compare and hash by content, and are made by `tree`; read them as frozen dataclasses.
"""

from __future__ import annotations

from possibly.logic.tree import Tree, aside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Span = tuple[int, int]
"""First column (from 0) and the column after the last one, in the formula's text."""


class Node(Tree):
    span: Span | None = aside(default=None, kw_only=True)


# ---- values -------------------------------------------------------------------------------------


class Literal(Node):
    """A number, a string, true, false or null."""

    value: Any


class Items(Node):
    """A list display `[a, b]` or a tuple `(a, b)`; both are lists."""

    items: tuple[Node, ...]


class Name(Node):
    """A dotted name as written, not resolved yet: `x`, `P1.x`, `"worker-1".x`."""

    parts: tuple[str, ...]


class Local(Node):
    """Bound: a local variable of a process. `variable` may itself be dotted (`f.x`)."""

    process: str
    variable: str


class Shared(Node):
    """Bound (or written as `shared("N")`): a shared variable."""

    variable: str
    explicit: bool = aside(default=False, kw_only=True)
    """Print it as `shared("N")`: so it was written, and the bare name would mean something else."""


class Subscript(Node):
    value: Node
    index: Node


class Arithmetic(Node):
    """`+ - * / // % **`, and unary `-` and `+` with one operand."""

    operator: str
    operands: tuple[Node, ...]


class Compare(Node):
    """`a < b <= c`: operators `== != < <= > >= in`, and `not in`; one atom of the logic."""

    operands: tuple[Node, ...]
    operators: tuple[str, ...]


class Call(Node):
    """`len min max abs sum any all`."""

    function: str
    arguments: tuple[Node, ...]


class Index(Node):
    """`index(i)`: the number of i among the matches of its quantifier."""

    variable: str


class Count(Node):
    """`count("Phil*")`: how many processes match."""

    pattern: str


# ---- facts of a cut that are no variables. Processes are `Name` before binding, `str` after ---------


class Transit(Node):
    """Messages sent and not received; both ends None: in the whole system."""

    sender: Any = None
    receiver: Any = None
    tag: str | None = None


class At(Node):
    process: Any
    label: str


class Stack(Node):
    """`start`, `inside` or `term` of a function."""

    observer: str
    process: Any
    function: str


class Done(Node):
    process: Any


# ---- connectives --------------------------------------------------------------------------------


class Not(Node):
    operand: Node


class And(Node):
    operands: tuple[Node, ...]


class Or(Node):
    operands: tuple[Node, ...]


class Implies(Node):
    left: Node
    right: Node


class Iff(Node):
    left: Node
    right: Node


class AtLeast(Node):
    """Bound: so many of the operands are true. What quantifiers over many pairs become (`pairs`)."""

    least: int
    operands: tuple[Node, ...]
    text: str = aside(default="", kw_only=True)
    """How it was written."""


class Apart(Node):
    """Bound: one of the first half of the operands is true and, at another place, one of the second half.

    What quantifiers over many pairs become that say different things of both (`pairs`).
    """

    operands: tuple[Node, ...]
    text: str = aside(default="", kw_only=True)
    """How it was written."""


# ---- time and quantifiers -----------------------------------------------------------------------


class Temporal(Node):
    """ctl: `EF AF EG AG EX AX EU AU` (`EX` with `process` is EX[P]); ltl: `X N F G Y Z O H U R W S`.

    `U R W S EU AU` have two operands, the others one.
    """

    operator: str
    operands: tuple[Node, ...]
    process: Any = None


class Quantified(Node):
    """`forall i, j in "Phil*" if i != j: body`; `quantifier` is `forall` or `exists`."""

    quantifier: str
    variables: tuple[str, ...]
    pattern: str
    condition: Node | None
    body: Node


class Keyed(Node):
    """`forall key k in orders.id: body`: the body for each value of a variable; `owner` is a pattern."""

    key: str
    owner: str
    variable: str
    body: Node


Leaf = Local | Shared | Transit | At | Stack | Done
"""What a bound predicate reads of a cut."""
