"""`possibly serializable HISTORY`: whether transactions could have happened in a row, or on snapshots."""

from __future__ import annotations

from possibly.views.cli.files import read_bytes
from possibly.views.cli.messages import complain
from possibly.views.cli.properties import seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

NAME = "serializable"
SUMMARY = "check that the transactions of a history are isolated from each other"
DESCRIPTION = (
    "Checks whether the transactions of a history, reads and appends or reads and writes, could have "
    "happened one after another; if not, shows the cycle of dependencies that forbids it."
)
EXAMPLES = """\
examples:
  possibly serializable history.edn
  possibly serializable history.edn --level strict
  possibly serializable history.edn --level snapshot --json
"""
LEVELS = ("serializable", "strict", "snapshot")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("histories", metavar="HISTORY", nargs="+", help="the history; - is standard input")
    parser.add_argument(
        "--level",
        choices=LEVELS,
        default="serializable",
        help="serializable (default), strict: in real time too, or snapshot isolation",
    )
    parser.add_argument("--timeout", metavar="SECONDS", type=seconds, help="give up after that time")
    parser.add_argument("--json", action="store_true", help="print one JSON document a history, a line each")


def run(arguments: argparse.Namespace) -> int:
    from possibly.errors import PossiblyError
    from possibly.views.cli.recorded.check import combined

    statuses = []
    for path in arguments.histories:
        try:
            statuses.append(_status(path, arguments))
        except PossiblyError as error:
            statuses.append(complain(error))
    return combined(statuses)


def _status(path: str, arguments: argparse.Namespace) -> int:
    from possibly.session.histories.linearizable import history_of
    from possibly.session.histories.transactions import check_transactions
    from possibly.verdict.model import Truth
    from possibly.views.text.transactions import document, lines_of

    timeout = None if arguments.timeout in (None, float("inf")) else arguments.timeout
    report = check_transactions(history_of(read_bytes(path), path), arguments.level, timeout)
    if arguments.json:
        import json

        print(json.dumps(document(report, path), ensure_ascii=False), flush=True)
    else:
        for line in lines_of(report, path):
            print(line)
    return Truth.of(report.answer.holds).status
