"""`possibly replay FILE`: runs one schedule again, event for event.

Exit status: 1 if the program fails again, 3 if the execution did not follow the schedule and did not fail, or
did not fail although the program is the same, 0 if it followed the schedule and nothing is wrong with it.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from possibly.errors import UsageError
from possibly.views.cli.drawing.pages import add_html_argument, write_failure_page

if TYPE_CHECKING:
    from possibly.control.execution import Execution
    from possibly.session.exploring.programs import ControlledProgram
    from possibly.session.exploring.replay import Replayed

NAME = "replay"
SUMMARY = "run one schedule again, event for event"
DESCRIPTION = (
    "Runs the program of a schedule file again so that its tasks go on in the recorded order, and says where "
    "it does not follow: the program was edited there, or something outside control decides."
)
EXAMPLES = """\
examples:
  possibly replay bank.schedule
  possibly replay --pdb bank.schedule      stop in the line debugger, in whichever thread goes on
  possibly replay pipeline.tree.json --breakpoint 12
  possibly replay bank.schedule --as-test  write test_bank.py, which fails until the program is cured
exit status:
  0  nothing fails    1  it fails again    3  it did not follow the schedule, or did not fail unchanged
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a schedule that possibly explore has written")
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        nargs="?",
        help="the program; one outside the schedule's folder is run only if it is named",
    )
    parser.add_argument(
        "--breakpoint", metavar="N", type=int, help="of a tree of macro-steps: run to this breakpoint"
    )
    parser.add_argument("--as-test", action="store_true", help=_AS_TEST)
    parser.add_argument("-o", "--output", metavar="FILE", help="with --as-test: the test (test_NAME.py)")
    parser.add_argument("--pdb", action="store_true", help="run it under the line debugger of Python")
    add_html_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--full", action="store_true", help="leave nothing out, however long the schedule is")


_AS_TEST = "write a pytest file that fails until the program is cured"


def run(arguments: argparse.Namespace) -> int:
    from possibly.views.cli.controlled.macro import is_tree, replay_tree

    if arguments.as_test:
        from possibly.views.cli.controlled.as_test import write_test

        return write_test(arguments)
    if arguments.output is not None:
        raise UsageError("-o names a test", hint="give --as-test too")
    if is_tree(arguments.file):
        return replay_tree(arguments.file, arguments.breakpoint, arguments.json)
    from possibly.session.exploring.replay import hash_as_in, replay

    if arguments.file != "-":
        hash_as_in(arguments.file)
    found = replay(arguments.file, _under_pdb if arguments.pdb else None, arguments.program)
    title, again = arguments.file, f"possibly replay {arguments.file}"
    write_failure_page(found.failure, arguments.html, title, again, found.initial)
    if arguments.json:
        print(json.dumps(_document(found), ensure_ascii=False))
    else:
        _tell(found, arguments.full)
    return _status(found)


def _under_pdb(program: ControlledProgram, scheduler: Any) -> Execution:
    return program.debug(scheduler)


def _status(found: Replayed) -> int:
    if found.failure is not None:
        return 1
    return 0 if found.is_faithful and not found.is_missing else 3


def _tell(found: Replayed, full: bool) -> None:
    from possibly.views.text.exploration import failure_lines
    from possibly.views.text.schedule import schedule_lines
    from possibly.views.text.words import plain

    execution = found.execution
    if found.failure is not None:
        lines = failure_lines(found.failure, full)
    else:
        lines = schedule_lines(execution, full)
    if execution.output:
        lines += ["", "it prints:", *execution.output.decode("utf-8", "backslashreplace").splitlines()]
    lines += ["", *_deviation_lines(found), _sentence(found)]
    for line in lines:
        print(plain(line))
    sys.stdout.flush()


def _deviation_lines(found: Replayed) -> list[str]:
    words = {
        "new": "does something that is not in the schedule",
        "gone": "does not do any more what the schedule says",
        "waits": "should go on but has to wait",
        "ended": "was to go on, but the execution is over",
        "other": "was to go on, and another task did",
    }
    lines = []
    for each in found.deviations[:10]:
        place = each.operation.at if each.operation is not None else each.step.at
        name = each.step.name or each.step.task
        lines.append(
            f"diverges at step {each.number + 1}: {name} {words.get(each.what, each.what)} ({place})"
        )
    if len(found.deviations) > 10:
        lines.append(f"... and {len(found.deviations) - 10} more")
    return lines


def _sentence(found: Replayed) -> str:
    followed = (
        "the schedule was followed, event for event" if found.is_faithful else "the schedule was not followed"
    )
    changed = "the program has changed since the schedule was written; " if found.has_changed else ""
    return f"{changed}{followed}; {_outcome(found)}"


def _outcome(found: Replayed) -> str:
    """How it ended, and what became of the failure that the schedule shows."""
    from possibly.session.exploring.replay import shown

    if found.failure is not None and found.failure.details.get("specification"):
        return f"it violates {found.failure.message}"
    told = f"outcome: {found.execution.outcome.value}"
    if found.failure is None and found.has_changed and shown(found.schedule).get("kind"):
        return f"{told}; it does not fail any more"
    if found.is_missing:
        told += f"; the {shown(found.schedule).get('kind')} of the schedule did not come again"
        told += ", so something outside control decides it"
    return told


def _document(found: Replayed) -> dict[str, Any]:
    from possibly.views.text.exploration import failure_document

    execution = found.execution
    return {
        "program": found.schedule.header.get("program"),
        "outcome": execution.outcome.value,
        "faithful": found.is_faithful,
        "changed": found.has_changed,
        "schedule": list(execution.schedule),
        "deviations": [
            {"step": each.number, "what": each.what, "task": each.step.task, "at": each.step.at}
            for each in found.deviations
        ],
        "failure": failure_document(found.failure, None) if found.failure is not None else None,
    }
