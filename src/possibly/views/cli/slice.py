"""`possibly slice TRACE PREDICATE`: the cuts that satisfy a predicate, as the trace with edges added."""

from __future__ import annotations

import json

from possibly.views.cli.files import loaded, write_text
from possibly.views.cli.messages import remark
from possibly.views.cli.properties import add_order_argument

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from possibly.session.slicing import SlicedTrace

NAME = "slice"
SUMMARY = "compute the slice of a trace for a predicate"
DESCRIPTION = (
    "Computes the slice of a trace for a predicate: the trace with edges added, so that its cuts are the "
    "smallest lattice that contains every cut which satisfies the predicate."
)
EXAMPLES = """\
examples:
  possibly slice run.jsonl 'P1.x > 1 & P2.y <= 3'
  possibly slice run.jsonl 'transit(P1, P2) == 0' --json
  possibly slice run.jsonl 'EF(P1.done & EG(P2.ready))' --dot slice.dot
  possibly slice run.jsonl 'P1.x > 1 & P2.y <= 3' --svg slice.svg
"""
SHOWN_EDGES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", metavar="TRACE", help="a trace file")
    parser.add_argument("predicate", metavar="PREDICATE", help="a state predicate, or a ctl formula")
    add_order_argument(parser)
    parser.add_argument(
        "--class",
        dest="declared",
        choices=("stable", "co-stable", "co-linear", "co-regular"),
        help="a class that you vouch for, so that the slice is exact on a long run too",
    )
    parser.add_argument("--json", action="store_true", help="print the slice as one JSON document")
    parser.add_argument("--dot", metavar="FILE", help="write a picture of the trace with the slice's edges")
    for form in ("svg", "png"):
        what = f"write a picture of the slice as {form.upper()}: what every cut has all or none of"
        parser.add_argument(f"--{form}", metavar="FILE", help=what)


def run(arguments: argparse.Namespace) -> int:
    from possibly.session.slicing import slice_trace

    trace = loaded(arguments.trace, None)
    found = slice_trace(trace, arguments.predicate, arguments.order, "PREDICATE", arguments.declared)
    for warning in found.warnings:
        remark(f"warning: {warning}")
    if arguments.dot:
        from possibly.views.export.dot import render_dot

        write_text(arguments.dot, render_dot(found.slice.computation, found.slice.all_edges()))
    if arguments.svg or arguments.png:
        _draw(found, arguments)
    print(json.dumps(document(found)) if arguments.json else described(found))
    return 0


def _draw(found: SlicedTrace, arguments: argparse.Namespace) -> None:
    """The components of the slice, as `possibly view --slice` draws them."""
    from possibly.order.lattice import Lattice
    from possibly.views.cli.pictures import Drawn, write_picture
    from possibly.views.export.boxes import render_dot_picture, render_svg_picture
    from possibly.views.export.graphs import slice_graph_picture
    from possibly.views.web.lattices import slice_document

    computation = found.slice.computation
    described = slice_document(found.slice, found.predicate, None, Lattice(computation))
    picture = slice_graph_picture(described, computation)
    drawn = Drawn(lambda: render_svg_picture(picture), lambda: render_dot_picture(picture))
    for form in ("svg", "png"):
        if path := getattr(arguments, form):
            write_picture(drawn, form, path)


def document(found: SlicedTrace) -> dict[str, object]:
    """The slice for programs."""
    return {
        "empty": found.slice.is_empty,
        "lean": found.slice.lean,
        "exact": found.slice.exact,
        "least": found.least,
        "greatest": found.greatest,
        "edges": [list(edge) for edge in found.edges],
        "events": len(found.slice.computation.trace),
    }


def described(found: SlicedTrace) -> str:
    """The slice for a person."""
    from possibly.views.text.words import plain

    if found.slice.is_empty:
        return f"No cut satisfies {plain(found.predicate)}."
    lean: dict[bool | None, str] = {
        True: "all its cuts satisfy it",
        False: "some of its cuts do not satisfy it",
        None: "its cuts need not all satisfy it",
    }
    kind = "The slice" if found.slice.exact else "An approximate slice, which may contain more than needed,"
    lines = [
        f"{kind} for {plain(found.predicate)}: {lean[found.slice.lean]}.",
        f"  least cut:    {_cut(found.least)}",
        f"  greatest cut: {_cut(found.greatest)}",
        f"  {len(found.edges)} edges added to {len(found.slice.computation.trace)} events"
        + (":" if found.edges else ""),
    ]
    shown = found.edges[:SHOWN_EDGES]
    lines += [f"    {plain(e)} before {plain(f)}" for e, f in shown]
    if len(found.edges) > len(shown):
        lines.append(f"    … and {len(found.edges) - len(shown)} more (--json lists all)")
    return "\n".join(lines)


def _cut(cut: dict[str, int] | None) -> str:
    from possibly.views.text.words import plain

    return ", ".join(f"{plain(process)}: {count}" for process, count in (cut or {}).items())
