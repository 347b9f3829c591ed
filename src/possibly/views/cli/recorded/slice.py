"""`possibly slice TRACE PREDICATE`: the cuts that satisfy a predicate, as the trace with edges added."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from possibly.errors import UsageError
from possibly.logic.specification import CLASS_WORDS
from possibly.views.cli.files import loaded, write_text
from possibly.views.cli.messages import remark
from possibly.views.cli.properties import add_order_argument, seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from possibly.session.checking.slicing import SlicedTrace

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
  possibly slice run.jsonl 'P1.x > 1' --or 'P2.y <= 3' --explain --timeout 10
"""
SHOWN_EDGES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", metavar="TRACE", help="a trace file")
    parser.add_argument("predicate", metavar="PREDICATE", help="a state predicate, or a ctl formula")
    for word, what in (("and", "all"), ("or", "any")):
        parser.add_argument(
            f"--{word}",
            dest=f"{word}_",
            metavar="PREDICATE",
            action="append",
            default=[],
            help=f"join the slice with that of another: the cuts of {what} of them; may be given again",
        )
    add_order_argument(parser)
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=seconds, help="give up after that time (status 3)"
    )
    parser.add_argument("--explain", action="store_true", help="also say how the slice was made")
    parser.add_argument(
        "--class",
        dest="declared",
        choices=CLASS_WORDS,
        help="a class that you vouch for, so that the slice is exact on a long run too",
    )
    parser.add_argument("--json", action="store_true", help="print the slice as one JSON document")
    parser.add_argument("--dot", metavar="FILE", help="write a picture of the trace with the slice's edges")
    for form in ("svg", "png"):
        what = f"write a picture of the slice as {form.upper()}: what every cut has all or none of"
        parser.add_argument(f"--{form}", metavar="FILE", help=what)


def run(arguments: argparse.Namespace) -> int:
    from possibly.session.checking.slicing import slice_trace

    if arguments.and_ and arguments.or_:
        raise UsageError("join slices by --and or by --or: one of them")
    joined = "and" if arguments.and_ else "or"
    more = tuple(arguments.and_ or arguments.or_)
    try:
        with ended_after(arguments.timeout):
            trace = loaded(arguments.trace, None)
            found = slice_trace(
                trace, arguments.predicate, arguments.order, "PREDICATE", arguments.declared, joined, more
            )
            return _written(found, arguments)
    except TimeoutError:
        remark(f"not sliced within {arguments.timeout:g} s; raise --timeout")
        return 3


def _written(found: SlicedTrace, arguments: argparse.Namespace) -> int:
    for warning in found.warnings:
        remark(f"warning: {warning}")
    if arguments.dot:
        from possibly.views.export.dot import render_dot

        write_text(arguments.dot, render_dot(found.slice.computation, found.slice.all_edges()))
    if arguments.svg or arguments.png:
        _draw(found, arguments)
    print(json.dumps(document(found)) if arguments.json else described(found, arguments.explain))
    return 0


@contextmanager
def ended_after(seconds: float | None) -> Iterator[None]:
    """Ends the work inside by TimeoutError when the time is up, in whatever loop it is then.

    What was begun is thrown away with it, so that nothing half made is ever looked at.
    """

    def end(*_: object) -> None:
        raise TimeoutError

    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _draw(found: SlicedTrace, arguments: argparse.Namespace) -> None:
    """The components of the slice, as `possibly view --slice` draws them."""
    from possibly.order.lattice import Lattice
    from possibly.views.cli.drawing.pictures import Drawn, write_picture
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


def described(found: SlicedTrace, explains: bool = False) -> str:
    """The slice for a person."""
    from possibly.views.text.words import plain

    if found.slice.is_empty:
        told = [f"  {plain(line)}" for line in found.made] if explains else []
        return "\n".join([f"No cut satisfies {plain(found.predicate)}.", *told])
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
    if explains:
        lines += [f"  {plain(line)}" for line in found.made]
    return "\n".join(lines)


def _cut(cut: dict[str, int] | None) -> str:
    from possibly.views.text.words import plain

    return ", ".join(f"{plain(process)}: {count}" for process, count in (cut or {}).items())
