"""What an exploration found, as text and as JSON: the verdict, the failing schedule in source lines.

A schedule is told by turns: what one task does before another goes on, each visible operation with its
source line, the text of that line, and the value that was read or written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from possibly.control.execution import Execution, Step
from possibly.verdict.model import Atom
from possibly.verdict.waiting import HELD, WAITING
from possibly.views.text.answers import answer_document, coverage_document, coverage_lines, open_lines
from possibly.views.text.report import atom_texts
from possibly.views.text.schedule import LONGEST, Marks, schedule_lines, shown_rows
from possibly.views.text.steps import source_of, step_text, thing_name, told_apart, told_steps
from possibly.views.text.why import atomic_text, no_return_text, pair_text, why_lines
from possibly.views.text.words import count_text

if TYPE_CHECKING:
    from possibly.control.why import Moment, Pair
    from possibly.session.exploring.exploration import Exploration
    from possibly.session.why.failure import Failure
FRAMES = 5
"""Frames of the user's code that are shown."""
WORD = re.compile(r"[^\W\d][\w.]*")
SCREEN = 50
"""Lines of a report, unless everything is asked for."""
SHORTEST = 8
"""Lines of a schedule that are shown in any case."""
MOST_WAITING = 10
"""Tasks that cannot go on are told by so many lines."""
MOST_ATOMS = 5
"""Parts of a formula whose values are shown."""


def report(found: Exploration, program: str, replay: str | None, full: bool = False) -> list[str]:
    """The lines of the report: of a failure so many that all of it fits on a screen."""
    last = _last_lines(found, program, replay)
    if found.failure is None:
        return last
    lines = failure_lines(found.failure, full)
    longest = LONGEST
    while not full and len(lines) + len(last) > SCREEN and longest > SHORTEST:
        longest = max(SHORTEST, longest - (len(lines) + len(last) - SCREEN))
        lines = failure_lines(found.failure, full, longest)
    return [*lines, *last]


def _last_lines(found: Exploration, program: str, replay: str | None) -> list[str]:
    """What is told after the failure, if there is one."""
    lines = []
    if found.failure is not None:
        if replay is not None:
            lines += ["", f"again: {replay}"]
        if found.cut_short:
            lines.append("there was no time to make this schedule simpler: more --time may")
        lines.append("")
    lines.append(_summary(found, program))
    if found.holds is None:
        lines += coverage_lines(found.coverage)
    return [*lines, *open_lines(found)]


def _summary(found: Exploration, program: str) -> str:
    covered = count_text(found.executions, "execution")
    if found.failure is not None:
        return (
            f"{program}: violated ({found.failure.kind}), in execution {found.failure.number:,} of {covered}"
        )
    if found.complete:
        return f"{program}: holds, every schedule is covered by {covered}"
    return f"{program}: unknown, nothing found in {covered}"


def failure_lines(failure: Failure, full: bool = False, longest: int = LONGEST) -> list[str]:
    failure = replace(failure, execution=told_apart(failure.execution))
    execution, details = failure.execution, failure.details
    lines = [_head(failure)]
    lines += _waiting_lines(details.get("waiting", ()), execution, full)
    marks = marks_of(failure)
    is_shown = any(row.number in marks.failing for row in shown_rows(execution, full, marks.end))
    words = ["> violates it"] if is_shown else []
    words += ["* decides"] if failure.cause is not None and failure.cause.pairs else []
    lines += ["", f"the schedule{' (' + ', '.join(words) + ')' if words else ''}:"]
    lines += schedule_lines(execution, full, marks, longest)
    lines += _decided(failure, "where it is violated" if is_shown else "at the end")
    lines += _raised(details, full)
    why = why_lines(failure)
    return [*lines, "", *why] if why else lines


def _waiting_lines(rows: Sequence[dict[str, Any]], execution: Execution, full: bool) -> list[str]:
    shown = rows if full or len(rows) <= MOST_WAITING else rows[: MOST_WAITING - 1]
    lines = [f"  {waiting_line(row, execution)}" for row in shown]
    left = len(rows) - len(shown)
    return [*lines, f"  ... {left} more wait (--full shows them)"] if left else lines


def _decided(failure: Failure, where: str) -> list[str]:
    """What the property reads where it is violated; or that no single order of the steps shows it."""
    details = failure.details
    if details.get("specification") and "step" not in details:
        return ["", "these steps violate it, though no order of them does so alone"]
    atoms = [Atom(each["text"], each["value"], each["operands"]) for each in details.get("atoms", ())]
    shown = list(atom_texts(atoms[:MOST_ATOMS]))
    return ["", f"{where}:", *(f"  {text}" for text in shown)] if shown else []


def _head(failure: Failure) -> str:
    """What failed, and where: the user's line and task."""
    details = failure.details
    head, place = f"{failure.kind}: {failure.message}", details.get("place", "")
    who = _who(failure.execution, str(details.get("task", "")), str(place))
    if not place or place in head:
        return head
    return f"{head} at {place}" + (f" in {who}" if who else "")


def _who(execution: Execution, task: str, place: str) -> str:
    """Whose failure it is: a task's that was at the place rather than its loop's, which hands it on."""
    there = [row.task for row in told_steps(execution) if row.at == place]
    return execution.names.get(task if not there or task in there else there[-1], "")


def _raised(details: dict[str, Any], full: bool) -> list[str]:
    """Where an exception came from: the user's frames, or everything."""
    if full and details.get("traceback"):
        return ["", *str(details["traceback"]).rstrip().splitlines()]
    frames = details.get("frames", ())
    if len(frames) < 2:
        return []
    return ["", "raised in:", *(_frame(name, at) for name, at in frames[-FRAMES:])]


