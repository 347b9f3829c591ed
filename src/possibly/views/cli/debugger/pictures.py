"""The commands of the temporal debugger that draw: flow graphs, the automaton, the stack.

Without a file `graph` and `automaton` say in text what the picture would show; with a file they write SVG,
PNG or DOT, as its name ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from possibly.errors import UsageError
from possibly.logic.ltl.tableau import Tableau
from possibly.session.debugging.temporal import Debugger
from possibly.views.cli.debugger.commands import Command, Reply, names
from possibly.views.cli.drawing.pictures import FORMS, graphs_drawn, write_picture
from possibly.views.export.arcs import Graph
from possibly.views.export.automaton import automaton_graph
from possibly.views.export.source_graph import graphs_here
from possibly.views.export.stack import stack_graph
from possibly.views.text.words import plain

PICTURES = tuple(f".{form}" for form in FORMS)


def _split_file(rest: str) -> tuple[str, str | None]:
    """The argument, and a file for the picture if the last word is one."""
    before, _, last = rest.rpartition(" ")
    return (before.strip(), last) if last.endswith(PICTURES) else (rest, None)


def _shown(title: str, graphs: Sequence[Graph], file: str | None) -> Reply:
    if file is None:
        return Reply(
            "\n\n".join(map(graph_text, graphs)), {"graphs": [graph_data(graph) for graph in graphs]}
        )
    write_picture(graphs_drawn(title, graphs), file.rpartition(".")[2], file)
    return Reply(f"picture: {plain(file)}", {"file": file})


def graph_text(graph: Graph) -> str:
    """A graph in words: a line a node, `>` at the marked ones, and where its arrows lead."""
    first = {shape.name: shape.lines[0].split(":")[0] for shape in graph.shapes}
    lines = [plain(graph.title)]
    for shape in graph.shapes:
        arrows = [
            (f"{arc.text} " if arc.text else "") + first[arc.second]
            for arc in graph.arcs
            if arc.first == shape.name
        ]
        mark = ">" if shape.marked else " "
        shown = "; ".join(map(plain, shape.lines))
        lines.append(f"{mark} {shown:<40} -> {', '.join(arrows)}".rstrip() if arrows else f"{mark} {shown}")
    return "\n".join(lines)


def graph_data(graph: Graph) -> dict[str, object]:
    return {
        "title": graph.title,
        "nodes": [
            {"name": s.name, "lines": list(s.lines), "kind": s.kind, "marked": s.marked} for s in graph.shapes
        ],
        "arrows": [[arc.first, arc.second, arc.text] for arc in graph.arcs],
    }


def _graph(debugger: Debugger, rest: str) -> Reply:
    process, file = _split_file(rest)
    if process and process not in debugger.system.vocabulary.processes:
        raise UsageError(
            f"there is no process {process}", hint=" ".join(debugger.system.vocabulary.processes)
        )
    graphs = graphs_here(debugger, process or None)
    if not graphs:
        raise UsageError(
            "flow graphs are drawn of models and of programs that run",
            hint="`possibly view TRACE` draws a trace",
        )
    return _shown(debugger.path, graphs, file)


def _automaton(debugger: Debugger, rest: str) -> Reply:
    formula, file = _split_file(rest)
    if formula:
        node, text = debugger.stack.bound(formula), formula
    else:
        last = next((s for s in reversed(debugger.stack.steps) if s.formula is not None), None)
        if last is None or last.formula is None:
            raise UsageError("automaton needs a formula, or a step on the stack")
        node, text = last.formula, last.text
    return _shown(text, [automaton_graph(Tableau(node), text)], file)


def _picture(debugger: Debugger, rest: str) -> Reply:
    if not rest.endswith(PICTURES):
        raise UsageError("picture needs a file that ends in .svg, .png or .dot")
    return _shown(debugger.path, [stack_graph(debugger.stack, debugger.path)], rest)


COMMANDS = (
    Command(
        "graph",
        "graph [PROCESS] [FILE.svg|.png|.dot]",
        "the flow graph of a process, its current node marked",
        _graph,
        lambda debugger: debugger.system.vocabulary.processes,
    ),
    Command(
        "automaton",
        "automaton [FORMULA] [FILE.svg|.png|.dot]",
        "the automaton of a formula, or of the last step",
        _automaton,
        names,
    ),
    Command("picture", "picture FILE.svg|.png|.dot", "draw the temporal stack", _picture),
)
