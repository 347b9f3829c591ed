"""`possibly confirm TRACE deadlock PROGRAM`: the live program is driven into the deadlocks of a trace."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from possibly.views.cli.controlled.explore import controlled, default_output
from possibly.views.cli.files import loaded, save_schedule
from possibly.views.cli.progress import terminal_progress
from possibly.views.cli.recorded.check import combined

if TYPE_CHECKING:
    from possibly.session.checking.deadlocks import DeadlockReport


def confirm_deadlocks(arguments: Any, words: tuple[str, ...]) -> int:
    """Drives the live program into each predicted deadlock: 1 if it gets stuck, 3 if that stays open."""
    from possibly.session.checking.deadlocks import deadlocks_of

    report = deadlocks_of(loaded(arguments.trace, None))
    if not report.deadlocks:
        print(f"nothing to confirm: no order of {arguments.trace} reaches a deadlock")
        return 3 if report.reason else 0
    return combined([_confirmed(report, number, words, arguments) for number in range(len(report.deadlocks))])


def _confirmed(report: DeadlockReport, number: int, words: tuple[str, ...], arguments: Any) -> int:
    from possibly.session.checking.deadlocks import confirmed
    from possibly.session.exploring.exploration import Options

    options = Options(executions=arguments.executions, seconds=arguments.time, explain=True)
    progress = terminal_progress()
    with controlled(words, arguments, None) as program, progress or nullcontext():
        found = confirmed(report.trace, report.deadlocks[number], program, options, progress)
        replay = _kept(found, number, program, words, arguments)
    _tell_confirmed(found, words, replay, arguments)
    return found.truth.status


def _kept(found: Any, number: int, program: Any, words: tuple[str, ...], arguments: Any) -> str | None:
    if found.failure is None:
        return None
    path = arguments.output or default_output(words)
    if number and path != "-":
        stem, suffix = os.path.splitext(path)
        path = f"{stem}-{number + 1}{suffix}"
    save_schedule(found.failure, program, words, path)
    return f"possibly replay {shlex.quote(path)}"


def _tell_confirmed(found: Any, words: tuple[str, ...], replay: str | None, arguments: Any) -> None:
    from possibly.views.text.exploration import document, report

    if arguments.json:
        is_stuck = found.failure is not None and found.failure.kind == "deadlock"
        verdict = "confirmed" if is_stuck else "failed" if found.failure else "open"
        verdict = "infeasible" if found.holds else verdict
        told = {**document(found, shlex.join(words), replay), "confirmation": verdict}
        print(json.dumps(told, ensure_ascii=False), flush=True)
        return
    for line in report(found, shlex.join(words), replay, arguments.full):
        print(line)
    sys.stdout.flush()
