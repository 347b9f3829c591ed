"""`possibly view TRACE`: the picture of a trace as one self-contained HTML file."""

from __future__ import annotations

import argparse
import os

from possibly.views.cli.check import checked, status_of, write_page
from possibly.views.cli.files import loaded
from possibly.views.cli.net import add_picture_arguments, draw, wanted_picture
from possibly.views.cli.properties import (
    add_limit_arguments,
    add_property_arguments,
    has_properties,
    options_of,
    specification_of,
)

NAME = "view"
SUMMARY = "draw a trace as one self-contained HTML page"
DESCRIPTION = (
    "Draws a trace as one self-contained HTML page, with the answers to properties if some are given."
)
EXAMPLES = """\
examples:
  possibly view run.jsonl
  possibly view run.jsonl -o run.html --spec bank.spec
  possibly view run.jsonl --net
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", metavar="TRACE", help="a trace file")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the page to write (default: TRACE with .html)"
    )
    add_property_arguments(parser)
    add_limit_arguments(parser)
    add_picture_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    picture = wanted_picture(arguments)
    if picture is not None:
        return status_of(draw(arguments, picture, default_output(arguments.trace)))
    output = arguments.output or default_output(arguments.trace)
    if has_properties(arguments):
        options = options_of(arguments, explain=True)
        trace, report = checked(arguments.trace, specification_of(arguments), options)
    else:
        from possibly.verdict.model import Report

        trace = loaded(arguments.trace, None)
        report = Report(arguments.trace, len(trace.processes), len(trace), ())
    write_page(trace, report, arguments.order, output)
    if output != "-":
        print(f"Page: {output}")
    return status_of(report)


def default_output(trace: str) -> str:
    """`logs/run.jsonl.gz` becomes `run.html` in the current folder."""
    name = os.path.basename(trace)
    return name.split(".jsonl")[0].removesuffix(".columns") + ".html"
