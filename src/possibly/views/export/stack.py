"""The temporal stack as a picture, as in figure 1 of "Temporal debugging for concurrent systems".

A column of states with the transitions between them; a state in which one step ends and the next begins shows
the formulas on both sides, and is marked.
"""

from __future__ import annotations

from possibly.control.temporal.stack import TemporalStack
from possibly.session.debugging.temporal import changes, variables
from possibly.views.cli.debugger.commands import change_text
from possibly.views.export.arcs import Arc, Graph, Shape

MOST_STATES = 400
LONGEST = 70


def stack_graph(stack: TemporalStack, title: str) -> Graph:
    """The path of the stack; of a long one its end."""
    graph = Graph(title)
    first = max(0, len(stack.path) - MOST_STATES)
    begins = _begins(stack)
    values = [variables(stack.system, state) for state in stack.path[first:]]
    for number, state in enumerate(values, start=first):
        texts = [f"step {step}: {text}" for step, text in begins.get(number, ())]
        before = values[number - first - 1] if number > first else {}
        changed = [change_text(name, *pair) for name, pair in changes(before, state).items()]
        lines = [*texts, f"{number}" + (f"  {', '.join(changed)}" if changed else "")]
        shown = tuple([line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…" for line in lines])
        graph.shapes.append(Shape(f"s{number}", shown, "round", marked=number in begins))
    for number, move in enumerate(stack.moves):
        if number >= first:
            graph.arcs.append(Arc(f"s{number}", f"s{number + 1}", move.name))
    return graph


def _begins(stack: TemporalStack) -> dict[int, list[tuple[int, str]]]:
    """The states in which steps begin or end, with the steps that begin there."""
    found: dict[int, list[tuple[int, str]]] = {}
    at = 0
    for number, step in enumerate(stack.steps, start=1):
        found.setdefault(at, []).append((number, step.text))
        at += len(step.path.moves)
    found.setdefault(at, [])
    return found
