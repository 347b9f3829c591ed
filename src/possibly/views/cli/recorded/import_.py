"""`possibly import FORMAT LOG`: a foreign log becomes a trace file, one for each execution in it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator

from possibly.errors import UsageError
from possibly.views.cli.files import read_text, write_lines_to
from possibly.views.text.words import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from possibly.trace.importers.lines import Layout
    from possibly.trace.model import Trace

NAME = "import"
SUMMARY = "read a log of another tool and write it as a trace"
DESCRIPTION = (
    "Reads a ShiViz log, spans of OpenTelemetry in OTLP JSON, traces in Jaeger's JSON, an OTF2 archive of "
    "MPI ranks, or any log with an event a line, and writes them as a trace file, or as several if a log "
    "has several executions."
)
EXAMPLES = """\
examples:
  possibly import shiviz run.log -o run.jsonl
  possibly import shiviz run.log -o run.jsonl --parser '(?<host>\\S+) (?<clock>{.*})\\n(?<event>.*)'
  possibly import shiviz all.log -o run.jsonl --delimiter '^=== (?<trace>.*) ===$'
  possibly import otlp spans.json -o run.jsonl
  possibly import jaeger traces.json -o run.jsonl
  possibly import otf2 traces.otf2 -o run.jsonl
  possibly import lines raft.ndjson -o run.jsonl --process node --label name --set term=state.term \\
    --send 'name=Send*' --receive 'name=Receive*' --message msg.type,msg.from,msg.to,msg.term
  possibly import lines server.log -o run.jsonl --process 'client {ClientID}' --label TransactionType

A parser for shiviz has the named groups event, host and clock; all others become local variables.
For lines, fields are those of a JSON object, name=value pairs, or the groups of a parser; inner fields have
dots in their names, and a text may have fields in braces.
With several executions, run.jsonl becomes run-1.jsonl, run-2.jsonl, ... or run-LABEL.jsonl.
"""


FORMATS = ("shiviz", "otlp", "jaeger", "lines", "otf2")
LINES = ("process", "label", "set", "send", "receive", "message", "to", "clock", "time")
"""Options that say what the fields of lines mean."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("format", choices=FORMATS, help="the format of the log")
    parser.add_argument("log", metavar="LOG", help="the log; - is standard input")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the trace to write")
    parser.add_argument("--parser", metavar="REGEX", help="how an event is written in the log")
    parser.add_argument("--delimiter", metavar="REGEX", help="what stands between two executions (shiviz)")
    lines = parser.add_argument_group("for lines")
    lines.add_argument("--process", metavar="FIELD", help="who did it, as a field or a text with {FIELD}")
    lines.add_argument("--label", metavar="FIELD", help="what happened")
    lines.add_argument(
        "--set", metavar="NAME=FIELD", action="append", help="a variable; without any, all plain fields are"
    )
    lines.add_argument(
        "--send", metavar="FIELD=TEXT", action="append", help="which lines send; * is any text"
    )
    lines.add_argument("--receive", metavar="FIELD=TEXT", action="append", help="which lines receive")
    lines.add_argument("--message", metavar="FIELD,...", help="the fields that a send and its receive share")
    lines.add_argument("--to", metavar="FIELD", help="the process that a message is for")
    lines.add_argument("--clock", metavar="FIELD", help="a vector clock, which says the order")
    lines.add_argument("--time", metavar="FIELD", help="seconds or a date; orders nothing")


def run(arguments: argparse.Namespace) -> int:
    from possibly.trace import write_lines

    executions = _executions(arguments)
    names = output_names(arguments.output, [label for label, _ in executions])
    for name, (_, trace) in zip(names, executions, strict=True):
        write_lines_to(name, write_lines(trace))
        if name != "-":
            print(f"Trace: {plain(name)}")
    return 0


def _executions(arguments: argparse.Namespace) -> list[tuple[str, Trace]]:
    from possibly.trace.importers import importer

    read = importer(arguments.format)
    given = [f"--{name}" for name in LINES if getattr(arguments, name) is not None]
    if given and arguments.format != "lines":
        raise UsageError(f"{', '.join(given)}: only for lines, {arguments.format} has a form of its own")
    found: list[tuple[str, Trace]]
    if arguments.format == "otf2":
        found = read(arguments.log, note=_note)
    elif arguments.format == "lines":
        layout = _layout(arguments)
        found = read(read_text(arguments.log).split("\n"), layout, file=arguments.log, note=_note)
    else:
        lines = read_text(arguments.log).split("\n")
        found = read(lines, arguments.parser, arguments.delimiter, file=arguments.log)
    return found


def _note(text: str) -> None:
    print(f"possibly: {text}", file=sys.stderr)


def _layout(arguments: argparse.Namespace) -> Layout:
    from possibly.trace.importers.lines import Layout

    if arguments.process is None:
        raise UsageError("lines need to know who did what: --process FIELD")
    if arguments.delimiter is not None:
        raise UsageError("--delimiter is for shiviz")
    return Layout(
        process=arguments.process,
        parser=arguments.parser,
        label=arguments.label,
        variables=dict(_pairs(arguments.set, "--set NAME=FIELD")),
        sends=tuple(_pairs(arguments.send, "--send FIELD=TEXT")),
        receives=tuple(_pairs(arguments.receive, "--receive FIELD=TEXT")),
        message=tuple(part.strip() for part in (arguments.message or "").split(",") if part.strip()),
        to=arguments.to,
        clock=arguments.clock,
        time=arguments.time,
    )


def _pairs(given: list[str] | None, form: str) -> Iterator[tuple[str, str]]:
    for text in given or []:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UsageError(f"{text!r} is not of the form {form}")
        yield name, value


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
