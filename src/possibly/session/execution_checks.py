"""What is asked of an execution beside that it does not fail: properties of its partial order, data races."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from possibly.control.execution import Execution
from possibly.control.runtime.zygote import ControlledProgram
from possibly.session import check

if TYPE_CHECKING:
    from possibly.logic.specification import Specification
    from possibly.trace.model import Trace
    from possibly.verdict.model import Verdict

Check = Callable[[Execution], dict[str, Any] | None]
"""Looks at an execution as a partial order: what is wrong with it, or None."""


STATE_LANGUAGES = ("ctl", "ltl")
"""Those in which one order of the steps alone can violate a property."""


def property_check(program: ControlledProgram, specification: Specification, options: check.Options) -> Check:
    """Looks whether the properties hold in every order of an execution's steps that it stands for."""
    from possibly.session.execution_trace import detailed_trace_of

    def look(execution: Execution) -> dict[str, Any] | None:
        trace, steps = detailed_trace_of(execution, program.initial)
        report = check.check_trace(trace, specification, options)
        undecided = None
        for verdict in report.verdicts:
            if verdict.holds is False:
                text = specification_text(specification, verdict.name)
                return {**_violated(verdict, trace, steps), "specification": text}
            if verdict.holds is None:
                undecided = {"undecided": f"property {verdict.name}, which is undecided on an execution"}
        return undecided

    return look


def _violated(verdict: Verdict, trace: Trace, steps: list[int]) -> dict[str, Any]:
    witness = verdict.witness
    events = [trace.find(name) for name in witness.path] if witness is not None else []
    return {
        "kind": "property",
        "property": verdict.name,
        "language": verdict.language,
        "formula": verdict.formula,
        "message": f"{verdict.name}: {verdict.formula}",
        "witness": list(witness.path) if witness is not None else None,
        "order": list(dict.fromkeys(steps[event] for event in events if event is not None)),
    }


def specification_text(specification: Specification, name: str) -> str:
    """A specification file with one of the properties and all that it may refer to."""
    lines = [f"let {let.declared or ''} {let.name} = {let.text}" for let in specification.lets]
    lines += [f"event {each.name} = {each.source.text}" for each in specification.definitions]
    lines += [f"sync {each.text}" for each in specification.syncs]
    found = next(each for each in specification.properties if each.name == name)
    lines.append(f"{found.language} {found.name} = {found.text}")
    return "\n".join(" ".join(line.split()) for line in lines)


def violated_at(
    execution: Execution, program: ControlledProgram, specification: Specification, options: check.Options
) -> int | None:
    """So many steps, in the order in which they were done, violate a property; None: not this order alone.

    The execution stands for all orders of its independent steps, and a property is checked in all of them;
    a schedule that is handed over shows the violation by itself.
    """
    from itertools import pairwise

    from possibly.session.execution_trace import detailed_trace_of
    from possibly.trace.edit import with_order

    trace, steps = detailed_trace_of(execution, program.initial)
    line = with_order(trace, pairwise(range(len(trace))))
    for verdict in check.check_trace(line, specification, options).verdicts:
        is_shown = verdict.language in STATE_LANGUAGES and verdict.holds is False
        if is_shown and verdict.witness is not None:
            moment = None if verdict.explanation is None else verdict.explanation.moment
            path = verdict.witness.path[:moment]
            return steps[line.find(path[-1]) or 0] + 1 if path else 0
    return None


def shown_by(execution: Execution, program: ControlledProgram, details: dict[str, Any]) -> dict[str, Any]:
    """The violation with the step at which the execution itself shows it, if it does."""
    from possibly.logic.specification import read_specification

    specification = read_specification(details["specification"])
    step = violated_at(execution, program, specification, check.Options())
    return details if step is None else {**details, "step": step}


def race_check(execution: Execution) -> dict[str, Any] | None:
    """Conflicting accesses that nothing orders are wrong, whatever comes of them."""
    from possibly.control.races import data_races

    races = data_races(execution)
    if not races:
        return None
    return {"kind": "data race", "message": _race_message(races[0]), "races": races}


def _race_message(race: dict[str, Any]) -> str:
    told = [f"{each['name']} {each['kind']}s it at {each['at']}" for each in (race["first"], race["second"])]
    return f"{race['thing']}: {told[0]}, {told[1]}, in no order"
