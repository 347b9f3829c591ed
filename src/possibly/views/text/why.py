"""Why an execution fails, in words: the pair that decides, what should be atomic, the point of no return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possibly.control.execution import CALLED_FROM, Execution, Step
from possibly.control.naming import is_of_a_type
from possibly.control.why import Moment
from possibly.trace.place import is_of_library, line_text, place_in
from possibly.views.text.phrases import Phrase, phrase_of, phrase_of_method
from possibly.views.text.steps import is_made_inside, is_only_a_reference, looked_for, thing_name, value_of
from possibly.views.text.words import count_text

if TYPE_CHECKING:
    from possibly.control.why import Atomic, NoReturn, Pair
    from possibly.session.why.failure import Failure

FREER = "the event loop itself never goes the other way: for this, sleeps were let end before others began"
BEYOND = "no order of the event loop itself fails (--fifo): a sleep, which stands for work, took longer"
LATEST = 2
"""So many pairs are told."""


def why_lines(failure: Failure) -> list[str]:
    """What decides the failure and what would cure it; nothing where that is not known."""
    cause = failure.cause
    if cause is None:
        return []
    execution = failure.execution
    is_marked = cause.no_return is not None and cause.no_return.step == failure.details.get("step")
    lines = list(dict.fromkeys(f"  {pair_text(pair, execution)}" for pair in cause.pairs))[:LATEST]
    if lines:
        tried = f"{count_text(cause.tried, 'execution')} tried"
        lines[0] = f"{lines[0]}: the other way round it does not fail ({tried})"
    if cause.atomic is not None:
        lines.append(f"  {atomic_text(cause.atomic, execution)}")
    remedy = failure.remedy
    if cause.in_turn is not None and lines and remedy is not None and remedy.pattern == "not atomic":
        lines.append(f"  {in_turn_text(cause.in_turn, execution)}")
    if cause.is_freer and lines:
        lines.append(f"  {FREER}")
    if cause.is_beyond:
        lines.append(f"  {BEYOND}")
    if cause.no_return is not None and not (is_marked and "specification" in failure.details):
        lines.append(f"  {no_return_text(cause.no_return, execution)}")
    cure = [] if remedy is None else [f"cure ({remedy.pattern}): {remedy.words}"]
    return ([*(["what decides:", *lines] if lines else []), *cure]) or []


def pair_text(pair: Pair, execution: Execution) -> str:
    """`Ada read seats: 1 (line 12) before Bob wrote it (line 13)`."""
    first, then = (_done(each, pair.thing, execution) for each in (pair.first, pair.then))
    return f"{first} before {then}"


def atomic_text(atomic: Atomic, execution: Execution) -> str:
    from possibly.session.why.together import function_of, section_of

    name = execution.names.get(atomic.last.task, atomic.last.task)
    function = function_of(atomic.first, execution)
    files = execution.files()
    one, other = (line_text(at, files) for at in section_of(execution, atomic))
    lines = one if one == other else f"{one} to {other}"
    where = f"in {function}" if function else f"at {lines}"
    others = sorted({execution.names.get(execution.steps[n].task, "") for n in atomic.between} - {name})
    who = " and ".join(others)
    return f"{who} came in between while {name} was {where}: with nobody else there it does not fail"


def in_turn_text(tasks: tuple[str, str], execution: Execution) -> str:
    one, other = (execution.names.get(task, task) for task in tasks)
    return f"with {one} at its end before {other} begins it does not fail"


def no_return_text(found: NoReturn, execution: Execution) -> str:
    """From which step on nothing helps."""
    if found.step == 0 and not found.is_exact:
        return f"no schedule that passes was met: {_covered(found)}"
    if found.step == 0:
        return f"every schedule fails: {_covered(found)}"
    step = execution.steps[found.step - 1]
    moment = _done(Moment(found.step - 1, step.task, step.operation), _touched(step, execution), execution)
    if not found.is_exact:
        return f"no schedule that passes was met once {moment}: {_covered(found)}"
    return f"no return: once {moment}, every schedule fails"


def _touched(step: Step, execution: Execution) -> str | None:
    """The memory that a turn touches first; what it changes rather than what it looks at."""
    turn = step.detail.get("turn", ()) if isinstance(step.detail, dict) else ()
    moments = [each for each in turn if each["kind"] in ("read", "write", "use")]
    moments = [
        each
        for each in moments
        if not is_only_a_reference(each)
        and execution.has_name(each["thing"])
        and not is_of_a_type(each["thing"])
    ]
    moments.sort(key=lambda each: each["kind"] != "write")
    return str(moments[0]["thing"]) if moments else None


def _covered(found: NoReturn) -> str:
    count = count_text(found.executions, "execution")
    if not found.is_exact:
        return f"{count}, which is not all"
    if found.executions > 1:
        return f"all {count}"
    return "there is no other" if found.executions else "nothing comes before that could go another way"


def _done(moment: Moment, thing: str | None, execution: Execution) -> str:
    """What a task did at a moment, with the value: `Ada read flight.seats: 1 (line 12)`."""
    name = execution.names.get(moment.task, moment.task)
    moment = _left(moment, execution) if thing is None else moment
    if moment.number is None:
        return f"{name} could{_at(moment.operation.at, {}, execution)}"
    detail = execution.steps[moment.number].detail
    detail = detail if isinstance(detail, dict) else {}
    for each in sorted(detail.get("turn", ()), key=lambda each: each["kind"] != "write"):
        if thing is not None and each["thing"] == thing:
            phrase = phrase_of_method(each["method"]) if "method" in each else phrase_of(each["kind"])
            told = _told(phrase, thing, execution, each)
            return f"{name} {told}{_value(each)}{_at(each['at'], each, execution)}"
    if "turn" in detail and moment.operation.kind != "timer":
        other = _touched(execution.steps[moment.number], execution)
        if other is not None and other != thing:
            return _done(moment, other, execution)
        return f"{name} had its turn{_at(moment.operation.at, detail, execution)}"
    inside = detail.get("inside", ())
    if inside and is_made_inside(thing_name(moment.operation.thing, execution)):
        each = inside[0]
        told = _told(phrase_of(each["kind"]), each["thing"], execution, each)
        return f"{name} {told}{_value(each)}{_at(each['at'], each, execution)}"
    told = _told(
        phrase_of(moment.operation.kind, moment.operation.thing), moment.operation.thing, execution, detail
    )
    return f"{name} {told}{_value(detail)}{_at(moment.operation.at, detail, execution)}"


def _left(moment: Moment, execution: Execution) -> Moment:
    """A task is inside a function up to the step after its end: told is the end."""
    if moment.number is None or moment.operation.kind == "enter":
        return moment
    mine = (n for n in range(moment.number - 1, -1, -1) if execution.steps[n].task == moment.task)
    before = next(mine, None)
    if before is None or execution.steps[before].operation.kind != "leave":
        return moment
    return Moment(before, moment.task, execution.steps[before].operation)


def _told(phrase: Phrase, thing: str, execution: Execution, detail: dict[str, Any]) -> str:
    name = thing_name(thing, execution)
    return looked_for(name, detail, "found") or phrase.then.format(name).rstrip()


def _value(detail: dict[str, object]) -> str:
    return f": {value_of(detail['value'])}" if "value" in detail else ""


def _at(at: str, detail: dict[str, Any], execution: Execution) -> str:
    """Where it is; a library's line with the user's that called it."""
    called_from = detail.get(CALLED_FROM)
    if called_from and is_of_library(at):
        return f" ({line_text(called_from, execution.files())}, in {at})"
    return f" ({line_text(at, execution.files())})" if place_in(at).line else ""
