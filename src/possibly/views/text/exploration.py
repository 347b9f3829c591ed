"""What an exploration found, as text and as JSON: the verdict, the failing schedule in source lines.

A schedule is told by turns: what one task does before another goes on, each visible operation with its
source line, the text of that line, and the value that was read or written.
"""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

from possibly.control.coverage import Coverage, coverage_of
from possibly.control.execution import Execution, Step
from possibly.trace.place import place_in

if TYPE_CHECKING:
    from possibly.session.explore import Exploration, Failure

HIDDEN = frozenset({"end", "exit", "leave_loop"})
OF_LOOP = frozenset({"BaseEventLoop.shutdown_asyncgens", "BaseEventLoop.shutdown_default_executor"})
"""What a runner does when the program is over."""
LONGEST = 60
"""Operations of a schedule that are shown unless everything is asked for."""
PHRASES = {
    "acquire": "takes {}",
    "release": "gives {} back",
    "read": "reads {}",
    "write": "writes {}",
    "start": "starts {}",
    "join": "has seen the end of {}",
    "wait": "waits on {}, letting its lock go",
    "wake": "goes on after {}",
    "notify": "notifies {}",
    "take": "takes a unit of {}",
    "give": "gives a unit of {} back",
    "set": "sets {}",
    "clear": "clears {}",
    "await": "looks at {}",
    "is_set": "looks at {}",
    "put": "puts into {}",
    "get": "gets from {}",
    "timeout": "has waited long enough for {}",
    "sleep": "sleeps",
    "assign": "sets {}",
    "enter": "enters {}",
    "leave": "leaves {}",
    "spin": "looks again at {}",
    "resume": "goes on",
    "timer": "comes to the end of its time",
    "arrive": "brings",
    "begin": "begins {}",
    "woken": "is woken by {}",
    "cancelled": "is cancelled by {}",
    "continue": "has its turn again",
    "awaits": "awaits {}",
    "ends": "ends {}",
}


def report(found: Exploration, program: str, replay: str | None, full: bool = False) -> list[str]:
    """The lines of the report."""
    lines = []
    if found.failure is not None:
        lines += failure_lines(found.failure, full)
        if replay is not None:
            lines += ["", f"again: {replay}"]
        lines.append("")
    lines.append(_summary(found, program))
    if found.holds is None:
        lines += _coverage_lines(found)
    for what, reason in found.open.items():
        where = f" ({reason.where})" if reason.where and reason.where not in what else ""
        lines.append(f"  left open by {what}{where}")
    lines += [f"  assuming that {each}" for each in found.assumed]
    return lines


def _coverage_lines(found: Exploration) -> list[str]:
    """What an unfinished search has covered, as far as it can tell."""
    coverage = coverage_of(found.explorer)
    if coverage is None or not coverage.executions:
        return []
    classes = "class" if coverage.classes == 1 else "classes"
    text = f"  {coverage.classes:,} {classes} of schedules"
    if coverage.new is not None:
        text += f", the next execution is a new one with a probability of about {coverage.new:.0%}"
        text += f", at least some {coverage.species:,} in all"
    if coverage.pruned:
        text += f", {coverage.pruned:,} choices pruned"
    if coverage.left:
        text += f", {coverage.left:,} branches known to be left"
        text += f", perhaps {coverage.estimate:,} executions in all"
    return [text, *_level_lines(coverage)]


def _level_lines(coverage: Coverage) -> list[str]:
    """What a bounded search has shown, though it leaves much out."""
    if not coverage.levels:
        return []
    level, known = coverage.levels[-1]
    most = (
        "without preemptions" if not level else f"with at most {level} preemption{'s' if level > 1 else ''}"
    )
    return [f"  no failure {most}: all such schedules were executed, {known:,} classes"]


def _summary(found: Exploration, program: str) -> str:
    covered = f"{found.executions:,} execution{'s' if found.executions != 1 else ''}"
    if found.failure is not None:
        return (
            f"{program}: violated ({found.failure.kind}), in execution {found.failure.number:,} of {covered}"
        )
    if found.complete:
        return f"{program}: holds, every schedule is covered by {covered}"
    return f"{program}: unknown, nothing found in {covered}"


def failure_lines(failure: Failure, full: bool = False) -> list[str]:
    execution, details = failure.execution, failure.details
    place = details.get("place", "")
    who = execution.names.get(str(details.get("task", "")), "")
    head = f"{failure.kind}: {failure.message}"
    where = " in ".join(part for part in (f" at {place}" if place and place not in head else "", who) if part)
    lines = [head + (where if place and place not in head else "")]
    lines += [f"  {waiting_line(row, execution)}" for row in details.get("waiting", ())]
    failing = failing_step(failure)
    marked = "" if failing is None else ", which violates it at the step marked >"
    lines += ["", f"the schedule{marked}:"]
    lines += schedule_lines(execution, full, failing)
    if details.get("traceback"):
        lines += ["", *str(details["traceback"]).rstrip().splitlines()]
    return lines


def failing_step(failure: Failure) -> int | None:
    """The number, from 1, of the step at which the execution violates its property."""
    step = failure.details.get("step") if "specification" in failure.details else None
    return step if isinstance(step, int) else None


def waiting_line(row: dict[str, Any], execution: Execution) -> str:
    """Who waits for what, and what it holds."""
    target = "" if row["does"] == "exit" else f" {row['thing']}"
    verb = {
        "acquire": "waits for",
        "join": "waits for the end of",
        "exit": "waits for all threads to end",
    }.get(row["does"], f"stands in {row['does']} of")
    if row["spins"]:
        verb = "goes round and round reading"
    text = f"{row['name']} {verb}{target}"
    if row["for"] and row["does"] == "acquire":
        text += f", held by {' and '.join(execution.names.get(each, each) for each in row['for'])}"
    if row["at"]:
        text += f"  ({row['at']})"
    if row["missed"]:
        text += f", {row['missed']}"
    holds = [f"{each['thing']} ({each['at']})" if each["at"] else str(each["thing"]) for each in row["holds"]]
    return text + (f"; it holds {' and '.join(holds)}" if holds else "")


