"""A computation as a DOT graph: a cluster a process, its events in their order, arrows between clusters.

Nodes are called by the event's number, never by a name from the trace; names stand in labels only, where
`quoted` makes them exact. The output depends on the trace alone, so equal traces give equal text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from possibly.views.text.words import plain, value_text

if TYPE_CHECKING:
    from possibly.order.computation import Computation, Place
    from possibly.trace.model import Trace

HEAD = """\
  rankdir=LR;
  newrank=true;
  node [shape=box, style=rounded, fontname="monospace", fontsize=10];
  edge [fontname="monospace", fontsize=9];
"""
STYLES = {"message": "color=blue", "order": "style=dashed", "joint": "dir=none, style=bold"}


def render_dot(computation: Computation, added: Iterable[tuple[Place | None, Place | None]] = ()) -> str:
    """The graph as a text in the DOT language; `added` are the edges of a slice."""
    trace = computation.trace
    clusters = "".join(_cluster(trace, process) for process in range(len(trace.processes)))
    edges = "".join([*_edges(computation), *_added(computation, added)])
    return f"digraph {quoted(trace.file or 'trace')} {{\n{HEAD}{clusters}{edges}}}\n"


def quoted(*lines: str) -> str:
    """A DOT string that shows exactly these lines."""
    return '"' + "\\n".join(plain(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'


def _cluster(trace: Trace, process: int) -> str:
    name, initial = trace.processes[process].name, trace.processes[process].init
    lines = [f"{variable} = {value_text(value)}" for variable, value in initial.items()]
    nodes = [f"    p{process} [label={quoted(name, *lines)}, shape=plaintext];\n"]
    nodes += [f"    e{event} [label={_label(trace, event)}];\n" for event in trace.events_of[process]]
    chain = " -> ".join([f"p{process}", *(f"e{event}" for event in trace.events_of[process])])
    order = f"    {chain};\n" if trace.events_of[process] else ""
    return f"  subgraph cluster_{process} {{\n    label={quoted(name)};\n{''.join(nodes)}{order}  }}\n"


def _label(trace: Trace, event: int) -> str:
    facts = trace.event(event)
    action = " ".join(
        filter(None, (facts.kind, facts.fn, facts.msg, f"[{facts.label}]" if facts.label else ""))
    )
    assigned = [f"{name} = {value_text(value)}" for name, value in (*facts.set.items(), *facts.write.items())]
    return quoted(facts.name, action, *assigned, *([facts.at] if facts.at else []))


def _edges(computation: Computation) -> Iterator[str]:
    trace = computation.trace
    messages = set(zip(trace.delivery_send, trace.delivery_receive, strict=True))
    for event in range(len(trace)):
        for other in computation.predecessors(event):
            if computation.step(other) == computation.step(event):
                if other < event:
                    yield f"  e{other} -> e{event} [{STYLES['joint']}];\n"
                continue
            kind = "message" if (other, event) in messages else "order"
            yield f"  e{other} -> e{event} [{STYLES[kind]}];\n"


def _added(computation: Computation, added: Iterable[tuple[Place | None, Place | None]]) -> Iterator[str]:
    """The edges of a slice; the fictitious events are drawn once they are needed."""
    nodes = {"bottom": "in every cut", "top": "in no cut"}
    lines = []
    for e, f in added:
        ends = [
            "top" if e is None else f"e{computation.at(*e)}",
            "bottom" if f is None else f"e{computation.at(*f)}",
        ]
        lines.append(f"  {ends[0]} -> {ends[1]} [color=red, constraint=false];\n")
    used = "".join(lines)
    for name, label in nodes.items():
        if f" {name} " in used:
            yield f"  {name} [label={quoted(label)}, shape=ellipse];\n"
    yield from lines
