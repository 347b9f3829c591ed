"""Flow graphs of a model's processes, as in figure 4 of "Temporal debugging for concurrent systems".

A statement is a box, a test has pointed ends and arrows for yes and no; each shows its label, or its line,
and its text. The node at which a process is, the last one it executed, is marked.
"""

from __future__ import annotations

from possibly.models.flow import Node
from possibly.models.model import Model, Process
from possibly.views.export.arcs import Arc, Graph, Shape

LONGEST = 48


def flow_graph(process: Process, state: int | None = None) -> Graph:
    """The flow graph of one process; with a state, its current node is marked."""
    current = process.edge(state).last if state is not None else None
    started = state is not None and current is None
    graph = Graph(process.name)
    graph.shapes.append(Shape("begin", ("begin",), "plain", started))
    graph.shapes += [_shape(node, node is current) for node in process.graph.nodes]
    graph.arcs.append(Arc("begin", _name(process.graph.start.target)))
    for node in process.graph.nodes:
        graph.arcs += [Arc(_name(node), _name(leaving.target), leaving.answer) for leaving in node.exits]
    if any(arc.second == "end" for arc in graph.arcs):
        graph.shapes.append(Shape("end", ("end",), "plain"))
    graph.arcs = list(dict.fromkeys(graph.arcs))
    return graph


def flow_graphs(model: Model, state: int | None = None, only: str | None = None) -> list[Graph]:
    return [flow_graph(process, state) for process in model.processes if only in (None, process.name)]


def _name(node: Node | None) -> str:
    return "end" if node is None else f"n{node.number}"


def _shape(node: Node, marked: bool) -> Shape:
    text = node.text if len(node.text) <= LONGEST else f"{node.text[: LONGEST - 1]}…"
    return Shape(_name(node), (f"{node.name}: {text}",), "test" if node.is_test else "box", marked)
