"""`possibly watch`: the on-line monitor. Processes send it their events while they run.

A verdict that changes is printed at once; at the end comes the report of `possibly check` on the run, with
its exit status. With any --format but text the changes go to standard error, and the document is the only
thing on standard output. Ctrl-C is the way to end a monitor: the verdicts are then those of the run so far.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from possibly.errors import PossiblyError, UsageError
from possibly.views.cli.formats import Answers, add_format_arguments
from possibly.views.cli.messages import BAD, complain, remark, width_of
from possibly.views.cli.progress import terminal_progress
from possibly.views.cli.properties import (
    add_limit_arguments,
    add_property_arguments,
    command_again,
    options_of,
    specification_of,
)
from possibly.views.cli.recorded import check
from possibly.views.text.words import count_text, plain

if TYPE_CHECKING:
    from possibly.session.watching.intake import Intake
    from possibly.session.watching.listening import Address, Loop
    from possibly.session.watching.paths_live import Told
    from possibly.session.watching.streams.following import StreamLoop
    from possibly.session.watching.watch import Change, WatchedRun
    from possibly.verdict.model import Report, Verdict

NAME = "watch"
SUMMARY = "check properties while the processes still run and send their events"
DESCRIPTION = """\
Listens for processes that send their events while they run, and says at once when a verdict changes.
SOURCE is a port of this machine (7007, 127.0.0.1:7007; 0: any free one), unix:PATH, - for standard
input, a durable stream, nats://HOST:PORT/NAME or redis://HOST:PORT/NAME, or otlp://127.0.0.1:4318 for
the spans of services with an OpenTelemetry SDK. A sender's first line is
the header of a trace file, with the token beside its fields where the monitor asks for one; then comes
an event a line."""
EXAMPLES = """\
examples:
  possibly watch 7007 --ctl 'AG(!(P1.critical & P2.critical))' --token-file token
  possibly watch unix:monitor.sock --spec bank.spec --connections 3
  possibly watch - --spec bank.spec --output run.jsonl < events.jsonl

