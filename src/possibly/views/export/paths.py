"""Pictures of a path expression: its semantic model, and the partial order of a run so far.

The model is that of the smallest class of the expression (Modeling Concurrency in Parallel Debugging, figure
1-1): a finite automaton for a sequential one, else a net, as figure I-1 makes it: safe, Petri, or with zero
tests. The order so far is what an `expect` has read before the event that does not fit, which is marked,
with what could have come in its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from possibly.errors import UsageError
from possibly.views.export.boxes import Arrow, Box, Picture

if TYPE_CHECKING:
    from possibly.logic.specification import Property, Specification
    from possibly.verdict.model import Verdict

MOST_STATES = 200
MOST_PARTS = 400
"""Places and transitions of a net that is drawn."""


def model_picture(found: Property, specification: Specification) -> Picture:
    """The semantic model of a path expression."""
    from possibly.logic.paths.automaton import automaton
    from possibly.logic.paths.classes import subclass
    from possibly.logic.paths.compiled import compiled
    from possibly.logic.paths.machine import Machine
    from possibly.logic.paths.nets.net import net
    from possibly.logic.paths.parser import parse_path
    from possibly.views.export.graphs import automaton_picture, path_net_picture

    definitions = {each.name: each for each in specification.definitions}
    tree = compiled(parse_path(found.source, definitions))
    kind = subclass(tree.expression)
    if kind.name == "sequential":
        states = automaton(Machine(tree), MOST_STATES)
        if states is not None:
            return automaton_picture(states, f"{found.name}: {kind.model}")
    drawn = net(tree)
    if drawn.places + len(drawn.transitions) > MOST_PARTS:
        raise UsageError(f"the net of {found.name} has more than {MOST_PARTS} places and transitions")
    return path_net_picture(drawn, f"{found.name}: {kind.model}")


def partial_picture(verdict: Verdict) -> Picture:
    """The order of the events that fitted, the first one that does not, and what was expected."""
    result = verdict.path
    if result is None or result.matches is not None:
        raise UsageError(
            "the partial order so far is that of an expect", hint="give it with --expect FORMULA"
        )
    picture = Picture(f"{verdict.name}: the partial order so far", direction="LR")
    rows = _Rows(picture)
    for each in result.latest:
        rows.add(each.symbol, each.after, (each.symbol,))
    if result.event is not None:
        rows.add(result.event, result.after, (result.event, "does not fit"), marked=True)
    for number, expected in enumerate(result.expected):
        rows.add(f" {number}", expected.after, (f"expected: {expected.symbol}",), kind="title", arrow="order")
    return picture


class _Rows:
    """Puts events to the right of all that precede them."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.names: dict[str, str] = {}
        self.filled: dict[int, int] = {}

    def add(
        self,
        event: str,
        before: Iterable[str],
        lines: tuple[str, ...],
        *,
        kind: str = "state",
        arrow: str = "flow",
        marked: bool = False,
    ) -> None:
        earlier = [self.names[other] for other in before if other in self.names]
        column = 1 + max((self.picture.boxes[other].column for other in earlier), default=-1)
        row = self.filled[column] = self.filled.get(column, -1) + 1
        name = self.names[event] = f"e{len(self.names)}"
        self.picture.boxes[name] = Box(lines, column, row, kind, marked)
        self.picture.arrows += [Arrow(other, name, arrow) for other in earlier]
