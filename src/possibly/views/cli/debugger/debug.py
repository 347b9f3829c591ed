"""`possibly debug MODEL|TRACE|PROGRAM`: the temporal debugger at a terminal, or driven by a script.

The loop is the same for both: a line, its reply. A script is echoed with the prompt, so that its transcript
reads as the session of a person. A script stops at the first command that cannot be done, with its line,
and status 2; an `assert` that does not hold gives status 1 at the end. At a terminal an error is a sentence
and the session goes on.
"""

from __future__ import annotations

import argparse
import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from possibly.errors import FormulaError, PossiblyError, UsageError
from possibly.views.cli.files import LARGEST_TEXT, named_errors, read_text
from possibly.views.cli.messages import pointed
from possibly.views.cli.progress import terminal_progress
from possibly.views.cli.properties import add_order_argument
from possibly.views.text.words import plain

if TYPE_CHECKING:
    from possibly.logic.specification import Let
    from possibly.session.debugging.temporal import Debugger
    from possibly.views.cli.debugger.commands import Reply

NAME = "debug"
SUMMARY = "step through a model, a recorded run or a live program by formulas"
DESCRIPTION = (
    "The temporal debugger: a step is a finite sequence of states that satisfies a formula; steps are kept "
    "on a stack and can be undone, replaced and searched again. `help` lists the commands of a session."
)
EXAMPLES = """\
examples:
  possibly debug dekker.py
  possibly debug dekker.py --command 'step F at(P0, "m8")' --command state
  possibly debug run.jsonl --script session.txt
  possibly debug bank.py --watch balance --command 'step F outcome == "failed"'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="FILE", help="a model file, a trace, or a Python program")
    parser.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="arguments of the program")
    parser.add_argument("--script", metavar="FILE", help="commands to run; - is standard input")
    parser.add_argument(
        "--command",
        metavar="COMMAND",
        action="append",
        default=[],
        help="a command to run; may be given again",
    )
    parser.add_argument(
        "--spec", metavar="FILE", help="a specification file whose `let` names formulas may use"
    )
    add_order_argument(parser)
    parser.add_argument(
        "--watch",
        metavar="NAME",
        action="append",
        default=[],
        help="a variable of a program to be seen although no tasks race for it; may be given again",
    )
    parser.add_argument(
        "--macro", action="store_true", help="step the program by macro-steps, from breakpoint to breakpoint"
    )
    parser.add_argument("--mpi", metavar="N", type=int, help="the same for N ranks under mpiexec")
    parser.add_argument("--json", action="store_true", help="print all replies as one JSON document")


def run(arguments: argparse.Namespace) -> int:
    debugger = _debugger(arguments)
    try:
        return _run(debugger, arguments)
    finally:
        close: Callable[[], None] = getattr(debugger.system, "close", lambda: None)
        close()


def _run(debugger: Debugger, arguments: argparse.Namespace) -> int:
    if arguments.script is None and not arguments.command and not arguments.json:
        from possibly.views.cli.debugger.terminal import is_typed

        if is_typed():
            return _interactive(debugger)
    return _scripted(debugger, arguments)


def _debugger(arguments: argparse.Namespace) -> Debugger:
    from possibly.logic.specification import read_specification
    from possibly.session.debugging.temporal import Opening, opened

    lets: tuple[Let, ...] = ()
    if arguments.spec:
        lets = tuple(read_specification(read_text(arguments.spec), arguments.spec).lets)
    if arguments.macro or arguments.mpi is not None:
        from possibly.session.debugging.macro import opened_macro

        return opened_macro((arguments.system, *arguments.arguments), arguments.mpi, lets)
    if arguments.system == "-":
        raise UsageError("commands come from standard input here: name the file of the trace or model")
    with named_errors(arguments.system):
        opening = Opening(
            arguments.system,
            _head(arguments.system),
            arguments.order,
            tuple(arguments.arguments),
            tuple(arguments.watch),
        )
        return opened(opening, lets)


def _head(path: str) -> str:
    """The text of a Python file; other kinds are read by whoever opens them."""
    if not path.endswith(".py"):
        with open(path, "rb"):
            return ""
    text = read_text(path)
    if len(text) > LARGEST_TEXT:
        raise PossiblyError(f"longer than {LARGEST_TEXT:,} bytes", file=path)
    return text


# ---- a script -----------------------------------------------------------------------------------


def _lines(arguments: argparse.Namespace) -> Iterator[tuple[str, int, str]]:
    """Each command with the file and the line it stands in."""
    for number, command in enumerate(arguments.command, start=1):
        yield "--command", number, command
    script = arguments.script if arguments.script is not None or arguments.command else "-"
    if script is not None:
        for number, line in enumerate(read_text(script).splitlines(), start=1):
            yield ("standard input" if script == "-" else script), number, line


def _scripted(debugger: Debugger, arguments: argparse.Namespace) -> int:
    from possibly.views.cli.debugger.commands import execute
    from possibly.views.cli.debugger.terminal import PROMPT

    replies: list[dict[str, Any]] = []
    status = 0
    for file, number, line in _lines(arguments):
        try:
            reply = _watched(debugger, lambda line=line: execute(debugger, line))  # type: ignore[misc]
        except PossiblyError as error:
            raise _located(error, file, number) from None
        if arguments.json:
            replies.append({"command": line, **reply.data})
        else:
            _show_line(PROMPT + line, reply)
        if reply.data.get("outcome") == "stopped":
            raise KeyboardInterrupt  # nobody is there to go on with it
        status = max(status, reply.status)
        if reply.ends:
            break
    if arguments.json:
        print(json.dumps({"system": arguments.system, "replies": replies}))
    return status


def _show_line(line: str, reply: Reply) -> None:
    print(plain(line).rstrip())
    if reply.text:
        print(reply.text, flush=True)


def _located(error: PossiblyError, file: str, line: int) -> PossiblyError:
    """The error with the line of the script; a place inside the formula stays."""
    if isinstance(error, FormulaError):
        return FormulaError(
            error.message, text=error.text, file=file, line=line, column=error.column, hint=error.hint
        )
    if error.file is not None:
        return error
    return PossiblyError(error.message, file=file, line=line, hint=error.hint)


# ---- a person -----------------------------------------------------------------------------------


def _interactive(debugger: Debugger) -> int:
    from possibly.views.cli.debugger.commands import execute
    from possibly.views.cli.debugger.terminal import typed_lines

    print(f"{plain(debugger.path)}: {debugger.kind}, {len(debugger.system.vocabulary.processes)} processes; "
          "`help` lists the commands")  # fmt: skip
    status = 0
    for line in typed_lines(lambda before: completions(debugger, before)):
        try:
            reply = _watched(debugger, lambda line=line: execute(debugger, line))  # type: ignore[misc]
        except PossiblyError as error:
            text = pointed(error) if isinstance(error, FormulaError) else str(error)
            print("\n".join(map(plain, text.split("\n"))))
            continue
        except KeyboardInterrupt:
            print("interrupted; the stack is as before")
            continue
        status = max(status, reply.status)
        if reply.text:
            print(reply.text, flush=True)
        if reply.ends:
            break
    return status


def completions(debugger: Debugger, before: str) -> list[str]:
    """What may follow: a command first, then what that command takes."""
    from possibly.views.cli.debugger.commands import commands

    known = commands()
    name = before.split()[0] if before.split() else None
    if name is None:
        return list(known)
    return list(known[name].complete(debugger)) if name in known else []


# ---- long searches ------------------------------------------------------------------------------


def _watched(debugger: Debugger, work: Callable[[], Reply]) -> Reply:
    """Runs a command whose searches show progress and stop at Ctrl-C, the session intact."""
    progress = terminal_progress()
    stopped = False

    def stop(signal_number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        if stopped:
            raise KeyboardInterrupt  # the second time: whatever is going on
        stopped = True

    def watch(visited: int) -> bool:
        if progress is not None:
            progress("searching", visited, None)
        return not stopped

    debugger.stack.watch = watch
    try:
        with _handler(stop):
            return work()
    finally:
        if progress is not None:
            progress.__exit__()


@contextmanager
def _handler(stop: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    try:
        before = signal.signal(signal.SIGINT, stop)
    except ValueError:  # not the main thread: nobody presses Ctrl-C there
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
