"""Data path expressions as trees.

Here belong the node types alone (Modeling Concurrency in Parallel Debugging, sections 2 and 3). All are
immutable and compare by content; `offset` is a place in the text, for messages, and never counts.

An `Atom` stands for one event. Its *symbol* is its text without actions: atoms with equal symbols on the
two sides of `&` are one synchronising event. `s^` is distinct: it synchronises with nothing, so its symbol
carries the number of the atom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from possibly.logic.printer import unparse
from possibly.logic.syntax import Name, Node, Shared
from possibly.logic.walk import fold, with_children

PRIME = "\u02b9"
"""Stands for the prime of `x'` inside a condition: a letter, so that the name stays one name."""


@dataclass(frozen=True, slots=True)
class Variable:
    """`M` in `send(M)`: bound by the first event that carries it, and equal from then on."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """`"token"` in `send("token")`."""

    value: object


Argument = Variable | Constant | None
"""None is `_`: any value."""


@dataclass(frozen=True, slots=True)
class Assign:
    """`n = n + 1` in an action: a debugger variable."""

    name: str
    value: Node


@dataclass(frozen=True, slots=True)
class Perform:
    """`print(s)`, `break`, `hold($1.pid, X)`: a word of the debugger or a registered function."""

    function: str
    arguments: tuple[Node, ...]
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class When:
    """`if (n != 0) error` in an action."""

    condition: Node
    then: Action


Statement = Assign | Perform | When
Action = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Control:
    """A named event: `f`, `f.enter`, `f.exit`, `send(M)`."""

    name: str
    phase: str = ""
    arguments: tuple[Argument, ...] | None = None
    """None: no brackets, or empty ones; any arguments will do."""


@dataclass(frozen=True, slots=True)
class Data:
    """`[condition]`: it becomes true; `[x == x' + 1]`: it is true of an update; `[x]`, `[x']`: an access."""

    condition: Node

    @property
    def access(self) -> str | None:
        """`read` for `[x]`, `write` for `[x']`, None for a condition."""
        if not isinstance(self.condition, Name):
            return None
        return "write" if self.condition.parts[-1].endswith(PRIME) else "read"


@dataclass(frozen=True, slots=True)
class Atom:
    """One event of the expression; `number` counts them from 1 in the order of the text (`$1`)."""

    event: Control | Data
    condition: Node | None = None
    """`READ [lock == 1]`: already true when the event occurs."""
    distinct: bool = False
    number: int = field(default=0, compare=False)
    action: Action = field(default=(), compare=False)
    offset: int = field(default=0, compare=False)

    @property
    def text(self) -> str:
        condition = "" if self.condition is None else f" [{condition_text(self.condition)}]"
        return f"{_event_text(self.event)}{'^' if self.distinct else ''}{condition}"

    @property
    def symbol(self) -> str:
        """Equal symbols synchronise."""
        return f"{self.text}{self.number}" if self.distinct else self.text


@dataclass(frozen=True, slots=True)
class Sequence:
    """`A;B`: every event of A causally before every event of B."""

    left: Path
    right: Path


@dataclass(frozen=True, slots=True)
class Choice:
    """`A+B`: one of the two."""

    left: Path
    right: Path


@dataclass(frozen=True, slots=True)
class Together:
    """`A&B`: no order between them, except at events that stand in both."""

    left: Path
    right: Path


@dataclass(frozen=True, slots=True)
class Repeat:
    """`A*`, or `A*n` with a control variable: as often as every other `*n` of its scope."""

    body: Path
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Many:
    """`A@`: any number of copies, unordered among each other."""

    body: Path


Path = Atom | Sequence | Choice | Together | Repeat | Many


@dataclass(frozen=True, slots=True)
class Expression:
    """A whole expression; `action` is the one that ends the text: it belongs to a complete occurrence.

    After the last of several alternatives it belongs to that one alone: `action_from` is its first atom.
    """

    root: Path
    atoms: tuple[Atom, ...]
    action: Action = ()
    text: str = field(default="", compare=False)
    action_from: int = 1
    start: Action = ()
    """`{ n = 0 }` before the first event: performed once, before anything happens."""

    @property
    def has_actions(self) -> bool:
        return any(True for _ in self.statements())

    def statements(self) -> Iterator[Statement]:
        """Every statement of every action, those inside an `if` too."""
        for action in (self.start, self.action, *(atom.action for atom in self.atoms)):
            yield from all_statements(action)

    @property
    def assigned(self) -> frozenset[str]:
        """The debugger variables: whatever an action assigns."""
        return frozenset(each.name for each in self.statements() if isinstance(each, Assign))


def all_statements(action: Action) -> Iterator[Statement]:
    """The statements of an action with those inside an `if`."""
    for statement in action:
        yield statement
        if isinstance(statement, When):
            yield from all_statements(statement.then)


def values_of(statement: Statement) -> tuple[Node, ...]:
    """What a statement reads itself."""
    match statement:
        case Assign(_, value):
            return (value,)
        case Perform(_, arguments):
            return arguments
        case When(condition, _):
            return (condition,)


def _event_text(event: Control | Data) -> str:
    if isinstance(event, Data):
        return f"[{condition_text(event.condition)}]"
    arguments = "" if event.arguments is None else f"({', '.join(map(_argument_text, event.arguments))})"
    name = event.name if event.name.replace(".", "_").isidentifier() else _quoted(event.name)
    return f"{name}{arguments}{event.phase and '.' + event.phase}"


def _argument_text(argument: Argument) -> str:
    match argument:
        case Variable(name):
            return name
        case Constant(value):
            return _quoted(value)
        case _:
            return "_"


def _quoted(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def condition_text(condition: Node) -> str:
    """As written: `x == x' + 1`."""

    def plain(node: Node, below: list[Node]) -> Node:
        return Shared(".".join(node.parts)) if isinstance(node, Name) else with_children(node, below)

    return unparse(fold(condition, plain)).replace(PRIME, "'")


_LEVEL = {Choice: 1, Together: 2, Sequence: 3, Repeat: 4, Many: 4, Atom: 5}
_SIGN = {Choice: " + ", Together: " & ", Sequence: "; "}


def path_text(path: Path) -> str:
    """The text of an expression, without actions; it parses to the same tree."""
    match path:
        case Atom():
            return path.text
        case Repeat(body, variable):
            return f"{_inside(body, 4)}*{variable or ''}"
        case Many(body):
            return f"{_inside(body, 4)}@"
        case Sequence(left, right):
            # Sequences lean to the right, the others to the left, as the parser makes them.
            return f"{_inside(left, 4)}; {_inside(right, 3)}"
        case Choice(left, right) | Together(left, right):
            level = _LEVEL[type(path)]
            return f"{_inside(left, level)}{_SIGN[type(path)]}{_inside(right, level + 1)}"


def _inside(path: Path, level: int) -> str:
    text = path_text(path)
    return text if _LEVEL[type(path)] >= level else f"({text})"
