"""`possibly explore PROGRAM [ARGUMENTS]`: runs a program under control, schedule after schedule.

Exit status: 1 if an execution fails, 0 if every schedule is covered and nothing was outside control, else 3.
What the program prints is kept from the terminal; that of a failing execution goes with its report.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from possibly.errors import PossiblyError, UsageError
from possibly.views.cli.controlled.macro import add_macro_arguments, refuse_what_has_no_meaning, run_macro
from possibly.views.cli.drawing.pages import add_html_argument, write_failure_page
from possibly.views.cli.files import kept_apart, read_text, save_schedule
from possibly.views.cli.formats import Answers, add_format_arguments, told
from possibly.views.cli.messages import remark
from possibly.views.cli.progress import terminal_progress
from possibly.views.cli.properties import add_property_arguments, has_properties, specification_of

if TYPE_CHECKING:
    from possibly.control.execution import Execution
    from possibly.logic.specification import Specification
    from possibly.session.exploring.exploration import Exploration
    from possibly.session.exploring.programs import ControlledProgram
    from possibly.session.exploring.resumed import Kept
    from possibly.session.macro_steps.between import Between
    from possibly.session.why.failure import Failure
    from possibly.views.formats.findings import Findings
    from possibly.views.web.executions import Executions

NAME = "explore"
SUMMARY = "run a program under control, schedule after schedule"
DESCRIPTION = (
    "Runs a Python program again and again, without any change to it, each time under another schedule of "
    "its threads and tasks, until one fails or all are covered. Every synchronisation and every access to "
    "memory that tasks race for is a choice point. Options of this command stand before the program."
)
EXAMPLES = """\
examples:
  possibly explore bank.py
  possibly explore --time 60 --scheduler random server.py --port 0
  possibly explore --json -m package.module
  possibly explore --macro pipeline.py
  possibly explore --macro --mpi 4 --first solver.py
exit status:
  0  complete, nothing found    1  a failing schedule    3  not complete, nothing found
