"""`possibly export TRACE --to FORMAT`: a trace in a foreign format, or in another form of our own."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from typing import TYPE_CHECKING

from possibly.errors import UsageError
from possibly.views.cli.files import loaded, named_errors, write_lines_to, write_text
from possibly.views.cli.progress import terminal_progress
from possibly.views.cli.properties import add_order_argument

if TYPE_CHECKING:
    from possibly.trace.model import Trace

NAME = "export"
SUMMARY = "write a trace in another format"
DESCRIPTION = "Writes a trace as a DOT graph, as a ShiViz log, as JSON Lines or in the compact columnar form."
EXAMPLES = """\
examples:
  possibly export run.jsonl --to dot | dot -Tsvg > run.svg
  possibly export run.jsonl --to shiviz -o run.log
  possibly export run.jsonl --to jsonl -o run.jsonl.gz
  possibly export run.jsonl --to columns -o run.columns
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", metavar="TRACE", help="a trace file")
    parser.add_argument(
        "--to", required=True, choices=("dot", "shiviz", "promela", "jsonl", "columns"), help="the format"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="the file to write (standard output)"
    )
    add_order_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    output = arguments.output
    if arguments.to == "columns" and output == "-":
        raise UsageError("the columnar form is binary: name a file with -o FILE")
    progress = terminal_progress()
    with progress or nullcontext():
        trace = loaded(arguments.trace, progress)
    match arguments.to:
        case "columns":
            from possibly.trace.columns import write_columns

            with named_errors(output):
                write_columns(trace, output)
        case "jsonl":
            from possibly.trace import write_lines

            write_lines_to(output, write_lines(trace))
        case _:
            write_text(output, rendered(trace, arguments.to, arguments.order))
    return 0


def rendered(trace: Trace, form: str, order: str) -> str:
    """The trace as a text in the format of that name."""
    from possibly.order.computation import Computation

    computation = Computation(trace, order)
    if form == "dot":
        from possibly.views.export.dot import render_dot

        return render_dot(computation)
    if form == "promela":
        from possibly.views.export.promela import render_promela

        return render_promela(computation)
    from possibly.views.export.shiviz import render_shiviz

    return render_shiviz(computation)