def _frame(name: str, at: str) -> str:
    source = source_of(at)
    return f"  {name:<18} {at}" + (f"  {source}" if source else "")


def marks_of(failure: Failure) -> Marks:
    """What of a failure's schedule is marked, and what is shown in any case."""
    end = failing_step(failure)
    failing = failure.details.get("marked") or (() if end is None else (end,))
    texts = (word for atom in failure.details.get("atoms", ()) for word in WORD.findall(atom["text"]))
    asked = frozenset(number + 1 for number in failure.asked)
    return Marks(tuple(failing), asked, failure.cause, frozenset(texts))


def failing_step(failure: Failure) -> int | None:
    """The number, from 1, of the step at which the execution violates its property."""
    step = failure.details.get("step") if "specification" in failure.details else None
    return step if isinstance(step, int) else None


def waiting_line(row: dict[str, Any], execution: Execution) -> str:
    """Who waits for what, and what it holds."""
    target = "" if row["does"] == "exit" else f" {row['thing']}"
    verb = WAITING.get(row["does"], f"waits in {row['does']} of")
    if row["spins"]:
        verb = "goes round and round reading"
    text = f"{row['name']} {verb}{target}"
    if row["for"] and row["does"] in HELD:
        text += f", held by {' and '.join(execution.names.get(each, each) for each in row['for'])}"
    if row["at"]:
        text += f"  ({row['at']})"
    if row["missed"]:
        text += f", {row['missed']}"
    holds = [f"{each['thing']} ({each['at']})" if each["at"] else str(each["thing"]) for each in row["holds"]]
    return text + (f"; it holds {' and '.join(holds)}" if holds else "")


# ---- JSON ---------------------------------------------------------------------------------------


def document(found: Exploration, program: str, replay: str | None) -> dict[str, Any]:
    """One JSON document."""
    failure = found.failure
    return {
        **answer_document(found, program),
        "operations": found.steps,
        "restarts": found.restarts,
        "processes": {"apart": found.apart, "broken": found.broken},
        "visible": list(found.visible),
        "coverage": coverage_document(found.coverage),
        "failure": None if failure is None else failure_document(failure, replay),
        **({} if failure is None else shown_failure(failure)),
    }


def shown_failure(failure: Failure) -> dict[str, Any]:
    """What whoever asks for the verdict alone wants to know of a failure."""
    execution = failure.execution
    rows = [_row(step, execution) for step in execution.steps]
    return {
        "kind": failure.kind,
        "message": failure.message,
        "schedule": list(failure.schedule),
        "steps": rows,
        "decides": [_pair_document(pair, rows, execution) for pair in _pairs(failure)],
        "cause": _cause_document(failure),
    }


def _pairs(failure: Failure) -> tuple[Pair, ...]:
    return failure.cause.pairs if failure.cause is not None else ()


def _pair_document(pair: Pair, rows: list[dict[str, Any]], execution: Execution) -> dict[str, Any]:
    first, then = (_moment_document(each, rows, execution) for each in (pair.first, pair.then))
    return {"first": first, "then": then, "text": pair_text(pair, execution)}


def _moment_document(moment: Moment, rows: list[dict[str, Any]], execution: Execution) -> dict[str, Any]:
    if moment.number is not None:
        return {"step": moment.number, **rows[moment.number]}
    waiting = Step(moment.task, moment.operation, (), {})
    return {"step": None, **_row(waiting, execution)}


def _cause_document(failure: Failure) -> dict[str, Any] | None:
    cause, execution = failure.cause, failure.execution
    if cause is None:
        return None
    remedy, atomic, no_return = failure.remedy, cause.atomic, cause.no_return
    return {
        "tried": cause.tried,
        "freer": cause.is_freer,
        "beyond": cause.is_beyond,
        "atomic": None
        if atomic is None
        else {
            "task": atomic.last.task,
            "from": atomic.first.operation.at,
            "to": atomic.last.operation.at,
            "text": atomic_text(atomic, execution),
        },
        "in_turn": None if cause.in_turn is None else list(cause.in_turn),
        "no_return": None
        if no_return is None
        else {
            "step": no_return.step,
            "exact": no_return.is_exact,
            "executions": no_return.executions,
            "text": no_return_text(no_return, execution),
        },
        "remedy": None if remedy is None else {"pattern": remedy.pattern, "words": remedy.words},
        "passing": None if cause.passing is None else list(cause.passing.schedule),
    }


def failure_document(failure: Failure, replay: str | None) -> dict[str, Any]:
    execution = failure.execution
    return {
        "execution": failure.number,
        **{key: value for key, value in failure.details.items() if key != "step"},
        "failing_step": failing_step(failure),
        "name": execution.names.get(str(failure.details.get("task", "")), ""),
        "schedule": list(failure.schedule),
        "steps": [_row(step, execution) for step in execution.steps],
        "output": execution.output.decode("utf-8", "backslashreplace"),
        "replay": replay,
    }


def _row(step: Step, execution: Execution) -> dict[str, Any]:
    operation = step.operation
    found: dict[str, Any] = {
        "task": step.task,
        "name": execution.names.get(step.task, step.task),
        "kind": operation.kind,
        "thing": thing_name(operation.thing, execution),
        "at": operation.at,
        "place": operation.at,
        "what": step_text(step, execution),
        "values": {},
    }
    if isinstance(step.detail, dict):
        found.update(step.detail)
        if "value" in step.detail:
            found["values"] = {found["thing"]: step.detail["value"]}
    return found
