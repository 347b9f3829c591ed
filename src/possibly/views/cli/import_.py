"""`possibly import FORMAT LOG`: a foreign log becomes a trace file, one for each execution in it."""

from __future__ import annotations

import argparse
import os
import re

from possibly.views.cli.files import read_text, write_lines_to
from possibly.views.text.words import plain

NAME = "import"
SUMMARY = "read a log of another tool and write it as a trace"
DESCRIPTION = (
    "Reads a ShiViz log, spans of OpenTelemetry in OTLP JSON, or traces in Jaeger's JSON, and writes them as "
    "a trace file, or as several if a log has several executions."
)
EXAMPLES = """\
examples:
  possibly import shiviz run.log -o run.jsonl
  possibly import shiviz run.log -o run.jsonl --parser '(?<host>\\S+) (?<clock>{.*})\\n(?<event>.*)'
  possibly import shiviz all.log -o run.jsonl --delimiter '^=== (?<trace>.*) ===$'
  possibly import otlp spans.json -o run.jsonl
  possibly import jaeger traces.json -o run.jsonl

The parser has the named groups event, host and clock; all others become local variables.
With several executions, run.jsonl becomes run-1.jsonl, run-2.jsonl, ... or run-LABEL.jsonl.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("format", choices=("shiviz", "otlp", "jaeger"), help="the format of the log")
    parser.add_argument("log", metavar="LOG", help="the log; - is standard input")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the trace to write")
    parser.add_argument("--parser", metavar="REGEX", help="how an event is written in the log")
    parser.add_argument("--delimiter", metavar="REGEX", help="what stands between two executions")


def run(arguments: argparse.Namespace) -> int:
    from possibly.trace import write_lines
    from possibly.trace.importers import importer

    lines = read_text(arguments.log).split("\n")
    read = importer(arguments.format)
    executions = read(lines, arguments.parser, arguments.delimiter, file=arguments.log)
    names = output_names(arguments.output, [label for label, _ in executions])
    for name, (_, trace) in zip(names, executions, strict=True):
        write_lines_to(name, write_lines(trace))
        if name != "-":
            print(f"Trace: {plain(name)}")
    return 0


def output_names(output: str, labels: list[str]) -> list[str]:
    """A file for each execution: the output itself, or with the label or the number before its suffix."""
    if len(labels) == 1 or output == "-":
        return [output] * len(labels)
    folder, file = os.path.split(output)
    stem, dot, suffix = file.partition(".")
    found: dict[str, None] = {}
    for number, label in enumerate(labels, start=1):
        # A label comes from the log: nothing in it may lead to another folder.
        part = re.sub(r"[^\w.-]+", "_", label).strip("._") or str(number)
        while f"{stem}-{part}{dot}{suffix}" in found:
            part += f"-{number}"
        found[f"{stem}-{part}{dot}{suffix}"] = None
    return [os.path.join(folder, name) for name in found]
