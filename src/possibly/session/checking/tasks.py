"""Checking a property of the task logic: from the bound formula to a verdict with its reasons.

Here belongs what differs from `check`: the order is always `sync`, truth has three values, and a witness
names the tasks. The explanation is made of the same parts as any other, so that every view can show it: the
sub-formulas that have a value at the failing slice are its atoms; stacks and value sets stand in its state.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from time import perf_counter
from typing import Any

from possibly.detection.finding import Path
from possibly.detection.limits import Budget
from possibly.detection.missing import Pair, missing_order
from possibly.detection.tasks.check import TaskAnswer, check_tasks
from possibly.logic.specification import Property
from possibly.logic.syntax import And, Done, Node
from possibly.logic.tasks.formulas import task_text
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.trace.model import Trace
from possibly.verdict.explain import settled_steps, step_of, steps_along
from possibly.verdict.model import Atom, Explanation, MissingOrder, Truth, Verdict, Witness
from possibly.verdict.tasks import TaskFailure

EFFORT_FOR_WHY = 20_000
"""Slices that may be visited to find out whether one missing order is the whole reason."""
LONG = 20_000
"""Events of a trace on which no missing order is tried out."""

LONGEST_SUBNET, LONGEST_VALUE = 40, 20
"""Events and letters of a value that a note about the subnet shows."""

TRUTHS = {True: Truth.HOLDS, False: Truth.VIOLATED, None: Truth.UNKNOWN}


class TaskChecker:
    """Answers task formulas on one trace; the net is built once."""

    def __init__(self, trace: Trace, engine: str, explain: bool) -> None:
        self.trace = trace
        self.engine = engine
        self.explain = explain

    @cached_property
    def net(self) -> Net:
        return Net(self.trace)

    @cached_property
    def lattice(self) -> Lattice:
        return Lattice(self.net.computation)

    def verdict(self, found: Property, formula: Node, budget: Budget) -> Verdict:
        started = perf_counter()
        answer = check_tasks(self.net, self.lattice, formula, budget, self.engine)
        return Verdict(
            name=found.name,
            language=found.language,
            formula=found.text,
            truth=TRUTHS[answer.value],
            predicate_class="local",
            engine=answer.engine,
            cuts=answer.visited,
            observed=answer.observed,
            faults=answer.faults,
            witness=self._witness(answer),
            explanation=self._explanation(formula, answer),
            reason=answer.reason,
            notes=(*answer.notes, *subnet_notes(answer.failure, len(self.trace))),
            seconds=perf_counter() - started,
        )

    def _witness(self, answer: TaskAnswer) -> Witness | None:
        if answer.path is None or answer.failure is None:
            return None
        computation = self.net.computation
        cut = self.lattice.unpack(sum(move.delta for move in answer.path))
        return Witness(
            cut=dict(zip(computation.processes, cut, strict=True)),
            path=tuple(self.trace.name(e) for move in answer.path for e in computation.events(move.step)),
            tasks=answer.failure.tasks,
            failure=answer.failure,
        )

    def _explanation(self, formula: Node, answer: TaskAnswer) -> Explanation | None:
        if not self.explain or answer.path is None or answer.failure is None:
            return None
        steps, state = steps_along(self.net.computation, [move.step for move in answer.path])
        missing = (
            self._missing(formula, answer.failure, answer.path) if answer.observed is not False else None
        )
        return Explanation(
            summary=summary_of(formula, answer.failure),
            steps=steps,
            state={**state, **_local_facts(answer.failure)},
            atoms=_atoms(answer.failure),
            missing=missing,
            settled=settled_steps(self.net.computation, [move.step for move in answer.path]),
        )

    def _missing(self, formula: Node, failure: TaskFailure, path: Path) -> MissingOrder | None:
        computation = self.net.computation
        tasks = tuple(Done(task) for task in dict.fromkeys(failure.tasks.values()))
        pair = missing_order(computation, path, And(tasks), False, lambda pair: self._closes(formula, pair))
        if pair is None:
            return None
        first, second = step_of(computation, pair.first), step_of(computation, pair.second)
        return MissingOrder(first, second, pair.suffices)

    def _closes(self, formula: Node, pair: Pair) -> bool | None:
        """Whether the formula is satisfied once the pair is ordered; not tried on long traces."""
        if len(self.trace) > LONG:
            return None
        computation = Computation(self.trace, "sync", [(pair.first, pair.second)])
        budget = Budget(max_cuts=EFFORT_FOR_WHY)
        return check_tasks(Net(self.trace, computation), Lattice(computation), formula, budget).value


def subnet_notes(failure: TaskFailure | None, events: int) -> Iterator[str]:
    """The subnet that matters: the failing local states, and the events that lead to them."""
    if failure is None:
        return
    yield f"the subnet that matters: {len(failure.subnet)} of {events} events lead to these local states"
    for state in failure.states:
        values = [f"{name} = {{{', '.join(map(_text, each))}}}" for name, each in state.values.items()]
        yield f"  task {state.task}, {state.count} events: {' '.join([state.stack, *values])}"
    if failure.subnet:
        left = len(failure.subnet) - LONGEST_SUBNET
        more = f" ... and {left} before" if left > 0 else ""
        yield f"  {', '.join(failure.subnet[-LONGEST_SUBNET:])}{more}"


def _text(value: Any) -> str:
    found = json.dumps(value)
    return found if len(found) <= LONGEST_VALUE else f"{found[:LONGEST_VALUE]}…"


def summary_of(formula: Node, failure: TaskFailure) -> str:
    """What the way shows, and how often it happens."""
    tasks = ", ".join(f"{variable} = {task}" for variable, task in failure.tasks.items())
    text = f"it ends where {task_text(formula)} is unsatisfied"
    if tasks:
        text += f" for {tasks}"
    if failure.slices is not None and failure.all_slices is not None:
        text += f"; so it is in {failure.slices} of {failure.all_slices} slices"
    return text


def _atoms(failure: TaskFailure) -> tuple[Atom, ...]:
    """The sub-formulas that have a truth value, without the whole."""
    return tuple(
        Atom(part.text, part.value == "satisfied", {name: _shown(v) for name, v in part.reads.items()})
        for part in failure.parts[1:]
        if part.value != "undefined"
    )


def _local_facts(failure: TaskFailure) -> Mapping[str, Any]:
    """The stack of each assigned task, and the variables that can have several values there."""
    found: dict[str, Any] = {}
    for state in failure.states:
        found[f"stack of {state.task}"] = state.stack
        several = {name: values for name, values in state.values.items() if len(values) > 1}
        found.update({f"{name} in {state.task}": list(values) for name, values in several.items()})
    return found


def _shown(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 else list(values)