"""
SCHEDULERS = ("dpor", "bounded", "random", "pct")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    parser.add_argument("program", metavar="PROGRAM", nargs="?", help="a Python file")
    parser.add_argument("arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER, help="its arguments")
    parser.conflict_handler = "resolve"  # here --watch names a variable, elsewhere it is a language
    add_property_arguments(parser)
    parser.set_defaults(watch=[])
    group = parser.add_argument_group("search")
    group.conflict_handler = "resolve"
    group.add_argument(
        "--scheduler",
        choices=SCHEDULERS,
        default="dpor",
        help="dpor (default): every class of schedules once; bounded: few preemptions; random; pct",
    )
    group.add_argument("--join", choices=JOINS, help=_JOIN)
    group.add_argument("--executions", metavar="N", type=_positive, help="stop after N executions")
    group.add_argument("--time", metavar="SECONDS", type=_seconds, help="stop after that time")
    group.add_argument("--jobs", metavar="N", type=_jobs, default=1, help=_JOBS)
    group.add_argument("--cluster", metavar="ADDRESS", help=_CLUSTER)
    group.add_argument("--resume", metavar="FILE", help=_RESUME)
    group.add_argument(
        "--preemptions", metavar="N", type=int, default=2, help="at most N preemptions, for bounded (2)"
    )
    group.add_argument("--seed", metavar="N", type=int, default=0, help="for random, pct and the program (0)")
    group.add_argument("--watch", dest="watched", metavar="NAME", action="append", default=[], help=_WATCH)
    group.add_argument("--races", action="store_true", help="unordered conflicting accesses are failures too")
    group.add_argument("--ignore", metavar="NAME", action="append", default=[], help=_IGNORE)
    group.add_argument("--include", metavar="PACKAGE", action="append", default=[], help=_INCLUDE)
    group.add_argument("--exclude", metavar="PACKAGE", action="append", default=[], help=_EXCLUDE)
    group.add_argument("--trust", metavar="PACKAGE", action="append", default=[], help=_TRUST)
    group.add_argument("--within", metavar="PACKAGE", action="append", default=[], help=_WITHIN)
    group.add_argument("--steps", metavar="N", type=_positive, help=_STEPS)
    group.add_argument("--fifo", action="store_true", help=_FIFO)
    group.add_argument("--input", metavar="FILE", help="what the program reads from its standard input")
    group.add_argument("--early-timeouts", action="store_true", help=_EARLY)
    group.add_argument("--slack", metavar="SECONDS", type=_slack, default=1.0, help=_SLACK)
    group.add_argument("--punctual", action="store_true", help="the same as --slack 0")
    group.add_argument("--split", action="store_true", help=_SPLIT)
    group.add_argument("--faults", metavar="KIND,...", type=_kinds, default=[], help=_FAULTS)
    group.add_argument("--at-most", metavar="N", type=_positive, default=1, help="so many faults (1)")
    add_macro_arguments(parser)
    group = parser.add_argument_group("results")
    group.add_argument(
        "-o", "--output", metavar="FILE", help="the failing schedule (default: PROGRAM.schedule)"
    )
    add_html_argument(group)
    add_format_arguments(group, "print one JSON document")
    group.add_argument("--full", action="store_true", help="leave nothing out, however long the schedule is")
    parser.set_defaults(own_parser=parser)


_CLUSTER = "run the executions in a cluster of Dask at this address; local: one that is started here"
_WITHIN = "only orders of what this module or package does count; frameworks beneath go on by turns"
_JOBS = "run N executions at a time (1); all: one for each core"
JOINS = ("none", "state", "all")
_JOIN = (
    "what is executed once only: none: each class of schedules; state: also what leads to an equal state; "
    "all (default): all ways that are exact; with --macro both join equal breakpoints"
)
_RESUME = "keep what was explored in FILE, and go on with it if it is there (dpor)"
_WATCH = "of memory, only this variable or attribute is a choice point; may be given again"
_IGNORE = "accesses to this variable or attribute are no choice points; may be given again"
_FIFO = "tasks of an event loop go on in the order in which they become ready, not in any order"
_INCLUDE = "watch the code of this package like the program's own; may be given again"
_EXCLUDE = "do not watch the code of this package, which may leave the verdict open; may be given again"
_TRUST = "take each call of this package as one step, by your word; may be given again"
_STEPS = "give an execution up after N operations (20,000), with --macro after N macro-steps (100,000)"
MOST_OPERATIONS = 20_000
_SLACK = "sleeps, timers and time-outs come late by at most so much, and never early (1)"
_SPLIT = "what is sent on a connection may also arrive cut in two, or as one with what follows"
_FAULTS = "what may go wrong at any moment: network, crash, cancel, signal, disk; see --at-most"
_EARLY = "a wait with a time-out may end at any moment, not only when nothing else can go on"


def _positive(text: str) -> int:
    found = int(text)
    if found < 1:
        raise argparse.ArgumentTypeError("not a positive number")
    return found


def _jobs(text: str) -> int:
    import os

    return os.cpu_count() or 1 if text == "all" else _positive(text)


def _kinds(text: str) -> list[str]:
    from possibly.session.exploring.exploration import FAULTS

    found = [each.strip() for each in text.split(",") if each.strip()]
    for each in found:
        if each not in FAULTS:
            raise argparse.ArgumentTypeError(f"there is no kind of fault {each!r}, but {', '.join(FAULTS)}")
    return found


def _slack(text: str) -> float:
    found = float(text)
    if not 0 <= found < float("inf"):
        raise argparse.ArgumentTypeError("not a number of seconds from 0 on")
    return found


def _seconds(text: str) -> float:
    found = float(text)
    if not found > 0:
        raise argparse.ArgumentTypeError("not a positive number of seconds")
    return found


def run(arguments: argparse.Namespace) -> int:
    with kept_apart(arguments.output):
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    from possibly.session.exploring.checks import PropertyCheck
    from possibly.session.exploring.cluster import connected, cost, put_into
    from possibly.session.exploring.exploration import Options
    from possibly.session.exploring.explore import explore

    words = words_of(arguments)
    Answers(arguments)  # a contradiction is told before the search
    refuse_what_has_no_meaning(arguments, arguments.own_parser)
    if arguments.macro or arguments.mpi is not None:
        return run_macro(words, arguments, _step_by_step)
    specification = specification_of(arguments) if has_properties(arguments) else None
    options = Options(
        arguments.scheduler,
        arguments.executions,
        arguments.time,
        arguments.preemptions,
        seed=arguments.seed,
        explain=True,
        jobs=arguments.jobs,
        kept=_kept_search(words, arguments, specification),
        join=arguments.join or "all",
        told=_tell_at_once,
    )
    progress = terminal_progress()
    with (
        connected(arguments.cluster, words) as cluster,
        controlled(words, arguments, specification) as program,
    ):
        options = put_into(cluster, program, options)
        look = _look(program, specification, arguments.races)
        tree = _tree(words, specification, arguments)
        if tree is not None:
            options = replace(options, seen=tree.seen)
        with progress or nullcontext():
            found = explore(program, options, look, progress)
        if isinstance(look, PropertyCheck) and found.failure is None:
            found.warnings = look.warnings
        replay = _kept(found, program, words, arguments)
        if tree is not None:
            tree.conclude(found, program, replay)
            tree.save(arguments.tree)
            remark(f"the tree of executions: possibly view {shlex.quote(arguments.tree)}")
        if cluster is not None:
            remark(cost(cluster, found))
        _write_page(found, program, words, arguments, replay, tree)
    return tell(found, words, arguments, replay)


def _step_by_step(words: tuple[str, ...], arguments: argparse.Namespace) -> tuple[Between, dict[str, object]]:
    """What macro-steps do not control; also the values that the program begins with."""
    from possibly.session.exploring.exploration import Options
    from possibly.session.exploring.explore import explore
    from possibly.session.macro_steps.between import MOST_EXECUTIONS, Between

    limited = arguments.executions is not None or arguments.time is not None
    options = Options(
        executions=arguments.executions if limited else MOST_EXECUTIONS,
        seconds=arguments.time,
        seed=arguments.seed,
        explain=True,
        join="all",
    )
    progress = terminal_progress()
    asked = argparse.Namespace(**{**vars(arguments), "steps": None})  # those are macro-steps
    with controlled(words, asked) as program, progress or nullcontext():
        found = explore(program, options, None, progress)
        replay = _kept(found, program, words, arguments)
    claims = tuple([claim[0] for claim in program.claims])
    return Between(found, claims, replay), dict(program.initial)


def _tell_at_once(failure: Failure) -> None:
    """A failure is known before its schedule is simple; Ctrl-C is enough of that."""
    message = f"{failure.kind}: {failure.message}" if failure.message else failure.kind
    remark(
        f"execution {failure.number:,} fails ({message}); a simpler schedule is looked for (Ctrl-C: enough)"
    )


def _kept_search(
    words: tuple[str, ...], arguments: argparse.Namespace, specification: Specification | None
) -> Kept | None:
    if arguments.resume is None:
        return None
    from possibly.session.exploring.resumed import Kept

    if arguments.scheduler != "dpor":
        raise UsageError("only a search by dpor can be resumed", hint="leave --resume or --scheduler out")
    asked = [repr(specification)] if specification is not None else []
    return Kept(arguments.resume, words, [*asked, *(["races"] if arguments.races else [])])


def _tree(
    words: tuple[str, ...], specification: Specification | None, arguments: argparse.Namespace
) -> Executions | None:
    """What is drawn afterwards, if it is asked for."""
    if arguments.tree is None:
        return None
    from possibly.views.web.executions import ASKED, Executions, check_target

    check_target(arguments.tree)
    names = [each.name for each in specification.properties] if specification is not None else []
    asked = ", ".join([ASKED, *(["no races"] if arguments.races else []), *names])
    return Executions(words, asked=asked)


def _write_page(
    found: Exploration,
    program: ControlledProgram,
    words: tuple[str, ...],
    arguments: argparse.Namespace,
    replay: str | None,
    tree: Executions | None,
) -> None:
    if arguments.html is not None:
        from possibly.views.web.explored import picture

        trees = [picture(tree)] if tree is not None else []
        title = shlex.join(words)
        write_failure_page(found.failure, arguments.html, title, replay, program.initial, trees)


def _kept(
    found: Exploration, program: ControlledProgram, words: tuple[str, ...], arguments: argparse.Namespace
) -> str | None:
    """Writes the failing schedule; the command that runs it again."""
    from possibly.session.exploring.replay import again

    if found.failure is None:
        return None
    path = arguments.output or default_output(words)
    save_schedule(found.failure, program, words, path)
    return again(path, words)


def default_output(words: tuple[str, ...]) -> str:
    import os

    name = words[1] if words[0] == "-m" else os.path.basename(os.path.abspath(words[0]))
    return f"{name.removesuffix('.py')}.schedule"


def _look(
    program: ControlledProgram, specification: Specification | None, races: bool
) -> Callable[[Execution], dict[str, Any] | None] | None:
    """What is asked of each execution beside that it does not fail."""
    from possibly.session.checking.check import Options as Checking
    from possibly.session.exploring.checks import property_check, race_check

    if specification is not None:
        return property_check(program, specification, Checking(explain=False))
    return race_check if races else None


def words_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    rest: list[str] = arguments.arguments
    if arguments.module is not None:
        return ("-m", arguments.module, *([arguments.program] if arguments.program else []), *rest)
    if arguments.program is None:
        raise UsageError("no program to run", hint="possibly explore PROGRAM [ARGUMENTS]")
    return (arguments.program, *rest)


def controlled(
    words: tuple[str, ...], arguments: argparse.Namespace, specification: Specification | None = None
) -> ControlledProgram:
    """The program, checked as far as that is possible without running it."""
    from possibly.session.exploring.programs import script

    if words[0] != "-m":
        _check_source(words[0])
    watched = functions = frozenset[str]()
    if specification is not None:
        from possibly.recorder.watch import watched as spoken_of

        found = spoken_of(specification)
        watched, functions = found.names | found.members, found.functions
    return script(
        words,
        watched=watched,
        functions=functions,
        only=frozenset(arguments.watched) or None,
        limit=arguments.steps or MOST_OPERATIONS,
        seed=arguments.seed,
        ignored=frozenset(arguments.ignore),
        include=frozenset(arguments.include),
        exclude=frozenset(arguments.exclude),
        trust=frozenset(arguments.trust),
        within=frozenset(arguments.within),
        early_timeouts=arguments.early_timeouts,
        slack=0.0 if arguments.punctual else arguments.slack,
        fifo=arguments.fifo,
        split=arguments.split,
        faults=frozenset(arguments.faults),
        at_most=arguments.at_most if arguments.faults else 0,
        input="" if arguments.input is None else read_text(arguments.input),
    )


def _check_source(path: str) -> None:
    import ast
    import os

    file = os.path.join(path, "__main__.py") if os.path.isdir(path) else path
    try:
        with open(file, "rb") as opened:
            ast.parse(opened.read(), file)
    except FileNotFoundError:
        raise PossiblyError("no such file", file=file) from None
    except SyntaxError as error:
        raise PossiblyError(error.msg, file=file, line=error.lineno, column=error.offset) from None


def tell(
    found: Exploration, words: tuple[str, ...], arguments: argparse.Namespace, replay: str | None
) -> int:
    """Tells the answer; the exit status."""
    from possibly.views.text.exploration import document, report
    from possibly.views.text.words import plain

    name = shlex.join(words)

    def findings(details: str) -> list[Findings]:
        from possibly.views.formats.of_explore import findings_of_answer

        return [findings_of_answer(found, name, details)]

    return told(
        arguments,
        found.truth,
        lambda: map(plain, report(found, name, replay, arguments.full)),
        lambda: document(found, name, replay),
        findings,
    )
