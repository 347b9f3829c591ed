"""`possibly export TRACE --to FORMAT`: a trace in a foreign format, or in another form of our own."""

from __future__ import annotations

import argparse
import os
from contextlib import nullcontext
from typing import TYPE_CHECKING

from possibly.errors import PossiblyError, UsageError
from possibly.logic.languages import FORMULAS
from possibly.views.cli.files import loaded, named_errors, write_lines_to, write_text
from possibly.views.cli.messages import complain
from possibly.views.cli.progress import Progress, terminal_progress
from possibly.views.cli.properties import (
    add_order_argument,
    add_property_arguments,
    has_properties,
    seconds,
    specification_of,
)

if TYPE_CHECKING:
    from possibly.trace.model import Trace

FORMS = ("dot", "shiviz", "promela", "jsonl", "columns", "parquet")
BINARY = {"columns": "the columnar form", "parquet": "Parquet"}
NAME = "export"
SUMMARY = "write a trace in another format"
DESCRIPTION = (
    "Writes a trace as a DOT graph, as a ShiViz log, as JSON Lines, as Parquet, in the compact columnar "
    "form, or with a property as a model for SPIN."
)
EXAMPLES = """\
examples:
  possibly export run.jsonl --to dot | dot -Tsvg > run.svg
  possibly export run.jsonl --to shiviz -o run.log
  possibly export run.jsonl --to jsonl -o run.jsonl.gz
  possibly export run.jsonl --to jsonl --skew 0.05 -o timed.jsonl
  possibly export run.jsonl --to columns -o run.columns
  possibly export 'runs/**/*.jsonl*' --to parquet -o runs.parquet
  possibly export run.jsonl --to promela --ctl 'AG(!(P1.cs & P2.cs))' -o run.pml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "traces", metavar="TRACE", nargs="+", help="a trace file; for parquet also several, or a pattern"
    )
    parser.add_argument("--to", required=True, choices=FORMS, help="the format")
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="the file to write (standard output)"
    )
    parser.add_argument(
        "--skew",
        metavar="SECONDS",
        type=seconds,
        help="clocks differ by so much at most: events whose times are further apart are ordered",
    )
    parser.add_argument(
        "--atomic",
        metavar="NAME",
        action="append",
        default=[],
        help="what is done while a lock of that name is held, or in a call of that function, is one event",
    )
    parser.add_argument(
        "--times",
        action="store_true",
        help="let each event set `time` of its process, so that formulas can read P.time",
    )
    add_property_arguments(parser)
    add_order_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    output = arguments.output
    if arguments.to in BINARY and output == "-":
        raise UsageError(f"{BINARY[arguments.to]} is binary: name a file with -o FILE")
    if has_properties(arguments) and arguments.to != "promela":
        raise UsageError("a property is exported to promela alone")
    if arguments.to == "parquet":
        return _to_parquet(arguments)
    if len(arguments.traces) > 1:
        raise UsageError("several traces are exported to parquet alone")
    progress = terminal_progress()
    with progress or nullcontext():
        trace = _read(arguments.traces[0], arguments, progress)
    match arguments.to:
        case "columns":
            from possibly.trace.columns.form import write_columns

            with named_errors(output):
                write_columns(trace, output)
        case "jsonl":
            from possibly.trace import write_lines

            write_lines_to(output, write_lines(trace))
        case "promela" if has_properties(arguments):
            write_text(output, _with_property(trace, arguments))
        case _:
            write_text(output, rendered(trace, arguments.to, arguments.order))
    return 0


def _read(path: str, arguments: argparse.Namespace, progress: Progress | None = None) -> Trace:
    """The trace, with the order and the variables that its times give it, if that is asked for."""
    trace = loaded(path, progress)
    if arguments.atomic:
        trace = _with_regions(trace, arguments.atomic)
    if arguments.skew is None and not arguments.times:
        return trace
    from possibly.order.refined.timed import timed, with_times

    ordered = trace if arguments.skew is None else timed(trace, arguments.skew)
    return with_times(ordered) if arguments.times else ordered


def _with_regions(trace: Trace, names: list[str]) -> Trace:
    from possibly.order.refined.regions import regions_of, with_regions

    for name in names:
        regions = list(regions_of(trace, name))
        if not regions:
            raise UsageError(f"no lock and no function is called {name} in this run")
        trace = with_regions(trace, regions)
    return trace


def _to_parquet(arguments: argparse.Namespace) -> int:
    """One run as a file; several as a folder with a partition for each."""
    from possibly.views.cli.recorded.many import expanded, is_many

    traces, output = arguments.traces, arguments.output
    if len(traces) == 1 and not is_many(traces):
        with named_errors(output):
            _write_parquet(_read(traces[0], arguments), output)
        return 0
    paths = expanded(traces)
    statuses = [0]
    for path, name in zip(paths, partitions(paths), strict=True):
        folder = os.path.join(output, f"run={name}")
        try:
            trace = _read(path, arguments)
            with named_errors(folder):
                os.makedirs(folder, exist_ok=True)
                _write_parquet(trace, os.path.join(folder, "events.parquet"))
        except PossiblyError as error:
            statuses.append(complain(error))
    return max(statuses)


def _write_parquet(trace: Trace, path: str) -> None:
    """With what each event learns, so that a part of the run can be read by itself."""
    from possibly.order.computation import Computation
    from possibly.order.knowledge import learnt_by_event
    from possibly.trace.parquet.write import write_parquet

    write_parquet(trace, path, learnt_by_event(Computation(trace)))


def partitions(paths: list[str]) -> list[str]:
    """A name for each run: that of its file, with as much of the way to it as tells them apart."""
    from urllib.parse import quote

    stems = [os.path.basename(path).partition(".")[0] for path in paths]
    is_unique = len(set(stems)) == len(stems) and all(stems)
    common = os.path.commonpath(map(os.path.abspath, paths))
    names = stems if is_unique else [os.path.relpath(path, common) for path in paths]
    return [quote(name, safe="") for name in names]


def _with_property(trace: Trace, arguments: argparse.Namespace) -> str:
    """The model with the one property that is asked for."""
    from possibly.logic.bind import bind_property
    from possibly.order.computation import Computation
    from possibly.order.vocabulary import vocabulary
    from possibly.views.export.promela_property import render_promela_with

    specification = specification_of(arguments)
    if len(specification.properties) != 1 or specification.properties[0].language not in FORMULAS:
        raise UsageError("SPIN is asked for one property of ctl or ltl: choose it with --only NAME")
    (found,) = specification.properties
    bound = bind_property(found, vocabulary(trace), specification.lets, counts_pairs=True)
    return render_promela_with(Computation(trace, arguments.order), bound.formula, found.language)


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
