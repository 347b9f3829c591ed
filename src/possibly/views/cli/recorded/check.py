"""`possibly check TRACE...`: checks properties on recorded or imported traces.

Each trace stands for itself: a bad one is reported and gives status 2, the others are still checked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from possibly.errors import FormulaError, PossiblyError, UsageError
from possibly.records import replace
from possibly.views.cli.files import loaded, write_lines_to
from possibly.views.cli.formats import Answers, add_format_arguments
from possibly.views.cli.messages import BAD, complain, remark, width_of
from possibly.views.cli.progress import Progress, terminal_progress
from possibly.views.cli.properties import (
    add_limit_arguments,
    add_property_arguments,
    add_window_argument,
    command_again,
    command_to_draw,
    from_one,
    has_properties,
    options_of,
    specification_of,
)
from possibly.views.text.words import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from possibly.logic.specification import Specification
    from possibly.session.checking.check import Options
    from possibly.trace.model import Trace
    from possibly.verdict.model import Report, Verdict
    from possibly.views.text.report import Layout
    from possibly.views.text.source import Sources

NAME = "check"
SUMMARY = "check properties on recorded or imported traces"
DESCRIPTION = (
    "Checks properties on traces, over every order in which the recorded events could have happened."
)
EXAMPLES = """\
examples:
  possibly check run.jsonl --spec bank.spec
  possibly check run.jsonl --ctl 'AG(!(P1.critical & P2.critical))' --ltl 'F done(P1)'
  possibly check run.jsonl --spec bank.spec --only safe --write-order failing.jsonl
  possibly check *.jsonl --spec bank.spec --json
  possibly check 'runs/**/*.jsonl*' --spec bank.spec --resume answers.jsonl --html index.html
  possibly check runs.parquet --spec bank.spec
  possibly check *.jsonl --spec bank.spec --format sarif > possibly.sarif
"""

RANKING = (BAD, 1, 3, 0)
"""Exit statuses: of several, the first in this list applies."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "traces",
        metavar="TRACE",
        nargs="+",
        help="a trace file: .jsonl, .jsonl.gz, .jsonl.zst, .parquet; or a pattern",
    )
    add_property_arguments(parser)
    parser.add_argument(
        "--jobs", metavar="N", type=from_one, help="processes for many traces (default: as many as cores)"
    )
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="check many traces in a cluster of Dask; local: one that is started",
    )
    parser.add_argument(
        "--resume", metavar="FILE", help="keep the answers on many traces there, and ask only what is new"
    )
    parser.add_argument(
        "--deadlocks", action="store_true", help="also say which deadlocks another order of the run reaches"
    )
    parser.add_argument(
        "--races",
        action="store_true",
        help="also say which conflicting accesses nothing orders, or another order brings together",
    )
    add_window_argument(parser)
    parser.add_argument(
        "--modular",
        action="store_true",
        help="judge the parts of a net apart where the task logic allows it (--explain says where)",
    )
    parser.add_argument(
        "--times",
        action="store_true",
        help="formulas may read `time`, a variable of each process: when its last event happened (its `t`)",
    )
    parser.add_argument(
        "--loops",
        choices=("any", "weak", "strong"),
        help="also judge orders that go on for ever where a state comes again: any, or only those that "
        "pass over nobody who can go on all the time (weak), or now and then (strong)",
    )
    add_limit_arguments(parser, predictive=True)
    group = parser.add_argument_group("results")
    add_format_arguments(group, "print one JSON document a trace, a line each")
    group.add_argument(
        "--explain", action="store_true", help="also say how it was decided: class, engine, cost"
    )
    group.add_argument("--full", action="store_true", help="leave nothing out, however long the order is")
    group.add_argument("--write-order", metavar="FILE", help="write the failing order as a trace of its own")
    group.add_argument(
        "--html", metavar="FILE", help="write a page with the report and a diagram; of many traces an index"
    )
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colours (auto)")


def run(arguments: argparse.Namespace) -> int:
    if arguments.write_order and _may_be_many(arguments.traces):
        raise UsageError("--write-order takes a single trace")
    answers = Answers(arguments)
    status = status_with(answers, arguments)
    answers.show()
    return status


def status_with(answers: Answers, arguments: argparse.Namespace) -> int:
    """Checks all traces; what is printed at the end is added to the answers."""
    found: list[int] = []
    if arguments.deadlocks:
        from possibly.views.cli.recorded import deadlocks

        found += deadlocks.statuses(arguments.traces, answers, arguments)
    if arguments.races:
        from possibly.views.cli.recorded import races

        found += races.statuses(arguments.traces, answers, arguments)
    if found and not has_properties(arguments):
        return combined(found)
    specification = specification_of(arguments)
    options = options_of(arguments, explain=arguments.explain or not arguments.json)
    if _are_many(arguments) and not answers.are_collected:
        from possibly.views.cli.recorded import many

        return combined([*found, *many.run(specification, options, arguments, show_one, checked_quietly)])
    found += [_status(path, specification, options, answers, arguments) for path in arguments.traces]
    return combined(found)


def _are_many(arguments: argparse.Namespace) -> bool:
    """`run` checks the one trace that it has recorded, and has no such options."""
    is_asked_for = any(getattr(arguments, word, None) is not None for word in ("jobs", "resume", "cluster"))
    is_asked_for = is_asked_for or (len(arguments.traces) > 1 and bool(arguments.html))
    if not is_asked_for and not _may_be_many(arguments.traces):
        return False
    from possibly.views.cli.recorded import many

    return is_asked_for or many.is_many(arguments.traces)


def _may_be_many(traces: Sequence[str]) -> bool:
    return len(traces) > 1 or any(letter in traces[0] for letter in "*?[") or os.path.isdir(traces[0])


