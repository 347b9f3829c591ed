"""`possibly paths EXPRESSION`: what a path expression compiles to, with no run in sight."""

from __future__ import annotations

import json

from possibly.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from possibly.session.checking.path_forms import Described

NAME = "paths"
SUMMARY = "show what a path expression compiles to: class, automaton, net; or find one for a run"
DESCRIPTION = (
    "Reads a path expression as expect, never and watch do, and says its class and why, its semantic model, "
    "the predecessor automaton that recognises it, its Petri net, and their sizes."
)
EXAMPLES = """\
examples:
  possibly paths 'open; (read + write)*; close'
  possibly paths 'a; (b & c)*; d' --json
  possibly paths '(enq; update)@; deq' --net --svg net.svg
  possibly paths --from run.jsonl --events open,read,close
  possibly paths --from-net net.json
"""
FORMS = ("svg", "dot", "png")
CLASSES = ("sequential", "safe", "general", "extended")
SHOWN = 40
"""Transitions that are listed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("expression", metavar="EXPRESSION", nargs="?", help="a path expression")
    parser.add_argument("--from", dest="trace", metavar="TRACE", help="find an expression that this run fits")
    parser.add_argument("--from-net", metavar="FILE", help="the expression of a safe Petri net, as JSON")
    parser.add_argument(
        "--class", dest="kind", choices=CLASSES, default="extended", help="its class (extended)"
    )
    parser.add_argument("--events", metavar="NAMES", help="the events it is about, as a,b,c (all)")
    parser.add_argument("--order", choices=("causal", "sync"), default="causal", help="the order (causal)")
    parser.add_argument("--json", action="store_true", help="print all of it as one JSON document")
    parser.add_argument("--net", action="store_true", help="draw the net, also where there is an automaton")
    for form in FORMS:
        parser.add_argument(f"--{form}", metavar="FILE", help=f"write the picture as {form.upper()}")


def run(arguments: argparse.Namespace) -> int:
    from possibly.session.checking.path_forms import described

    found = described(_expression(arguments))
    if any(getattr(arguments, form) for form in FORMS):
        _draw(found, arguments)
    print(json.dumps(document(found)) if arguments.json else "\n".join(lines(found)))
    return 0


def _expression(arguments: argparse.Namespace) -> str:
    from possibly.session.checking.path_forms import expression_of_net
    from possibly.views.cli.files import read_text

    given: str | None = arguments.expression
    if [given, arguments.trace, arguments.from_net].count(None) != 2:
        raise UsageError("give an expression, or a run with --from, or a net with --from-net")
    if arguments.from_net is not None:
        return expression_of_net(read_text(arguments.from_net), arguments.from_net)
    return given if given is not None else _inferred(arguments)


def _inferred(arguments: argparse.Namespace) -> str:
    from possibly.session.checking.path_forms import expression_from
    from possibly.views.cli.files import loaded

    names = tuple(filter(None, (arguments.events or "").split(",")))
    return expression_from(loaded(arguments.trace, None), arguments.order, names, arguments.kind)


def _draw(found: Described, arguments: argparse.Namespace) -> None:
    from possibly.views.cli.drawing.pictures import Drawn, write_picture
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
