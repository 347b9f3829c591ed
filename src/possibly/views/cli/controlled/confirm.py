"""`possibly confirm TRACE PROPERTY PROGRAM`: drives the live program along a predicted counterexample.

Exit status: 1 if an execution of the program violates the property (or fails otherwise on the way), 0 if
every schedule was covered and none does, so that the prediction is infeasible, 3 if that is left open.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from possibly.errors import UsageError
from possibly.records import replace
from possibly.views.cli.controlled.explore import controlled, default_output
from possibly.views.cli.drawing.pages import add_html_argument, write_failure_page
from possibly.views.cli.files import kept_apart, loaded, read_text, save_schedule
from possibly.views.cli.progress import terminal_progress
from possibly.views.cli.properties import add_order_argument

if TYPE_CHECKING:
    from possibly.logic.specification import Specification
    from possibly.session.checking.check import Options as Checking
    from possibly.session.exploring.confirm import Confirmation, Prediction
    from possibly.session.exploring.programs import ControlledProgram

DEADLOCK = "deadlock"
"""Instead of a property: drive the program into the deadlocks that the trace lets expect."""
CONTROL: dict[str, Any] = {
    "steps": 20_000,
    "seed": 0,
    "ignore": [],
    "watched": [],
    "early_timeouts": False,
    "slack": 1.0,
    "punctual": False,
    "include": [],
    "exclude": [],
    "trust": [],
    "within": [],
    "fifo": False,
    "split": False,
    "faults": [],
    "at_most": 1,
    "input": None,
}
"""How the program is controlled."""
NAME = "confirm"
SUMMARY = "drive the live program along a predicted counterexample"
DESCRIPTION = (
    "Checks a property on a recorded trace; if some order of its events violates the property, runs the "
    "program under control along that order. PROPERTY is the name of one in --spec, or a formula: of CTL, or "
    "with its language before it, as in 'ltl: G(x >= 0)'."
)
EXAMPLES = """\
examples:
  possibly confirm bank.jsonl 'AG(balance >= 0)' bank.py
  possibly confirm --spec bank.spec bank.jsonl safe bank.py --accounts 3
