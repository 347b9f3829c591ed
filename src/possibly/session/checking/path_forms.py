"""What a path expression compiles to, as data: its class, its forms, its automata and its net.

Here belongs the view of one expression with no run in sight (Modeling Concurrency in Parallel Debugging,
sections 3 and 4): the subclass and what keeps it from a smaller one, N(R), the predecessor automaton as it is
recognised (stabilised and free of ambiguity), the size of the one by the attribute grammar of figure 4-8, and
the Petri net.
"""

from __future__ import annotations

from dataclasses import dataclass

from possibly.detection.paths.inferred import inferred, names_of
from possibly.logic.paths.attributes import attributed, covers
from possibly.logic.paths.automaton import Automaton, automaton
from possibly.logic.paths.classes import Subclass, subclass
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.conversion import converted
from possibly.logic.paths.machine import Machine, TooMuchError
from possibly.logic.paths.nets.files import read_net
from possibly.logic.paths.nets.from_nets import expression_of
from possibly.logic.paths.nets.net import Net, net
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.syntax import Expression, path_text
from possibly.logic.source import Source
from possibly.order.computation import Computation
from possibly.trace.model import Trace

MOST_ATTRIBUTED = 12
"""Events of an expression whose automaton is computed by the attribute grammar: states multiply there."""


@dataclass(frozen=True, slots=True)
class Described:
    """One expression in all its forms; None where there is none."""

    text: str
    kind: Subclass
    events: tuple[str, ...]
    """What its atoms match, in the order of the text."""
    never_empty: str
    """The same with no empty body under a `*`, where the conversion applies."""
    automaton: Automaton | None
    net: Net
    attributed_states: int | None
    """States of the automaton by the attribute grammar."""


def described(text: str) -> Described:
    """All forms of an expression; an error in its text names the place."""
    expression = parse_path(Source(text, "EXPRESSION"))
    tree = compiled(expression)
    return Described(
        text=path_text(expression.root),
        kind=subclass(expression),
        events=tuple([atom.text for atom in expression.atoms]),
        never_empty=path_text(converted(expression.root)),
        automaton=_automaton(Machine(tree, tells=True)),
        net=net(tree),
        attributed_states=_attributed(expression),
    )


def _automaton(machine: Machine) -> Automaton | None:
    try:
        return automaton(machine)
    except TooMuchError:
        return None


def _attributed(expression: Expression) -> int | None:
    if len(expression.atoms) > MOST_ATTRIBUTED or not covers(expression.root):
        return None
    return attributed(converted(expression.root)).states


def expression_of_net(text: str, file: str) -> str:
    """The expression whose language are the runs of a safe net (appendix I.2); an error says why not."""
    return path_text(expression_of(read_net(text, file)).root)


def expression_from(trace: Trace, order: str, names: tuple[str, ...] = (), kind: str = "extended") -> str:
    """A small expression of that class which the run fits, about the events of these names, else all."""
    return inferred(Computation(trace, order), names or names_of(trace), kind)