def combined(statuses: Sequence[int]) -> int:
    return next(status for status in RANKING if status in (*statuses, 0))


def status_of(report: Report) -> int:
    return combined([verdict.truth.status for verdict in report.verdicts])


def _status(
    path: str,
    specification: Specification,
    options: Options,
    answers: Answers,
    arguments: argparse.Namespace,
) -> int:
    try:
        drawn = bool(arguments.html or arguments.write_order)
        trace, report = checked(path, specification, options, whole=drawn)
        if answers.are_collected:
            from possibly.views.formats.of_check import findings_of_report

            layout = replace(_layout(report, path, arguments), colour=False)
            answers.add(findings_of_report(report, trace, specification.properties, layout))
        else:
            _show(report, path, arguments)
        _write_files(trace, report, specification, answers, arguments)
    except PossiblyError as error:
        answers.failed(path, error)
        return complain(error)
    return status_of(report)


def checked(
    path: str, specification: Specification, options: Options, whole: bool = False
) -> tuple[Trace, Report]:
    """The trace and the answers on it."""
    progress = terminal_progress()
    if progress is None:
        return checked_quietly(path, specification, options, None, whole)
    with progress:
        return checked_quietly(path, specification, options, progress, whole)


def checked_quietly(
    path: str,
    specification: Specification,
    options: Options,
    progress: Progress | None = None,
    whole: bool = False,
) -> tuple[Trace, Report]:
    """The trace and the answers; `whole`: all variables are wanted, not only those of the properties."""
    words = None
    if path.endswith(".parquet") and not whole and not options.times:
        from possibly.session.checking.selected import answered, words_in

        found = answered(path, specification, options, progress)
        if found is not None:
            return found.trace, found.report
        words = words_in(specification)
    if words is not None:
        try:
            return _answered(loaded(path, progress, words), path, specification, options, progress)
        except FormulaError:
            pass  # what it says of names that are near has to be said of all names
    return _answered(loaded(path, progress), path, specification, options, progress)


def _answered(
    trace: Trace, path: str, specification: Specification, options: Options, progress: Progress | None
) -> tuple[Trace, Report]:
    from possibly.session.checking.check import check_trace

    if options.times:
        from possibly.order.refined.timed import with_times

        trace = with_times(trace)
    if options.order == "predictive":
        from possibly.session.checking.predictive import check_predictive

        return trace, replace(check_predictive(trace, specification, options, progress), trace=path)
    return trace, replace(check_trace(trace, specification, options, progress), trace=path)


def show_one(
    path: str, specification: Specification, options: Options, arguments: argparse.Namespace
) -> None:
    """The report of one trace among many."""
    from possibly.views.text.report import render

    _, report = checked(path, specification, options)
    print(render(report, _layout(report, path, arguments)), end="", flush=True)


# ---- showing ------------------------------------------------------------------------------------


def _show(report: Report, path: str, arguments: argparse.Namespace) -> None:
    if arguments.json:
        from possibly.views.text.json_report import json_pieces

        sys.stdout.writelines(json_pieces(report, notes=arguments.explain))
        print(flush=True)
        return
    from possibly.views.text.report import render

    if path != arguments.traces[0]:
        print()
    print(render(report, _layout(report, path, arguments)), end="", flush=True)


def _layout(report: Report, path: str, arguments: argparse.Namespace) -> Layout:
    from possibly.views.text.report import Layout

    several = len(report.verdicts) > 1 or bool(arguments.only)

    def again(verdict: Verdict) -> str:
        return command_again(arguments, path, verdict, several)

    def draw(verdict: Verdict) -> str:
        return command_to_draw(arguments, path, verdict)

    return Layout(
        colour=wants_colour(arguments.color),
        width=width_of(sys.stdout),
        full=arguments.full,
        notes=arguments.explain,
        again=again,
        draw=draw,
        quote=_quoting(path),
    )


def _quoting(path: str) -> Callable[[str | None], str | None]:
    """Source lines, looked for beside the trace and here, once one is asked for."""
    sources: list[Sources] = []

    def quote(place: str | None) -> str | None:
        if not sources:
            from possibly.views.text.source import Sources

            sources.append(Sources((os.path.dirname(path), "")))
        return sources[0].quote(place)

    return quote


def wants_colour(choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


# ---- files --------------------------------------------------------------------------------------


def _write_files(
    trace: Trace,
    report: Report,
    specification: Specification,
    answers: Answers,
    arguments: argparse.Namespace,
) -> None:
    written: list[str] = []
    if arguments.write_order:
        written.append(_write_order(trace, report, arguments.write_order))
    if arguments.html:
        from possibly.views.cli.drawing.pages import write_page

        write_page(trace, report, specification, arguments, arguments.html)
        written.append(f"Page: {arguments.html}")
    if written and answers.is_text:
        print()
    for line in written:
        print(plain(line)) if answers.is_text else remark(line)


def _write_order(trace: Trace, report: Report, path: str) -> str:
    """Writes the first failing order, followed by the other events, and says so."""
    from possibly.trace import write_lines
    from possibly.verdict.model import Truth

    for verdict in report.verdicts:
        if verdict.truth is Truth.VIOLATED and verdict.witness is not None:
            write_lines_to(path, write_lines(trace, reordered(trace, verdict.witness.path)))
            return f"Order that violates {verdict.name}: {path}"
    return f"No order violates a property: {path} is not written"


def reordered(trace: Trace, path: Sequence[str]) -> list[int]:
    """All events: first those of the path in its order, then the others as recorded."""
    first = [event for event in map(trace.find, path) if event is not None]
    inside = set(first)
    return first + [event for event in range(len(trace)) if event not in inside]