def schedule_lines(execution: Execution, full: bool = False, failing: int | None = None) -> list[str]:
    """The steps, a heading for each turn; the failing one is marked."""
    steps = _shown_steps(execution, full)
    end = len(steps) if failing is None else sum(number <= failing for number, _ in steps) + LONGEST // 4
    first, last = max(0, min(end, len(steps)) - LONGEST), min(end, len(steps))
    if full or len(steps) <= LONGEST:
        first, last = 0, len(steps)
    lines = [f"  ... {first:,} operations before"] if first else []
    before = ""
    for number, step in steps[first:last]:
        if step.task != before:
            before = step.task
            lines.append(f"  {execution.names.get(step.task, step.task)}")
        mark = ">" if number == failing else " "
        lines += [f"  {mark} {line}" for line in step_lines(step, execution)]
    return lines + ([f"  ... {len(steps) - last:,} operations after"] if last < len(steps) else [])


def _shown_steps(execution: Execution, full: bool) -> list[tuple[int, Step]]:
    """The steps with their numbers, from 1, without what keeps house."""
    keeping_house = {step.task for step in execution.steps if _begins(step) in OF_LOOP}
    hidden = HIDDEN if not full else HIDDEN - {"leave_loop"}
    steps = [each for each in enumerate(execution.steps, 1) if each[1].operation.kind not in hidden]
    return [each for each in steps if full or each[1].task not in keeping_house]


def _begins(step: Step) -> str:
    """The coroutine that begins in this step, if one does."""
    turn = step.detail.get("turn") if isinstance(step.detail, dict) else None
    return str(turn[0]["thing"]) if turn and turn[0]["kind"] == "begin" else ""


def step_lines(step: Step, execution: Execution) -> list[str]:
    """One line; for a turn of an event loop's task, a line for each thing that happened in it."""
    turn = step.detail.get("turn") if isinstance(step.detail, dict) else None
    return [moment_line(moment, execution) for moment in turn] if turn else [step_line(step, execution)]


def step_line(step: Step, execution: Execution) -> str:
    operation = step.operation
    name = thing_name(operation.thing, execution)
    text = PHRASES.get(operation.kind, f"{operation.kind} {{}}").format(name)
    return _with_value_and_place(text, step.detail, operation.at)


def moment_line(moment: dict[str, Any], execution: Execution) -> str:
    name = thing_name(moment["thing"], execution)
    if moment["kind"] == "use":
        text = f"{moment['method']} of {name}"
    else:
        text = PHRASES.get(moment["kind"], f"{moment['kind']} {{}}").format(name).rstrip()
    return _with_value_and_place(text, moment, moment["at"])


def _with_value_and_place(text: str, detail: Any, at: str) -> str:
    if isinstance(detail, dict) and "value" in detail:
        text += f": {detail['value']!r}"
    source = source_of(at) if at else ""
    return f"{text:<36} {at}" + (f"  {source}" if source else "") if at else text


def thing_name(thing: str, execution: Execution) -> str:
    """What users call a thing."""
    return execution.names.get(thing) or execution.things.get(thing, thing)


def source_of(at: str) -> str:
    file, line = place_in(at)
    return linecache.getline(file, line).strip() if line else ""


# ---- JSON ---------------------------------------------------------------------------------------


def document(found: Exploration, program: str, replay: str | None) -> dict[str, Any]:
    """One JSON document."""
    failure = found.failure
    return {
        "program": program,
        "verdict": {True: "holds", False: "violated", None: "unknown"}[found.holds],
        "complete": found.complete,
        "executions": found.executions,
        "operations": found.steps,
        "restarts": found.restarts,
        "seconds": round(found.seconds, 3),
        "open": [
            {"what": what, "where": reason.where, "remedy": reason.remedy}
            for what, reason in found.open.items()
        ],
        "assumed": list(found.assumed),
        "visible": list(found.visible),
        "coverage": _coverage_document(found),
        "failure": None if failure is None else failure_document(failure, replay),
        **({} if failure is None else _shown_failure(failure)),
    }


def _shown_failure(failure: Failure) -> dict[str, Any]:
    """What whoever asks for the verdict alone wants to know of a failure."""
    execution = failure.execution
    rows = [_row(step, execution) for step in execution.steps]
    return {
        "kind": failure.kind,
        "message": failure.message,
        "schedule": list(failure.schedule),
        "steps": rows,
        "decides": [
            {"first": {"step": first, **rows[first]}, "then": {"step": then, **rows[then]}}
            for first, then in failure.decides
        ],
    }


def _coverage_document(found: Exploration) -> dict[str, Any] | None:
    coverage = coverage_of(found.explorer)
    if coverage is None:
        return None
    return {
        "classes": coverage.classes,
        "pruned": coverage.pruned,
        "left": coverage.left,
        "explored": round(coverage.explored, 4),
        "estimate": coverage.estimate,
        "new": None if coverage.new is None else round(coverage.new, 4),
        "species": coverage.species,
        "levels": [{"preemptions": level, "classes": known} for level, known in coverage.levels],
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
        "what": PHRASES.get(operation.kind, f"{operation.kind} {{}}").format(
            thing_name(operation.thing, execution)
        ),
        "values": {},
    }
    if isinstance(step.detail, dict):
        found.update(step.detail)
        if "value" in step.detail:
            found["values"] = {found["thing"]: step.detail["value"]}
    return found
