"""The steps of an execution that change what its property reads: a report shows all of them.

Law: a step is asked for if some fact that the property reads (a variable, a call, a label, a message in
transit, the end of a task) is another one after it, if it writes such a variable or begins or ends such a
call, or if it plays a symbol of a path expression. So whoever
reads these steps alone can follow the property's truth from the first state to the failing one. Languages are
imported where a property is in them: most failures have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from possibly.control.execution import Execution
from possibly.logic.languages import PATHS
from possibly.logic.predicates.functions import leaves
from possibly.logic.specification import Property, Specification, read_specification
from possibly.logic.syntax import Leaf, Local, Node, Shared, Stack
from possibly.logic.walk import nodes
from possibly.order.computation import Computation
from possibly.session.checking.check import Checker, Options
from possibly.session.exploring.traces import detailed_trace_of
from possibly.trace.edit import with_order
from possibly.trace.model import Trace


def asked_steps(execution: Execution, initial: dict[str, Any], details: dict[str, Any]) -> frozenset[int]:
    """The numbers, from 0, of the steps that change what the property of a failure reads."""
    if not details.get("specification"):
        return frozenset()
    specification = read_specification(details["specification"])
    trace, steps = detailed_trace_of(execution, initial)
    line = with_order(trace, pairwise(range(len(trace))))
    events = [event for each in specification.properties for event in _events(each, line, specification)]
    return frozenset(steps[event] for event in events)


def _events(found: Property, line: Trace, specification: Specification) -> Iterable[int]:
    if found.language in PATHS:
        return _playing(found, line, specification)
    checker = Checker(line, Options())
    formula = checker.bound(found, specification).formula
    if found.language == "tl":
        return _of_tasks(formula, line)
    read = leaves(formula)
    return {*_changing(read, checker), *_named(read, line)}


def _changing(read: Sequence[Leaf], checker: Checker) -> Iterator[int]:
    """The events after which something that is read is another one."""
    trace = checker.computation.trace
    readings = [checker.readings(leaf) for leaf in read]
    counts = [0] * len(trace.processes)
    known = [reading.value(counts) for reading in readings]
    for event in range(len(trace)):
        counts[trace.process[event]] += 1
        now = [reading.value(counts) for reading in readings]
        if now != known:
            yield event
        known = now


def _named(read: Sequence[Leaf], line: Trace) -> Iterator[int]:
    """Where calls that are read begin and end, and where what is read is written, perhaps as it was."""
    calls = {(leaf.process, leaf.function) for leaf in read if isinstance(leaf, Stack)}
    variables = {("", leaf.variable) for leaf in read if isinstance(leaf, Shared)}
    variables |= {(leaf.process, leaf.variable) for leaf in read if isinstance(leaf, Local)}
    for event in range(len(line)):
        process = line.processes[line.process[event]].name
        names = {(process, name) for name, _ in line.sets(event)}
        names |= {("", name) for name, _ in line.writes(event)}
        if (process, line.text(line.function, event)) in calls or not variables.isdisjoint(names):
            yield event


def _of_tasks(formula: Node, line: Trace) -> Iterator[int]:
    """The calls and the variables that a formula of the task logic names."""
    from possibly.logic.tasks.formulas import Point, Says, subformulas

    inside = [node for part in subformulas(formula) if isinstance(part, Says) for node in nodes(part.formula)]
    functions = {node.function for node in inside if isinstance(node, Point)}
    names = {node.variable for node in inside if isinstance(node, Local | Shared)}
    for event in range(len(line)):
        changed = [name for name, _ in (*line.sets(event), *line.writes(event))]
        changed += [name.rpartition(".")[2] for name in changed]  # a local of a function
        if line.text(line.function, event) in functions or not names.isdisjoint(changed):
            yield event


def _playing(found: Property, line: Trace, specification: Specification) -> Iterator[int]:
    """The events that play a symbol of a path expression."""
    from possibly.detection.paths.meaning import Meaning
    from possibly.logic.paths.compiled import compiled
    from possibly.logic.paths.parser import parse_path

    definitions = {each.name: each for each in specification.definitions}
    meaning = Meaning(compiled(parse_path(found.source, definitions)), Computation(line, "causal"))
    return (step for step, symbols in meaning.played() if symbols)
