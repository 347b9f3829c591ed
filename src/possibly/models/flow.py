"""Flow graphs: the statements of a process as nodes, and where each leads.

Here belongs the graph alone; `build` makes it, `model` runs it. A node is a statement or the test of an `if`
or a loop; executing one node is one transition, except that nodes of one atomic block are executed together.
`while True` has no node. "At a node means that this node was the last one executed" ("Temporal debugging for
concurrent systems", section 6), so a process is not at a node but on an *edge*: what it executed last, and
what it executes next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from possibly.models.slots import Value, Values

Writes = tuple[tuple[int, Value], ...]


class Outcome(NamedTuple):
    """One way to execute a node: which exit is taken, and what is assigned."""

    exit: int
    writes: Writes = ()


Act = Callable[[Values], list[Outcome]]
"""Every way to execute a node in a state; none: it waits. Raises `Failure` if it cannot be executed."""


@dataclass(slots=True, eq=False)
class Exit:
    """An arrow out of a node."""

    source: Node | None
    answer: str = ""
    """`yes` or `no` out of a test."""
    target: Node | None = None
    """What is executed next; None: the process has ended."""
    clears: tuple[int, ...] = ()
    """Slots of a helper function that is left here."""
    leaves: bool = False
    """It leads out of an atomic block, even if the block begins again there."""


@dataclass(slots=True, eq=False)
class Node:
    number: int
    text: str
    line: int
    label: str | None
    """As given by `#: label`."""
    is_test: bool
    act: Act
    reads: frozenset[int]
    writes: frozenset[int]
    functions: tuple[str, ...] = ()
    """The process's function and the helpers whose bodies it stands in, the outermost first."""
    block: int | None = None
    """Which atomic block it belongs to."""
    exits: list[Exit] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.label if self.label is not None else str(self.line)

    @property
    def labels(self) -> tuple[str, ...]:
        """What "at" knows it by: its label and its line."""
        return (str(self.line),) if self.label is None else (self.label, str(self.line))


@dataclass(frozen=True, slots=True)
class FlowGraph:
    """The flow graph of one process."""

    process: str
    nodes: tuple[Node, ...]
    start: Exit
    """The arrow to the first node."""
