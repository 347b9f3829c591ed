"""Trees and stacks as data that any part of the project can fill and the page draws.

Here belong the neutral forms: a tree of states with a verdict a claim at each node and a label on each
branch (execution trees, macro-step trees), and a stack of steps (temporal stacks). They know nothing of
what they show. In the live page an `Action` is a button; pressed, it comes back by its name with its
arguments, and with the text of its field if it asks for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

Fact = tuple[str, str]
"""A name and a text."""


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    label: str
    asks: str | None = None
    """What the field beside the button asks for; None: there is no field."""
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Node:
    """A state that was reached."""

    id: str
    parent: str | None
    branch: str
    """How it was reached: who was received from, who ran."""
    text: str
    verdicts: tuple[str, ...] = ()
    """`true`, `false` or `unknown`, one a claim."""
    stopped: bool = False
    """A meta-breakpoint stands here."""
    state: str = ""
    """`unexplored` where something is left below, else empty."""
    facts: tuple[Fact, ...] = ()
    actions: tuple[Action, ...] = ()
    outcome: str | None = None
    """Of a leaf: `holds`, `fails` or `open`. Parts of a large tree whose leaves all have one are folded."""


@dataclass(frozen=True, slots=True)
class Tree:
    title: str
    claims: tuple[str, ...]
    nodes: tuple[Node, ...]
    """The first is the root; every other comes after its parent."""
    current: str | None = None
    notes: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class StackStep:
    title: str
    text: str
    """The formula of the step."""
    states: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Stack:
    title: str
    steps: tuple[StackStep, ...]
    """The oldest first."""
    state: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()


class Operated(Protocol):
    """Something live behind a picture: the page shows `picture()` and sends back what was pressed."""

    def picture(self) -> Tree | Stack: ...

    def operate(self, action: str, values: Mapping[str, str]) -> None:
        """Does it; raises PossiblyError with the reason where that is not possible."""
        ...


def document_of(model: Tree | Stack) -> dict[str, Any]:
    """The model for the page; what is not said is left out."""
    found: dict[str, Any] = _without_none(asdict(model))
    found.setdefault("current", None)
    for node in found.get("nodes", ()):
        node.setdefault("parent", None)
    return found


def _without_none(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_none(part) for name, part in value.items() if part is not None}
        case list() | tuple():
            return [_without_none(part) for part in value]
    return value