exit status:
  0  infeasible: no schedule violates it    1  confirmed    3  left open by a limit
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", metavar="TRACE", help="a recorded run of the program")
    parser.add_argument("property", metavar="PROPERTY", help="a formula, or a name in --spec")
    parser.add_argument("program", metavar="PROGRAM", help="a Python file")
    parser.add_argument("arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER, help="its arguments")
    parser.add_argument("--spec", metavar="FILE", help="a file with properties")
    add_order_argument(parser, predictive=True)
    parser.add_argument("--executions", metavar="N", type=int, default=10_000, help="at most N (10,000)")
    parser.add_argument("--time", metavar="SECONDS", type=float, help="stop after that time")
    parser.add_argument("-o", "--output", metavar="FILE", help="the schedule (default: PROGRAM.schedule)")
    add_html_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--full", action="store_true", help="leave nothing out, however long the schedule is")
    parser.set_defaults(**CONTROL)


def run(arguments: argparse.Namespace) -> int:
    with kept_apart(arguments.output):
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    from possibly.session.checking.check import Options as Checking
    from possibly.session.exploring.confirm import predicted

    if arguments.property == DEADLOCK and arguments.spec is None:
        from possibly.views.cli.controlled.confirm_deadlocks import confirm_deadlocks

        return confirm_deadlocks(arguments, (arguments.program, *arguments.arguments))
    specification = _property(arguments)
    checking = Checking(order=arguments.order, explain=False)
    prediction = predicted(loaded(arguments.trace, None), specification, checking)
    if prediction.verdict.holds is not False:
        return _nothing_predicted(prediction, arguments)
    return driven(prediction, specification, checking, (arguments.program, *arguments.arguments), arguments)


def driven(
    prediction: Prediction,
    specification: Specification,
    checking: Checking,
    words: tuple[str, ...],
    arguments: argparse.Namespace,
) -> int:
    """Drives the program there, tells what happened, and gives the exit status."""
    from possibly.session.exploring.confirm import confirm
    from possibly.session.exploring.exploration import Options

    options = Options(executions=arguments.executions, seconds=arguments.time, explain=True)
    progress = terminal_progress()
    with controlled(words, arguments, specification) as program, progress or nullcontext():
        done = confirm(prediction, program, specification, options, checking, progress)
        replay = _kept(done, program, words, arguments)
        failure = done.found.failure
        write_failure_page(failure, arguments.html, shlex.join(words), replay, program.initial)
    _tell(done, words, arguments, replay)
    return done.found.truth.status


def _property(arguments: argparse.Namespace) -> Specification:
    from possibly.logic.specification import Specification, property_from_text, read_specification

    text: str = arguments.property
    if arguments.spec is not None:
        whole = read_specification(read_text(arguments.spec), arguments.spec)
        named = tuple(each for each in whole.properties if each.name == text)
        if named:
            return replace(whole, properties=named)
        raise UsageError(f"{arguments.spec} has no property {text!r}")
    language, colon, formula = text.partition(":")
    if colon and language.strip() in ("ctl", "ltl", "tl", "expect", "never"):
        return Specification(properties=(property_from_text(language.strip(), formula, language.strip()),))
    return Specification(properties=(property_from_text("ctl", text, "ctl"),))


def _nothing_predicted(prediction: Prediction, arguments: argparse.Namespace) -> int:
    word = "holds" if prediction.verdict.holds else "is undecided"
    if arguments.json:
        print(json.dumps({"trace": arguments.trace, "verdict": "not predicted", "property": word}))
    else:
        print(f"nothing to confirm: the property {word} on {arguments.trace}")
    return 0 if prediction.verdict.holds else 3


def _kept(
    done: Confirmation, program: ControlledProgram, words: tuple[str, ...], arguments: argparse.Namespace
) -> str | None:
    from possibly.session.exploring.replay import again

    if done.found.failure is None:
        return None
    path = arguments.output or default_output(words)
    save_schedule(done.found.failure, program, words, path)
    return again(path, words)


def _verdict(done: Confirmation) -> str:
    found = done.found
    if found.failure is not None:
        return "confirmed" if found.failure.kind == "property" else "failed"
    return "infeasible" if found.complete else "open"


def _tell(
    done: Confirmation, words: tuple[str, ...], arguments: argparse.Namespace, replay: str | None
) -> None:
    if arguments.json:
        print(json.dumps(_document(done, words, replay), ensure_ascii=False))
        return
    from possibly.views.text.answers import open_lines
    from possibly.views.text.exploration import failure_lines
    from possibly.views.text.words import plain

    found = done.found
    lines = failure_lines(found.failure, arguments.full) if found.failure is not None else []
    lines += ["", f"again: {replay}", ""] if replay is not None else []
    for line in [*lines, _sentence(done, words), *open_lines(found)]:
        print(plain(line))
    sys.stdout.flush()


def _sentence(done: Confirmation, words: tuple[str, ...]) -> str:
    from possibly.views.text.words import count_text

    path, found = done.prediction.path, done.found
    program = shlex.join(words)
    counted = count_text(found.executions, "execution")
    match _verdict(done):
        case "confirmed":
            followed = f"{done.reached} of {len(path)} predicted events were followed"
            return f"{program}: confirmed in {counted}; {followed}"
        case "failed":
            return f"{program}: it fails on the way, in {counted}"
    missing = done.missing
    where = f"; no execution reached {missing.name} at {missing.at}" if missing is not None else ""
    if found.complete:
        return f"{program}: infeasible, no schedule violates the property ({counted}){where}"
    return f"{program}: open, not confirmed in {counted}{where}"


def _document(done: Confirmation, words: tuple[str, ...], replay: str | None) -> dict[str, Any]:
    from possibly.views.text.exploration import document

    missing = done.missing
    return {
        **document(done.found, shlex.join(words), replay),
        "confirmation": _verdict(done),
        "path": [{"process": each.name, "at": each.at, "kind": each.kind} for each in done.prediction.path],
        "reached": done.reached,
        "missing": None if missing is None else {"process": missing.name, "at": missing.at},
    }
