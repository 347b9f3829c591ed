"""Pictures of path expressions as DOT graphs: automaton, net, and the partial order of a run so far.

An automaton is drawn as in figures 4-1 to 4-11 of Modeling Concurrency in Parallel Debugging: an arc
carries an event and its predecessors, final states have two rings. In a net a place is a circle, a
transition a bar, silent ones are thin, and a zero test is an arc with a round head.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from possibly.views.export.dot import quoted

if TYPE_CHECKING:
    from possibly.logic.paths.automaton import Automaton
    from possibly.logic.paths.nets import Net

HEAD = (
    '  rankdir=LR;\n  node [fontname="monospace", fontsize=10];\n  edge [fontname="monospace", fontsize=9];\n'
)


def render_automaton(automaton: Automaton, name: str = "automaton") -> str:
    """The states and transitions."""
    lines = [
        f"  q{state} [label={quoted(str(state))}, "
        f"shape={'doublecircle' if state in automaton.final else 'circle'}];\n"
        for state in range(automaton.states)
    ]
    lines += [
        f"  q{each.source} -> q{each.target} [label={quoted('(' + each.label + ')')}];\n"
        for each in automaton.transitions
    ]
    return _graph(name, lines)


def render_net(net: Net, name: str = "net") -> str:
    """Places with their tokens, transitions and arcs."""
    lines = [
        f"  p{place} [label={quoted('•' * tokens)}, shape=circle];\n"
        for place, tokens in enumerate(net.initial)
    ]
    for number, each in enumerate(net.transitions):
        width = 0.05 if each.label is None else 0.2
        lines.append(
            f'  t{number} [label="", xlabel={quoted(each.label or "")}, shape=box, width={width}];\n'
        )
        lines += [f"  p{place} -> t{number};\n" for place in each.inputs]
        lines += [f"  t{number} -> p{place};\n" for place in each.outputs]
        lines += [f"  p{place} -> t{number} [arrowhead=odot];\n" for place in each.empty]
    return _graph(name, lines)


def render_order(events: Iterable[tuple[str, str, tuple[str, ...]]], name: str = "run") -> str:
    """A partial order from its events: each with its text and the events right before it."""
    return _graph(name, _order_lines(events))


def _order_lines(events: Iterable[tuple[str, str, tuple[str, ...]]]) -> Iterator[str]:
    numbers: dict[str, int] = {}
    for event, text, before in events:
        numbers[event] = len(numbers)
        yield f"  e{numbers[event]} [label={quoted(event, text)}];\n"
        yield from (f"  e{numbers[other]} -> e{numbers[event]};\n" for other in before)


def _graph(name: str, lines: Iterable[str]) -> str:
    return f"digraph {quoted(name)} {{\n{HEAD}{''.join(lines)}}}\n"
