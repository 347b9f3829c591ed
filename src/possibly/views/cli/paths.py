"""`possibly paths EXPRESSION`: what a path expression compiles to, with no run in sight."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from possibly.session.paths_described import Described

NAME = "paths"
SUMMARY = "show what a path expression compiles to: class, automaton, net"
DESCRIPTION = (
    "Reads a path expression as expect, never and watch do, and says its class and why, its semantic model, "
    "the predecessor automaton that recognises it, its Petri net, and their sizes."
)
EXAMPLES = """\
examples:
  possibly paths 'open; (read + write)*; close'
  possibly paths 'a; (b & c)*; d' --json
  possibly paths '(enq; update)@; deq' --net --svg net.svg
"""
FORMS = ("svg", "dot", "png")
SHOWN = 40
"""Transitions that are listed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("expression", metavar="EXPRESSION", help="a path expression")
    parser.add_argument("--json", action="store_true", help="print all of it as one JSON document")
    parser.add_argument("--net", action="store_true", help="draw the net, also where there is an automaton")
    for form in FORMS:
        parser.add_argument(f"--{form}", metavar="FILE", help=f"write the picture as {form.upper()}")


def run(arguments: argparse.Namespace) -> int:
    from possibly.session.paths_described import described

    found = described(arguments.expression)
    if any(getattr(arguments, form) for form in FORMS):
        _draw(found, arguments)
    print(json.dumps(document(found)) if arguments.json else "\n".join(lines(found)))
    return 0


def _draw(found: Described, arguments: argparse.Namespace) -> None:
    from possibly.views.cli.pictures import Drawn, write_picture
    from possibly.views.export.boxes import render_dot_picture, render_svg_picture
    from possibly.views.export.graphs import automaton_picture, path_net_picture

    if found.automaton is not None and not arguments.net:
        picture = automaton_picture(found.automaton, f"Automaton of {found.text}")
    else:
        picture = path_net_picture(found.net, f"Net of {found.text}")
    drawn = Drawn(lambda: render_svg_picture(picture), lambda: render_dot_picture(picture))
    for form in FORMS:
        if path := getattr(arguments, form):
            write_picture(drawn, form, path)


def document(found: Described) -> dict[str, Any]:
    """Everything, for programs."""
    states = found.automaton
    return {
        "expression": found.text,
        "class": found.kind.name,
        "why": found.kind.why,
        "model": found.kind.model,
        "engine": found.kind.engine,
        "events": list(found.events),
        "never_empty": found.never_empty,
        "automaton": None if states is None else {
            "states": states.states,
            "final": sorted(states.final),
            "transitions": [
                {"from": t.source, "event": t.event, "after": list(t.predecessors), "to": t.target}
                for t in states.transitions
            ],
        },
        "attributed_states": found.attributed_states,
        "net": {
            "places": found.net.places,
            "initial": list(found.net.initial),
            "final": list(found.net.final),
            "transitions": [
                {"event": t.label, "inputs": t.inputs, "outputs": t.outputs, "empty": t.empty}
                for t in found.net.transitions
            ],
        },
    }  # fmt: skip


def lines(found: Described) -> Iterator[str]:
    """The same to read."""
    yield found.text
    yield f"  class {found.kind.name}: {found.kind.why}"
    yield f"  model: {found.kind.model}; recognised by engine {found.kind.engine}"
    if found.never_empty != found.text:
        yield f"  with no empty body under a *: {found.never_empty}"
    yield from _automaton_lines(found)
    yield f"  net: {found.net.places} places, {len(found.net.transitions)} transitions"


def _automaton_lines(found: Described) -> Iterator[str]:
    states = found.automaton
    if states is None:
        yield "  predecessor automaton: too many states to list, or no end of them"
        return
    final = ", ".join(map(str, sorted(states.final))) or "none"
    yield f"  predecessor automaton: {states.states} states, final {final}"
    if found.attributed_states is not None:
        yield f"  by the attribute grammar, before events are renamed back: {found.attributed_states} states"
    for each in states.transitions[:SHOWN]:
        yield f"    {each.source} --({each.label})--> {each.target}"
    if len(states.transitions) > SHOWN:
        yield f"    ... and {len(states.transitions) - SHOWN} more transitions"
