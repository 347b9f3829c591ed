"""Confirming a prediction: the live program is driven along the path that a check predicted.

The witness of a violated property is a list of events of a recorded trace. Their processes, places and kinds
guide the search (`control.schedulers.guided`); on each execution's partial order the property is checked
again. It is confirmed by an execution that violates it. If the search comes to its end without one, no
schedule of the program violates the property: the prediction is infeasible, and the event is told that no
execution reached.
"""

from __future__ import annotations

from dataclasses import dataclass

from possibly.control.forking.zygote import ControlledProgram
from possibly.control.schedulers.guided import Guided, Wanted
from possibly.logic.specification import Specification
from possibly.records import replace
from possibly.session.checking.check import Options as Checking
from possibly.session.checking.check import check_trace
from possibly.session.exploring.checks import property_check
from possibly.session.exploring.exploration import Exploration, Options, Progress
from possibly.session.exploring.explore import explore
from possibly.trace.model import Trace
from possibly.verdict.model import Report, Verdict

FOLLOWED = frozenset("read write acquire release send receive spawn join".split())
"""Kinds of events that are operations of the live program too."""
KINDS = {"send": "put", "receive": "get", "spawn": "start"}


@dataclass(frozen=True, slots=True)
class Prediction:
    verdict: Verdict
    path: tuple[Wanted, ...]


@dataclass(frozen=True, slots=True)
class Confirmation:
    prediction: Prediction
    found: Exploration
    reached: int
    """How many events of the path the best execution did, in order."""

    @property
    def missing(self) -> Wanted | None:
        path = self.prediction.path
        return path[self.reached] if self.reached < len(path) else None


def predicted(trace: Trace, specification: Specification, checking: Checking) -> Prediction:
    """What the check says, and the path of its witness."""
    verdict = _report(trace, specification, checking).verdicts[0]
    if verdict.holds is not False or verdict.witness is None:
        return Prediction(verdict, ())
    return Prediction(verdict, tuple(path_of(trace, verdict.witness.path)))


def _report(trace: Trace, specification: Specification, checking: Checking) -> Report:
    if checking.order != "predictive":
        return check_trace(trace, specification, checking)
    from possibly.session.checking.predictive import check_predictive

    return check_predictive(trace, specification, checking)


def path_of(trace: Trace, names: tuple[str, ...]) -> list[Wanted]:
    """What the live program is driven along: the events of a witness that are steps of it."""
    found: list[Wanted] = []
    threads = False
    for name in names:
        event = trace.find(name)
        if event is None:
            continue
        kind, place = trace.strings[trace.kind[event]], trace.text(trace.place, event)
        threads = threads or kind == "spawn"
        if not threads:
            continue  # what happens before there are other tasks is no step of the live program
        if kind in FOLLOWED and place:
            process = trace.processes[trace.process[event]].name
            found.append(Wanted(process, place, KINDS.get(kind, kind)))
    return found


def confirm(
    prediction: Prediction,
    program: ControlledProgram,
    specification: Specification,
    options: Options,
    checking: Checking,
    progress: Progress | None = None,
) -> Confirmation:
    """Looks for an execution that violates the property, first along the path if it has one."""
    made: list[Guided] = []

    def make() -> Guided:
        made.append(Guided(prediction.path))
        return made[-1]

    # Each execution is a run of its own: its accesses are in the order in which they happened.
    order = "causal" if checking.order == "predictive" else checking.order
    look = property_check(program, specification, replace(checking, order=order))
    found = explore(program, options, look, progress, make)
    return Confirmation(prediction, found, max(each.reached for each in made))
