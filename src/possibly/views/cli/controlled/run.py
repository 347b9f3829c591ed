"""`possibly run PROGRAM [ARGUMENTS]`: runs a program, records it, and checks properties on the recorded run.

The program keeps its standard streams and its exit status; with properties the status is that of the
check, and
that of the program if every property holds. With any --format but text its standard output goes to standard
error.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

from possibly.errors import UsageError
from possibly.records import replace
from possibly.views.cli.formats import Answers, add_format_arguments
from possibly.views.cli.messages import remark
from possibly.views.cli.progress import terminal_progress
from possibly.views.cli.properties import (
    add_limit_arguments,
    add_property_arguments,
    add_window_argument,
    has_properties,
    specification_of,
)
from possibly.views.cli.recorded import check, races

if TYPE_CHECKING:
    from possibly.logic.specification import Specification
    from possibly.session.watching.asked import Asker

NAME = "run"
SUMMARY = "run a Python program, record it, and check properties on the run"
DESCRIPTION = (
    "Runs a Python program without any change to it and writes a trace of what its threads, tasks and "
    "processes did. Variables and functions that the properties speak of are watched. Options of this "
    "command stand before the program."
)
EXAMPLES = """\
examples:
  possibly run bank.py
  possibly run --spec bank.spec bank.py --accounts 3
  possibly run --watch total --calls transfer -o bank.jsonl bank.py
  possibly run --races -m package.module
  possibly run --live --spec races.spec queue.py
  possibly run --confirm --spec bank.spec bank.py
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.conflict_handler = "resolve"  # here --watch names a variable, elsewhere it is a language
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    parser.add_argument("program", metavar="PROGRAM", nargs="?", help="a Python file")
    parser.add_argument("arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER, help="its arguments")
    add_property_arguments(parser)
    _add_recording_arguments(parser.add_argument_group("recording"))
    parser.set_defaults(watch=[], jobs=None, resume=None)
    add_limit_arguments(parser, predictive=True)
    group = parser.add_argument_group("confirming")
    group.add_argument(
        "--confirm",
        action="store_true",
        help="drive the program into each violation and deadlock that an order predicts (--order "
        "predictive unless told), and tell only of what really happens",
    )
    group.add_argument(
        "--executions", metavar="N", type=int, default=10_000, help="at most N for each of them (10,000)"
    )
    group.add_argument("--time", metavar="SECONDS", type=float, help="at most that time for each of them")
    group = parser.add_argument_group("results")
    add_format_arguments(group, "print JSON documents, a line each")
    group.add_argument("--explain", action="store_true", help="also say how it was decided")
    group.add_argument("--full", action="store_true", help="leave nothing out, however long the order is")
    group.add_argument("--write-order", metavar="FILE", help="write the failing order as a trace of its own")
    group.add_argument("--html", metavar="FILE", help="write a page with the report and a diagram")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colours (auto)")


def _add_recording_arguments(group: argparse._ArgumentGroup) -> None:
    group.conflict_handler = "resolve"
    group.add_argument("-o", "--output", metavar="FILE", help="the trace (default: PROGRAM.jsonl)")
    group.add_argument(
        "--watch",
        dest="watched",
        metavar="NAME",
        action="append",
        default=[],
        help="record this variable; may be given again",
    )
    group.add_argument(
        "--calls", metavar="FUNCTION", action="append", default=[], help="record calls of this function"
    )
    group.add_argument(
        "--races",
        action="store_true",
        help="record every shared access and report conflicting ones that nothing orders, or that another "
        "order of the run brings together",
    )
    add_window_argument(group)
    group.add_argument(
        "--record",
        choices=("all", "named", "sync"),
        help="record all calls and shared accesses, what is named, or synchronisation alone (default: what "
        "is named; without a question also calls of your functions and variables that tasks share, but for "
        "what happens all the time)",
    )
    group.add_argument(
        "--deadlocks",
        action="store_true",
        help="record every shared access, and say which deadlocks another order of the run reaches",
    )
    group.add_argument(
        "--times",
        action="store_true",
        help="record when each event happened (`t`), to a millisecond or so; formulas may read it as the "
        "variable `time` of each process",
    )
    group.add_argument("--mpi", metavar="N", type=int, help="run N ranks under mpiexec")
    group.add_argument(
        "--live",
        action="store_true",
        help="follow the path expressions while the program runs, and stop it at a break",
    )
    group.add_argument(
        "--send",
        metavar="ADDRESS",
        help="tell a monitor (possibly watch) of the events while they happen; with --live wait for it after "
        "each, and stop where it says break",
    )
    group.add_argument(
        "--name",
        metavar="NAME",
        default="",
        help="with --send: what tasks and variables of this program are called, before their own names",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.output != "-":
        return _recorded(arguments, Answers(arguments), is_piped=False)
    with tempfile.TemporaryDirectory(prefix="possibly-") as folder:
        arguments.output = os.path.join(folder, default_output(_words(arguments)))
        with redirect_stdout(sys.stderr):
            status = _recorded(arguments, Answers(arguments), is_piped=True)
        with open(arguments.output, encoding="utf-8") as trace:
            sys.stdout.writelines(trace)
    return status


def _recorded(arguments: argparse.Namespace, answers: Answers, is_piped: bool) -> int:
    """Runs, records and checks; if standard output is for the trace, all that is said goes elsewhere."""
    from possibly.session.record import Request, record_program

    words = _words(arguments)
    specification = specification_of(arguments) if has_properties(arguments) else None
    if arguments.confirm:
        _check_confirming(arguments, answers)
    if arguments.times and (arguments.live or arguments.send):
        raise UsageError("--times is for a run that is written, not for one that is followed")
    output = arguments.output or default_output(words)
    request = Request(
        words,
        output,
        specification,
        tuple(arguments.watched),
        tuple(arguments.calls),
        arguments.races,
        arguments.mpi,
        None if answers.is_text and not is_piped else sys.stderr.fileno(),
        arguments.send,
        *_starter(arguments, specification),
    )
    request = replace(
        request,
        record=_how_much(arguments, specification),
        everything=arguments.deadlocks,
        times=arguments.times,
        shared=True,
        ask=_asker() if arguments.live and arguments.send else None,
        name=arguments.name,
    )
    progress = terminal_progress()
    with progress or nullcontext():
        done = record_program(request, progress)
    where = "standard output" if is_piped else output
    remark(f"possibly: {done.events:,} events of {done.processes} processes in {where}")
    found: list[int] = []
    if arguments.confirm:
        from possibly.views.cli.controlled import confirmed_run

        found += races.statuses([output], answers, arguments) if arguments.races else []
        found += confirmed_run.statuses(arguments, specification, output, words)
    elif specification is not None or arguments.deadlocks or arguments.races:
        arguments.traces = [output]
        found.append(check.status_with(answers, arguments))
    answers.show()
    return check.combined(found) or done.status


def _check_confirming(arguments: argparse.Namespace, answers: Answers) -> None:
    if not has_properties(arguments) and not arguments.deadlocks:
        raise UsageError("nothing to confirm", hint="give properties (--spec, --ctl, --ltl) or --deadlocks")
    if answers.are_collected or arguments.html or arguments.write_order:
        raise UsageError("--confirm tells in text or with --json; the schedule it writes can be replayed")
    if arguments.mpi:
        raise UsageError("--confirm drives one program, and cannot drive ranks of MPI")


def _how_much(arguments: argparse.Namespace, specification: Specification | None) -> str:
    """What is recorded: as asked for; else, where nothing is named yet, as much as is cheap."""
    if arguments.record is not None:
        return str(arguments.record)
    names = specification or arguments.watched or arguments.calls or arguments.races or arguments.send
    names = names or arguments.deadlocks
    return "named" if names else "usual"


def _starter(arguments: argparse.Namespace, specification: Specification | None) -> tuple[Any, ...]:
    """The module that runs the program, and its environment: another one if it is to be followed."""
    if specification is None or arguments.mpi or arguments.send:
        return ()
    from possibly.session.watching.paths_live import LivePaths, has_break, packed, path_properties

    is_wanted = arguments.live or (sys.stdin.isatty() and has_break(specification))
    if not is_wanted or not path_properties(specification):
        return ()
    LivePaths(specification, arguments.order, lambda told: None)  # an error is told before the program runs
    return "possibly.views.cli.controlled.live", {"POSSIBLY_LIVE": packed(specification, arguments.order)}


def _asker() -> Asker:
    """Says what a monitor tells of the program, and stops it there."""
    from possibly.views.cli.controlled.live import Stopper, Terminal

    stopper = Stopper(Terminal.of_user())
    return lambda told, asked: stopper.tell(told, lambda: asked)


def _words(arguments: argparse.Namespace) -> tuple[str, ...]:
    rest: list[str] = arguments.arguments
    if arguments.module is not None:
        return ("-m", arguments.module, *([arguments.program] if arguments.program else []), *rest)
    if arguments.program is None:
        raise UsageError("no program to run", hint="possibly run PROGRAM [ARGUMENTS]")
    return (arguments.program, *rest)


def default_output(words: tuple[str, ...]) -> str:
    """`src/bank.py` is recorded in `bank.jsonl` in the current folder."""
    name = words[1].rpartition(".")[2] if words[0] == "-m" else os.path.basename(words[0].rstrip("/"))
    return f"{name.removesuffix('.py')}.jsonl"
