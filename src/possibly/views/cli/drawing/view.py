"""`possibly view FILE`: the picture as one self-contained HTML file, as one drawing, or live."""

from __future__ import annotations

import argparse
import os
from contextlib import nullcontext

from possibly.errors import UsageError
from possibly.views.cli.drawing.pictures import (
    add_picture_arguments,
    draw,
    draw_other,
    executions_of,
    flow_graphs_of,
    is_tree_file,
    tree_of,
    wanted_picture,
    write_tree_page,
)
from possibly.views.cli.files import loaded, write_text
from possibly.views.cli.progress import terminal_progress
from possibly.views.cli.properties import (
    add_limit_arguments,
    add_property_arguments,
    has_properties,
    options_of,
    specification_of,
)
from possibly.views.cli.recorded.check import checked

NAME = "view"
SUMMARY = "draw a trace as one self-contained HTML page, or live"
DESCRIPTION = (
    "Draws a trace as one self-contained HTML page, with the answers to properties if some are given: the "
    "run, its cuts, what could have happened instead, and why a property fails. With --serve it is live."
)
EXAMPLES = """\
examples:
  possibly view run.jsonl
  possibly view run.jsonl -o run.html --spec bank.spec
  possibly view run.jsonl --serve
  possibly view search.json
  possibly view dekker.py --serve
  possibly view run.jsonl --svg run.svg --png run.png
  possibly view run.jsonl --lattice --spec bank.spec --svg cuts.svg
  possibly view run.jsonl --slice 'P1.x > 1 & P2.y <= 3' --dot slice.dot
"""


SEARCH = b"possibly tree "
"""How the file of `possibly explore --resume` begins (`control.treefile`)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "trace", metavar="FILE", help="a trace, a model, a saved tree, or with --serve a program"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the page to write (default: the name of the trace with .html)"
    )
    group = parser.add_argument_group("the live page")
    group.add_argument("--serve", action="store_true", help="serve the page on this machine until Ctrl-C")
    group.add_argument("--port", metavar="N", type=int, default=0, help="the port (default: a free one)")
    group.add_argument("--no-browser", action="store_true", help="do not open a browser")
    add_property_arguments(parser)
    add_limit_arguments(parser)
    add_picture_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    picture = wanted_picture(arguments)
    if arguments.serve:
        if picture is not None or arguments.output is not None:
            raise UsageError("--serve shows the live page and writes no file: leave out the other one")
        from possibly.views.cli.drawing.serve import serve

        return serve(arguments)
    if arguments.trace.endswith(".py") or is_tree_file(arguments.trace):
        return _view_other(arguments, picture)
    _check_trace(arguments.trace)
    if picture is not None:
        draw(arguments, picture, default_output(arguments.trace))
        return 0
    output = arguments.output or default_output(arguments.trace)
    specification = None
    if has_properties(arguments):
        specification = specification_of(arguments)
        options = options_of(arguments, explain=True, is_drawn=True)
        trace, report = checked(arguments.trace, specification, options)
    else:
        from possibly.verdict.model import Report

        progress = terminal_progress()
        with progress or nullcontext():
            trace = loaded(arguments.trace, progress)
        report = Report(arguments.trace, len(trace.processes), len(trace), ())
    from possibly.views.cli.drawing.pages import write_page

    write_page(trace, report, specification, arguments, output)
    if output != "-":
        print(f"Page: {output}")
    return 0


def _check_trace(path: str) -> None:
    """A search that can be resumed holds what is left to do, and forgets what it has done."""
    try:
        with open(path, "rb") as stream:
            is_search = stream.read(len(SEARCH)) == SEARCH
    except OSError:
        return  # whoever reads it says what is wrong
    if is_search:
        raise UsageError(
            "this is a search to be resumed, which keeps only what is left to do",
            file=path,
            hint="possibly explore --tree FILE.json PROGRAM writes a tree to look at",
        )


def _view_other(arguments: argparse.Namespace, picture: str | None) -> int:
    """A model file: its flow graphs. A saved tree: the tree."""
    if has_properties(arguments):
        raise UsageError(
            "properties are checked on traces, and this file is none",
            hint="a model is stepped through: use --serve, or possibly debug",
        )
    stem = default_output(arguments.trace)
    if picture is not None:
        draw_other(arguments, picture, stem)
        return 0
    output = arguments.output or stem
    if is_tree_file(arguments.trace) and executions_of(arguments.trace) is None:
        write_tree_page(arguments.trace, output, arguments.trace)
    else:
        _write_graphs(arguments.trace, output)
    if output != "-":
        print(f"Page: {output}")
    return 0


def _write_graphs(path: str, output: str) -> None:
    from possibly.views.web.document import Contents, picture_document
    from possibly.views.web.page import page_of

    if is_tree_file(path):
        contents = Contents(trees=[tree_of(path)])
    else:
        contents = Contents(pictures=flow_graphs_of(path))
    write_text(output, page_of(picture_document(path, None, None, contents)))


def default_output(trace: str) -> str:
    """`logs/run.jsonl.gz` becomes `run.html` in the current folder."""
    name = os.path.basename(trace)
    return (
        name.split(".jsonl")[0].removesuffix(".columns").removesuffix(".py").removesuffix(".json") + ".html"
    )
