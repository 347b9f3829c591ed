"""The automaton of a formula as a picture: the nodes of the tableau with their labels.

A node shows its number, the literals it demands of a state, and what it leaves to the next; an accepting
node has two borders, a strong one, which must not be the last, a star.
"""

from __future__ import annotations

from possibly.errors import UsageError
from possibly.logic.ltl.tableau import Node, Tableau, TableauTooLargeError
from possibly.logic.printer import unparse
from possibly.views.export.arcs import Arc, Graph, Shape

MOST_NODES = 60
LONGEST = 60


def automaton_graph(tableau: Tableau, title: str) -> Graph:
    """All nodes of the tableau and its arrows; `init` is the dummy node of the paper."""
    try:
        size = tableau.complete()
    except TableauTooLargeError:
        size = MOST_NODES + 1
    if size > MOST_NODES:
        raise UsageError(f"the automaton has more than {MOST_NODES} nodes: too many to draw")
    graph = Graph(title)
    graph.shapes.append(Shape("init", ("init",), "plain"))
    for node in tableau.nodes:
        kind = "double" if tableau.is_accepting(node.id) else "round"
        graph.shapes.append(Shape(f"n{node.id}", _lines(tableau, node), kind))
    graph.arcs += [Arc("init", f"n{node}") for node in tableau.initial]
    for node in tableau.nodes:
        graph.arcs += [Arc(f"n{node.id}", f"n{after}") for after in tableau.successors(node.id)]
    return graph


def _lines(tableau: Tableau, node: Node) -> tuple[str, ...]:
    atoms = [unparse(atom) for atom in tableau.atoms]
    label = [text for bit, text in enumerate(atoms) if node.positive >> bit & 1]
    label += [f"!{text}" for bit, text in enumerate(atoms) if node.negative >> bit & 1]
    following = [tableau.forms.text(f) for f in range(node.next.bit_length()) if node.next >> f & 1]
    lines = [f"{node.id}{' *' if node.strong else ''}: {' & '.join(label) or 'true'}"]
    if following:
        lines.append(f"next: {', '.join(following)}")
    return tuple([line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…" for line in lines])