Ctrl-C ends it and prints the verdicts on the run so far.
"""
TOKEN = "POSSIBLY_TOKEN"
KEEP = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="SOURCE", help="PORT, HOST:PORT, unix:PATH, nats://…, redis://…, or -"
    )
    add_property_arguments(parser)
    group = parser.add_argument_group("senders")
    group.add_argument(
        "--connections",
        metavar="N",
        type=_count,
        help="the run is that of N connections: it begins with their headers and ends with them",
    )
    group.add_argument(
        "--process",
        metavar="NAME",
        action="append",
        default=[],
        help="a process that the properties name and no header does; may be given again",
    )
    group.add_argument(
        "--token-file", metavar="FILE", help=f"write the token there (without: ${TOKEN}, or it is shown)"
    )
    group.add_argument(
        "--state", metavar="DIR", help="where the checkpoints of a durable stream are (default: in the home)"
    )
    _add_bounds(parser.add_argument_group("bounds"))
    add_limit_arguments(parser)
    group = parser.add_argument_group("results")
    group.add_argument("--output", "-o", metavar="FILE", help="write the run as a trace at the end")
    group.add_argument("--stop", action="store_true", help="end as soon as every verdict is final")
    add_format_arguments(group, "print one JSON document at the end")
    group.add_argument("--explain", action="store_true", help="also say how it was decided")
    group.add_argument("--full", action="store_true", help="leave nothing out, however long the order is")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colours (auto)")


def _add_bounds(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--keep",
        metavar="N",
        type=_number,
        help="lines kept for the report at the end (default 1,000,000; 0: none, as of a durable stream)",
    )
    group.add_argument(
        "--max-waiting",
        metavar="N",
        type=_count,
        default=100_000,
        help="lines that may wait for earlier ones at once (default 100,000)",
    )


def _number(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_number.__name__ = "number of lines"
_count.__name__ = "number from 1"


def run(arguments: argparse.Namespace) -> int:
    from possibly.session.watching.intake import Intake
    from possibly.session.watching.streams.messages import is_stream
    from possibly.session.watching.watch import WatchedRun

    if arguments.source.startswith("otlp://"):
        from possibly.views.cli.controlled import watch_spans

        return watch_spans.run(arguments)
    _settle_keep(arguments)
    answers = Answers(arguments)
    watched = WatchedRun(
        specification_of(arguments),
        options_of(arguments, explain=arguments.explain or not arguments.json),
        keep=arguments.keep,
        waiting=arguments.max_waiting,
        name=arguments.source if arguments.source != "-" else "standard input",
        follows_paths=not is_stream(arguments.source),
    )
    watched.tellers.append(lambda told: print(plain(told_text(told)), file=sys.stderr, flush=True))
    for name in arguments.process:
        watched.declare(name)
    news = _News(watched, answers.is_text)
    intake = Intake(
        watched,
        connections=arguments.connections or 1,
        token=_token(),
        told=news,
        one_by_one=arguments.stop,
    )
    try:
        loop = _received(intake, arguments)
        return _finished(watched, loop, answers, arguments)
    finally:
        watched.close()


def _settle_keep(arguments: argparse.Namespace) -> None:
    from possibly.session.watching.streams.messages import is_stream

    if is_stream(arguments.source):
        if arguments.keep or arguments.output:
            raise UsageError("a durable stream keeps its events itself", hint="leave out --keep and --output")
        arguments.keep = 0
    elif arguments.state:
        raise UsageError("--state is for a durable stream", hint="nats://… or redis://…")
    if arguments.keep is None:
        arguments.keep = KEEP
    if arguments.output and not arguments.keep:
        raise UsageError("--output needs lines that are kept", hint="leave out --keep 0")


def _token() -> str:
    import secrets

    return os.environ.get(TOKEN) or secrets.token_urlsafe(24)


# ---- the run ------------------------------------------------------------------------------------


def _received(intake: Intake, arguments: argparse.Namespace) -> Loop | StreamLoop:
    """Reads until the run is over."""
    from time import monotonic

    from possibly.session.watching.listening import Address, Loop, listening
    from possibly.session.watching.streams.messages import is_stream

    if is_stream(arguments.source):
        return _followed(intake, arguments)

    def has_time() -> None:
        if intake.run.has_begun and intake.run.check_again(monotonic()):
            intake.told()

    loop = Loop(
        intake,
        has_time,
        complain,
        stop_when_settled=arguments.stop,
        announced=arguments.connections,
    )
    if arguments.source == "-":
        loop.read_file(sys.stdin.fileno(), "standard input")
        return loop
    with listening(Address.of(arguments.source)) as (server, address):
        _announce(address, intake, arguments)
        loop.serve(server, needs_token=not address.path)
    return loop


def _followed(intake: Intake, arguments: argparse.Namespace) -> StreamLoop:
    """Reads a durable stream, from the last checkpoint on."""
    import hashlib

    from possibly import __version__
    from possibly.session.watching.streams.checkpoint import Checkpoint
    from possibly.session.watching.streams.following import StreamLoop
    from possibly.session.watching.streams.messages import StreamAddress

    address = StreamAddress.of(arguments.source)
    found = intake.run.specification
    texts = [(each.language, each.name, each.text) for each in found.properties]
    about = str(address), texts, [str(each) for each in found.lets], intake.run.options.order
    digest = hashlib.sha256(repr(about).encode()).hexdigest()[:16]
    checkpoint = Checkpoint(arguments.state or _state_folder(digest), __version__, *about)
    consumer = f"possibly-{digest}"
    loop = StreamLoop(
        address,
        consumer,
        intake,
        checkpoint,
        complain,
        announced=arguments.connections,
        stop_when_settled=arguments.stop,
    )
    events = intake.run.events
    remark(f"following {address}" + (f" after {count_text(events, 'event')}" if events else ""))
    loop.run()
    return loop


def _state_folder(digest: str) -> str:
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(home, "possibly", "watch", digest)


def _announce(address: Address, intake: Intake, arguments: argparse.Namespace) -> None:
    if address.path:
        remark(f"listening on {address}")
    elif arguments.token_file:
        _write_secret(arguments.token_file, intake.token)
        remark(f"listening on {address}, token in {arguments.token_file}")
    elif os.environ.get(TOKEN):
        remark(f"listening on {address}, token from ${TOKEN}")
    else:
        remark(f"listening on {address}, token {intake.token}")


def _write_secret(path: str, text: str) -> None:
    from possibly.views.cli.files import named_errors

    with named_errors(path):
        # It is there for its user alone from the beginning, whatever was there before.
        if os.path.exists(path):
            os.unlink(path)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{text}\n")


class _News:
    """Prints what is new: which properties are not followed, once the run has begun, and every change."""

    def __init__(self, watched: WatchedRun, is_text: bool) -> None:
        self._watched = watched
        self._stream = sys.stdout if is_text else sys.stderr
        self._told: set[str] = set()

    def __call__(self) -> None:
        for found, why in self._watched.not_followed():
            if found.name not in self._told:
                self._told.add(found.name)
                remark(f"{found.name} is checked now and then and at the end: {why}")
        for change in self._watched.changes():
            print(plain(change_text(change)), file=self._stream, flush=True)


def told_text(told: Told) -> str:
    """`possibly: seen at P2:3: break: P1:1, P2:3`."""
    place = f" at {told.event}" if told.event else ""
    text = f"{told.text}: {', '.join(told.events)}" if told.stops else told.text
    return f"possibly: {told.property}{place}: {text}"


def change_text(change: Change) -> str:
    """`after 12 events: VIOLATED safe, at the cut P1: 1, P2: 1, since P2:1`."""
    verdict = change.truth.value.upper() + ("" if change.is_final else " so far")
    text = f"after {count_text(change.events, 'event')}: {verdict} {change.found.name}"
    moment = change.moment
    if moment is None or not change.is_final:
        return text
    if moment.cut is not None:
        text += ", at the cut " + ", ".join(f"{name}: {count}" for name, count in moment.cut.items())
    return text if moment.event is None else f"{text}, since {moment.event}"


# ---- the end ------------------------------------------------------------------------------------


def _finished(
    watched: WatchedRun, loop: Loop | StreamLoop, answers: Answers, arguments: argparse.Namespace
) -> int:
    is_whole = not loop.is_interrupted and not (arguments.stop and watched.is_settled)
    if is_whole and not watched.has_begun and not watched.errors:
        raise PossiblyError("no header arrived", file=watched.name)
    known = len(watched.errors)
    with terminal_progress() or nullcontext():
        report = watched.report(is_whole=is_whole)
    for error in watched.errors[known:]:
        complain(error)
    if not is_whole:
        _say_what_waits(watched)
    _show(watched, report, answers, arguments)
    if arguments.output:
        _write_run(watched, arguments)
    if watched.errors or not watched.has_begun:
        return BAD
    return check.status_of(report)


def _say_what_waits(watched: WatchedRun) -> None:
    waiting = watched.waiting()
    if waiting:
        event, reason = waiting[0]
        remark(f"{count_text(len(waiting), 'line')} left out, {event} first, which waits for {reason}")


def _show(watched: WatchedRun, report: Report, answers: Answers, arguments: argparse.Namespace) -> None:
    if answers.are_collected:
        _collect(watched, report, answers)
        return
    if arguments.json:
        print(json.dumps(document(watched, report, notes=arguments.explain), allow_nan=False), flush=True)
        return
    from possibly.views.text.report import Layout, render

    def again(verdict: Verdict) -> str:
        return command_again(arguments, arguments.output, verdict, len(report.verdicts) > 1)

    layout = Layout(
        colour=check.wants_colour(arguments.color),
        width=width_of(sys.stdout),
        full=arguments.full,
        notes=arguments.explain,
        again=again if arguments.output else None,
    )
    print(render(report, layout), end="", flush=True)


def _collect(watched: WatchedRun, report: Report, answers: Answers) -> None:
    from possibly.views.formats.of_check import findings_of_report

    is_known = watched.has_begun and not watched.errors and watched.is_kept
    properties = watched.specification.properties
    answers.add(findings_of_report(report, watched.trace() if is_known else None, properties))
    for error in watched.errors:
        answers.failed(watched.name, error)
    answers.show()


def document(watched: WatchedRun, report: Report, *, notes: bool) -> dict[str, Any]:
    """The report of a check, and for each property whether it was final before the end, and since when."""
    from possibly.views.text import json_report

    found = json_report.document(report, notes)
    for each in found["properties"]:
        is_final, moment = watched.moments()[each["name"]]
        each["final"] = is_final
        each["moment"] = (
            None if moment is None else {"event": moment.event, "events": moment.events, "cut": moment.cut}
        )
    if watched.errors:
        found["errors"] = [str(error) for error in watched.errors]
    return found


def _write_run(watched: WatchedRun, arguments: argparse.Namespace) -> None:
    from possibly.trace import write_lines
    from possibly.views.cli.files import write_lines_to

    if watched.has_begun and not watched.errors and watched.is_kept:
        write_lines_to(arguments.output, write_lines(watched.trace()))
        remark(f"Trace: {arguments.output}")
    else:
        remark(f"{arguments.output} is not written: the run is not known as a whole")
