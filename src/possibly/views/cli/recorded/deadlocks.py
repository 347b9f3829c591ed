"""`--deadlocks` of `check` and `run`: deadlocks that another order of a run reaches."""

from __future__ import annotations

import os
import sys

from possibly.errors import PossiblyError
from possibly.views.cli.files import loaded
from possibly.views.cli.formats import Answers
from possibly.views.cli.messages import complain
from possibly.views.cli.progress import terminal_progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from possibly.session.checking.deadlocks import DeadlockReport


def statuses(paths: list[str], answers: Answers, arguments: Any) -> list[int]:
    """Looks for deadlocks in these traces and tells of them."""
    return [_status(path, answers, arguments.timeout) for path in paths]


def _status(path: str, answers: Answers, timeout: float | None) -> int:
    from possibly.session.checking.deadlocks import deadlocks_of

    try:
        report = deadlocks_of(loaded(path, terminal_progress()), timeout)
    except PossiblyError as error:
        answers.failed(path, error)
        return complain(error)
    _tell(report, path, answers)
    return 1 if report.deadlocks else 3 if report.reason else 0


def _tell(report: DeadlockReport, path: str, answers: Answers) -> None:
    if answers.are_collected:
        from possibly.views.formats.of_deadlocks import findings_of_deadlocks

        answers.add(findings_of_deadlocks(path, report))
        return
    from possibly.views.text.deadlocks import document, lines_of

    if answers.is_text:
        from possibly.views.text.source import Sources

        for line in lines_of(report, Sources((os.path.dirname(path), "")).quote):
            print(line)
    else:
        import json

        print(json.dumps(document(report, path), ensure_ascii=False))
    sys.stdout.flush()
