"""`possibly linearizable HISTORY --model MODEL`: whether what clients saw is what one object could answer."""

from __future__ import annotations

import sys

from possibly.errors import UsageError
from possibly.views.cli.files import read_bytes
from possibly.views.cli.messages import complain, width_of
from possibly.views.cli.properties import _limit, seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from possibly.session.histories.linearizable import HistoryReport, Question

NAME = "linearizable"
SUMMARY = "check that a history of operations is one of a register, map, queue or the like"
DESCRIPTION = (
    "Checks whether the operations in a history could have happened one after another, each between its call "
    "and its return, with the results that they had; if not, shows the shortest prefix that cannot."
)
EXAMPLES = """\
examples:
  possibly linearizable etcd.log --model register
  possibly linearizable history.edn --model kv --timeout 60
  possibly linearizable run.jsonl --model queue --json
  possibly linearizable history.edn --model my_lock.py

A history is a log of Jepsen, its history.edn, the same as JSON lines, or a recorded run that has calls and
returns.
"""
MOST_STATES = 5_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("histories", metavar="HISTORY", nargs="+", help="the history; - is standard input")
    parser.add_argument(
        "--model",
        metavar="MODEL",
        help="register, kv, queue, stack, set, counter, or a Python file with a model of your own",
    )
    parser.add_argument("--initial", metavar="JSON", help="the value that the object starts with")
    parser.add_argument(
        "--max-states",
        metavar="N",
        type=_limit,
        default=MOST_STATES,
        help=f"give up after that many configurations (default {MOST_STATES:,}; none: never)",
    )
    parser.add_argument("--timeout", metavar="SECONDS", type=seconds, help="give up after that time")
    parser.add_argument("--json", action="store_true", help="print one JSON document a history, a line each")


def run(arguments: argparse.Namespace) -> int:
    from possibly.errors import PossiblyError
    from possibly.views.cli.recorded.check import combined

    question, statuses = question_of(arguments), []
    for path in arguments.histories:
        try:
            statuses.append(_status(path, question, arguments))
        except PossiblyError as error:
            statuses.append(complain(error))
    return combined(statuses)


def question_of(arguments: argparse.Namespace) -> Question:
    from possibly.session.histories.linearizable import Question

    if arguments.model is None:
        raise UsageError("no model to compare with", hint="--model register, kv, queue, stack, set, counter")
    timeout = None if arguments.timeout in (None, float("inf")) else arguments.timeout
    return Question(arguments.model, _initial(arguments.initial), arguments.max_states, timeout)


def _initial(text: str | None) -> object:
    if text is None:
        return ...
    import json

    try:
        return json.loads(text)
    except ValueError:
        raise UsageError(f"--initial {text!r} is no JSON", hint="a text needs quotes") from None


def _status(path: str, question: Question, arguments: argparse.Namespace) -> int:
    from possibly.session.histories.linearizable import check_history, history_of
    from possibly.verdict.model import Truth

    history = history_of(read_bytes(path), path)
    report = check_history(history, question)
    _show(report, path, arguments)
    return Truth.of(report.answer.holds).status


def _show(report: HistoryReport, path: str, arguments: argparse.Namespace) -> None:
    from possibly.views.text.histories import document, lines_of

    if arguments.json:
        import json

        print(json.dumps(document(report, path), ensure_ascii=False), flush=True)
        return
    for line in lines_of(report, path, width_of(sys.stdout)):
        print(line)
