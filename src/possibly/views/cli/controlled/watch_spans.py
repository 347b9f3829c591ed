"""`possibly watch otlp://…`: services with an OpenTelemetry SDK send their spans, as to a collector."""

from __future__ import annotations

import signal
import sys
from time import monotonic
from typing import TYPE_CHECKING

from possibly.errors import PossiblyError, UsageError
from possibly.session.watching.spans import MOST_SPANS, Collector, WatchedSpans
from possibly.views.cli.formats import Answers
from possibly.views.cli.messages import complain, remark, width_of
from possibly.views.cli.properties import options_of, specification_of
from possibly.views.cli.recorded import check
from possibly.views.text.words import count_text, plain

if TYPE_CHECKING:
    import argparse

    from possibly.session.watching.watch import Change
    from possibly.verdict.model import Report


def run(arguments: argparse.Namespace) -> int:
    """Collects until Ctrl-C or a terminate; then the report is that of `check` on the spans so far."""
    if arguments.connections or arguments.state or arguments.stop:
        raise UsageError("--connections, --state and --stop are not for otlp://")
    if Answers(arguments).are_collected:
        raise UsageError("otlp:// has --format text and json")
    options = options_of(arguments, explain=arguments.explain or not arguments.json)
    most = MOST_SPANS if arguments.keep is None else arguments.keep
    watched = WatchedSpans(specification_of(arguments), options, most=most)
    with Collector(arguments.source, watched) as collector:
        host, port = collector.server_address[:2]
        remark(f"listening on {host!s}:{port}, OTLP over HTTP")
        _collect(collector, arguments.json)
    if not len(watched):
        raise PossiblyError("no span arrived", file=arguments.source)
    report = watched.report(arguments.source)
    _show(report, arguments)
    if arguments.output:
        _write(watched, arguments.output)
    return check.status_of(report)


def _collect(collector: Collector, is_json: bool) -> None:
    over: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda number, _: over.append(number)) for number in numbers}
    try:
        while not over:
            collector.handle_request()
            for refused in collector.refused:
                complain(PossiblyError(f"a request was refused: {refused}"))
            collector.refused.clear()
            for change in collector.watched.changes(monotonic()):
                print(plain(_text(change)), file=sys.stderr if is_json else sys.stdout, flush=True)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _text(change: Change) -> str:
    so_far = f"after {count_text(change.events, 'span')}: {change.truth.value.upper()} so far"
    return f"{so_far} {change.found.name}"


def _show(report: Report, arguments: argparse.Namespace) -> None:
    if arguments.json:
        from possibly.views.text.json_report import render_json

        print(render_json(report, notes=arguments.explain), flush=True)
        return
    from possibly.views.text.report import Layout, render

    layout = Layout(
        colour=check.wants_colour(arguments.color),
        width=width_of(sys.stdout),
        full=arguments.full,
        notes=arguments.explain,
    )
    print(render(report, layout), end="", flush=True)


def _write(watched: WatchedSpans, path: str) -> None:
    from possibly.trace import write_lines
    from possibly.views.cli.files import write_lines_to

    write_lines_to(path, write_lines(watched.trace()))
    remark(f"Trace: {path}")
