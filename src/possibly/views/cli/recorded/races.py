"""`--races` of `check` and `run`: conflicting accesses that nothing keeps apart."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from possibly.errors import PossiblyError
from possibly.views.cli.files import loaded
from possibly.views.cli.formats import Answers
from possibly.views.cli.messages import complain
from possibly.views.cli.progress import terminal_progress

if TYPE_CHECKING:
    from possibly.recorder.sharing.races import Race
    from possibly.session.checking.races import RaceReport
    from possibly.trace.model import Trace


def statuses(paths: list[str], answers: Answers, arguments: Any) -> list[int]:
    """Looks for races in these traces and tells of them."""
    return [_status(path, answers, arguments) for path in paths]


def _status(path: str, answers: Answers, arguments: Any) -> int:
    from possibly.session.checking.races import races_of

    try:
        report = races_of(loaded(path, terminal_progress()), arguments.timeout, arguments.window)
    except PossiblyError as error:
        answers.failed(path, error)
        return complain(error)
    _tell(report, path, answers)
    return 1 if report.races else 3 if report.reason else 0


def _tell(report: RaceReport, path: str, answers: Answers) -> None:
    if answers.are_collected:
        from possibly.views.formats.of_races import findings_of_races

        answers.add(findings_of_races(path, report.trace, report.races))
    elif answers.is_text:
        _print(report, path)
    else:
        import json

        print(json.dumps({"trace": path, **_document(report)}), flush=True)


def _print(report: RaceReport, path: str) -> None:
    from possibly.views.text.source import Sources

    trace, sources = report.trace, Sources((os.path.dirname(path), ""))
    for race in (*report.notes, *report.races):
        print(f"{'NOTE' if race.is_atomic else 'RACE'}  {race.variable}")
        for access in (race.first, race.second):
            event = trace.event(access.event)
            quoted = sources.quote(event.at) or ""
            words = f"{event.process:<12} {event.name:<14} {access.how:<6} {event.at or '':<14} {quoted}"
            print(f"    {words}".rstrip())
        print(f"  {_said(race, trace)}")
    where = "" if report.window is None else f"; other orders in windows of {report.window:,} events"
    if report.reason is not None:
        print(f"there may be more races: {report.reason}")
    elif not report.races:
        which = "all other" if report.notes else "every two"
        print(f"no races in this run: {which} conflicting accesses are ordered{where}")
    elif where:
        print(f"looked at{where.removeprefix('; other orders')}")
    sys.stdout.flush()


def _said(race: Race, trace: Trace) -> str:
    if race.is_atomic:
        what = "neither is lost" if race.first.how == race.second.how else "no change is lost or half seen"
        return f"Nothing orders them; each is one operation of the interpreter, so {what}."
    if race.path is None:
        return "Nothing orders them: a lock around both, or a join between, would."
    return (
        f"Another order of the run brings them together, after {len(race.path)} of {len(trace)} events: "
        "a lock around both, or a join between, keeps them apart."
    )


def _document(report: RaceReport) -> dict[str, Any]:
    found: dict[str, Any] = {"races": [_race(report.trace, race) for race in report.races]}
    found["notes"] = [_race(report.trace, race) for race in report.notes]
    if report.window is not None:
        found["window"] = report.window
    if report.reason is not None:
        found["reason"] = report.reason
    return found


def _race(trace: Trace, race: Race) -> dict[str, Any]:
    found: dict[str, Any] = {
        "variable": race.variable,
        "accesses": [
            {"event": trace.name(each.event), "how": each.how, "at": trace.text(trace.place, each.event)}
            for each in (race.first, race.second)
        ],
    }
    if race.path is not None:
        found["path"] = [trace.name(event) for event in race.path]
    return found
