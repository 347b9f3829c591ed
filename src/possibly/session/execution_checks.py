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


def property_check(program: ControlledProgram, specification: Specification, options: check.Options) -> Check:
    """Looks whether the properties hold in every order of an execution's steps that it stands for."""
    from possibly.session.execution_trace import detailed_trace_of

    def look(execution: Execution) -> dict[str, Any] | None:
        trace, steps = detailed_trace_of(execution, program.initial)
        report = check.check_trace(trace, specification, options)
        undecided = None
        for verdict in report.verdicts:
            if verdict.holds is False:
                return _violated(verdict, trace, steps)
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
