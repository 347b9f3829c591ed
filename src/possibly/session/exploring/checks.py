"""What is asked of an execution beside that it does not fail: properties of its partial order, data races."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from possibly.control.execution import Execution
from possibly.control.forking.zygote import ControlledProgram
from possibly.logic.languages import ORDERED
from possibly.logic.printer import unparse
from possibly.records import replace
from possibly.session.checking import check

if TYPE_CHECKING:
    from possibly.logic.specification import Specification
    from possibly.logic.syntax import Node
    from possibly.trace.model import Trace
    from possibly.verdict.model import Verdict
    from possibly.verdict.paths import PathResult

Check = Callable[[Execution], dict[str, Any] | None]
"""Looks at an execution as a partial order: what is wrong with it, or None."""


"""Languages in which one order of the steps alone can violate a property; a path expression speaks of what
nothing orders, so any order of the steps shows its violation."""


class PropertyCheck:
    """Looks whether the properties hold in every order of an execution's steps that it stands for."""

    def __init__(
        self, program: ControlledProgram, specification: Specification, options: check.Options
    ) -> None:
        self._program, self._specification = program, specification
        # All orders of racing accesses are executed.
        self._options = replace(options, tells_races=False)
        self._never: dict[str, set[Node]] = {}
        self._immaterial: dict[str, set[Node]] = {}
        """Of each property the left sides that were true in no order of any execution."""

    def __call__(self, execution: Execution) -> dict[str, Any] | None:
        from possibly.session.exploring.traces import detailed_trace_of

        trace, steps = detailed_trace_of(execution, self._program.initial)
        checker, specification = check.Checker(trace, self._options), self._specification
        bound = [(found, checker.bound(found, specification)) for found in specification.properties]
        undecided = None
        for found, formula in bound:
            verdict = checker.verdict(found, formula)
            if verdict.holds is False:
                text = specification_text(specification, verdict.name)
                return {**_violated(verdict, trace, steps), "specification": text}
            if verdict.holds is None:
                undecided = _undecided(verdict)
            lefts = checker.never_true(formula, verdict)
            self._never[found.name] = self._never.get(found.name, set(lefts)) & set(lefts)
            parts = set(checker.immaterial(formula, verdict, lefts))
            self._immaterial[found.name] = self._immaterial.get(found.name, parts) & parts
        return undecided

    @property
    def warnings(self) -> tuple[str, ...]:
        """Properties that hold because what they speak of never happens."""
        from possibly.session.checking.effect.vacuity import told, told_immaterial

        lefts, parts = self._never.items(), self._immaterial.items()
        where = "any execution"
        return (
            *(told(name, sorted(each, key=unparse), f"order of {where}") for name, each in lefts if each),
            *(told_immaterial(name, sorted(each, key=unparse), where) for name, each in parts if each),
        )


def property_check(
    program: ControlledProgram, specification: Specification, options: check.Options
) -> PropertyCheck:
    return PropertyCheck(program, specification, options)


def _undecided(verdict: Verdict) -> dict[str, Any]:
    """Which property, and why."""
    what, _, remedy = (verdict.reason or "").partition("; ")
    told = f"property {verdict.name}, which is undecided on an execution" + (f": {what}" if what else "")
    return {"undecided": told, "remedy": remedy}


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
        **(_marked(verdict.path, trace, steps) if verdict.path is not None else {}),
    }


def _marked(found: PathResult, trace: Trace, steps: list[int]) -> dict[str, Any]:
    """The steps that violate a path expression: of an occurrence, or the first that does not fit."""
    names = found.matches[0] if found.matches else () if found.event is None else (found.event,)
    events = [trace.find(name) for name in names]
    marked = sorted({steps[event] + 1 for event in events if event is not None})
    return {"marked": marked, "step": marked[-1] if marked else (steps[-1] + 1 if steps else 0)}


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
) -> dict[str, Any] | None:
    """How the steps, in the order in which they were done, violate a property; None: not this order alone.

    `step`: after so many of them; `atoms`: what the property reads there.

    The execution stands for all orders of its independent steps, and a property is checked in all of them;
    a schedule that is handed over shows the violation by itself.
    """
    from itertools import pairwise

    from possibly.session.exploring.traces import detailed_trace_of
    from possibly.trace.edit import with_order

    trace, steps = detailed_trace_of(execution, program.initial)
    line = with_order(trace, pairwise(range(len(trace))))
    for verdict in check.check_trace(line, specification, options).verdicts:
        is_shown = verdict.language in ORDERED and verdict.holds is False
        if is_shown and verdict.witness is not None:
            moment = None if verdict.explanation is None else verdict.explanation.moment
            path = verdict.witness.path[:moment]
            step = steps[line.find(path[-1]) or 0] + 1 if path else 0
            return {"step": step, "atoms": _atoms(verdict)}
    return None


def _atoms(verdict: Verdict) -> list[dict[str, Any]]:
    found = () if verdict.explanation is None else verdict.explanation.atoms
    return [{"text": each.text, "value": each.value, "operands": dict(each.operands)} for each in found]


def shown_by(execution: Execution, program: ControlledProgram, details: dict[str, Any]) -> dict[str, Any]:
    """The violation with the step at which the execution itself shows it, if it does."""
    from possibly.logic.specification import read_specification

    if "step" in details:
        return details
    specification = read_specification(details["specification"])
    shown = violated_at(execution, program, specification, check.Options())
    return details if shown is None else {**details, **shown}


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
