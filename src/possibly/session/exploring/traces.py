"""An execution as a trace: so that a property is checked on its partial order and one execution answers for
all that differ from it in the order of independent steps only.

Each step is an event of the process that its task is. Memory is shared variables, read and written with
their values; local variables and calls of functions are told where they are asked for; a put into a queue
and the get that takes the item are a message; every other dependence between steps (locks, conditions,
starting and joining) is an edge between the numbers of two events. A comment `#: label` at the end of a
source line labels the events of that line.

A turn of an event loop's task is one step with several moments (`detail["turn"]`). If it changes more than
one thing that is asked for (`detail["apart"]`), each change is an event; no other step may then come
between them, so whoever depends on any of them comes after the last. The runtime makes such turns of one
loop depend on each other, so that they are ordered in every execution and all their orders are explored.
Any other turn is one event, after which each variable has the value that the turn gave it last. A function
that a turn leaves is left for good when the turn is over: one more event, without a change, says so.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from possibly.control.execution import Execution, Step
from possibly.control.naming import Slot, Sort, parent_of, slot_of, sort_of
from possibly.logic.predicates.values import has_cut
from possibly.probes.watching.labels import labels_of
from possibly.records import replace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.place import place_in
from possibly.trace.recorded import CUT

TURNS = frozenset({"resume", "timer", "callback", "arrive", "fault"})
MEMORY = frozenset({"read", "write", "spin"}) | TURNS
"""Kinds of steps that touch memory as well as primitives."""
TOLD = TURNS | {"read", "acquire", "release", "try", "wake", "notify", "wait", "use", "take", "give"}
"""Kinds of steps of which a trace does not show what they found or used."""
KINDS = {
    "assign": "internal",
    "leave": "exit",
    "start": "spawn",
    "put": "send",
    "get": "receive",
    "spin": "read",
    "exit": "end",
}
GIVING = frozenset({"put", "send"})
"""Kinds of steps that may put something where another step takes it."""
CHANGES = frozenset({"write", "assign", "enter", "leave"})
"""Moments of a turn after which the state is another one."""

Fields = dict[str, Any]


class ExecutionTrace(NamedTuple):
    trace: Trace
    steps: list[int]
    """The step that each event belongs to."""


def trace_of(execution: Execution, initial: Fields | None = None, file: str | None = None) -> Trace:
    """The trace of an execution, an event a step; `initial` are values before the first event."""
    return _Converter(execution, initial or {}, file, False).run().trace


def shown_trace_of(
    execution: Execution, initial: Fields | None = None, told: Mapping[int, str] | None = None
) -> ExecutionTrace:
    """The trace of an execution, an event a step, and which step each event is.

    A turn, which is many things in one, and what reads a value or uses a lock are labelled by what is told.
    """
    return _Converter(execution, initial or {}, None, False, told or {}).run()


def detailed_trace_of(execution: Execution, initial: Fields | None = None) -> ExecutionTrace:
    """The same with every change that is asked for as an event of its own."""
    return _Converter(execution, initial or {}, None, True).run()


class StepEvents:
    """The steps of an execution as events, one by one, where nobody needs a whole trace."""

    def __init__(self, execution: Execution) -> None:
        self._converter = _Converter(execution, {}, None, False)

    @property
    def names(self) -> tuple[Fields, Fields]:
        """What users call tasks and things: where these are the same, so are the events of equal steps."""
        return self._converter.names, self._converter.things

    def fields(self, step: Step) -> tuple[str, Fields]:
        """The process of a step, and the fields of its event."""
        converter = self._converter
        return converter._process(step.task), converter._placed(converter._whole(step))


class _Last(NamedTuple):
    """The last event of a step that touched a thing."""

    event: int
    process: str
    is_apart: bool


class _Converter:
    def __init__(
        self,
        execution: Execution,
        initial: Fields,
        file: str | None,
        apart: bool,
        told: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self.execution = execution
        self.builder = TraceBuilder(file)
        self.initial = initial
        self.apart = apart
        self.told = told
        self.names = process_names(execution)
        self.queues = _queue_names(execution)
        self.things = things_of(execution)
        self.number = 0
        """Of the step."""
        self.given: set[Slot] = set()
        """What is on its way."""
        self.steps: list[int] = []
        self.written: dict[str, _Last] = {}
        self.read: dict[str, dict[str, _Last]] = {}
        """Who has read a thing since it was written, by process: the last time of each says enough."""
        self.labels: dict[str, dict[int, str]] = {}
        self.spawned: dict[str, int] = {}
        """Task -> the event that started it."""
        self.begun: set[str] = set()

    def run(self) -> ExecutionTrace:
        self.builder.header([(self.names.get("0", "MainThread"), {})], self._shared())
        for number, step in enumerate(self.execution.steps):
            self.number = number
            self._add(step)
            self.steps.extend([number] * (len(self.builder) - len(self.steps)))
        return ExecutionTrace(_with_cuts_told(self.builder.finish()), self.steps)

    def _shared(self) -> Fields:
        """What has a value before the first event."""
        used = {
            self._variable(each.thing)
            for step in self.execution.steps
            for each in step.operation.footprint
            if _is_memory(step, each.thing)
        }
        found = {name: value for name, value in self.initial.items() if name in used}
        for step in self.execution.steps:
            found.update(dict.fromkeys(_detail(step).get("claims", ()), False))
        return found

    def _add(self, step: Step) -> None:
        process = self._process(step.task)
        is_apart = self.apart and bool(_detail(step).get("apart"))
        moments = self._moments_apart(step) if is_apart else [self._whole(step)]
        if self.apart and "turn" in _detail(step) and moments[-1]["kind"] == "exit":
            moments.append({"kind": step.operation.kind, "at": step.operation.at})
        after = self._orders(step, process, len(self.builder) + len(moments) - 1, is_apart)
        if step.task not in self.begun:
            self.begun.add(step.task)
            if step.task in self.spawned:
                after[self.spawned[step.task]] = None
                moments[0]["parent"] = self._process(parent_of(step.task))
        for moment in moments:
            self.builder.add_fields({"p": process, **self._placed(moment), **self._called(step)})
            self.builder.order(after)
            after = {}
        self.spawned.update(dict.fromkeys(self._started_by(step), len(self.builder) - 1))

    def _called(self, step: Step) -> Fields:
        """What a step is called whose kind does not say enough."""
        text = self.told.get(self.number, "") if step.operation.kind in TOLD else ""
        return {"label": text} if text else {}

    def _process(self, task: str) -> str:
        return self.names.get(task, task)

    def _started_by(self, step: Step) -> list[str]:
        """The tasks that a step starts: a thread, or what the turn of a loop's task makes."""
        names = [access.thing for access in step.operation.footprint if access.writes]
        return [name for name in names if name in self.names and parent_of(name) == step.task]

    # Order.

    def _orders(self, step: Step, process: str, event: int, is_apart: bool) -> dict[int, None]:
        """Events of other processes that this step depends on; those of variables are the trace's to find.

        A turn of several events is left by its last and come to by its first, through variables as well.
        """
        found: dict[int, None] = {}
        mine = _Last(event, process, is_apart)
        for thing, writes in _merged(step).items():
            before = [self.written[thing]] if thing in self.written else []
            if writes:
                before += self.read.pop(thing, {}).values()
                self.written[thing] = mine
            else:
                self.read.setdefault(thing, {})[process] = mine
            is_memory = _is_memory(step, thing)
            for last in before:
                if last.process != process and (is_apart or last.is_apart or not is_memory):
                    found[last.event] = None
        return found

    # What happens.

    def _whole(self, step: Step) -> Fields:
        """A step as one event."""
        operation, detail = step.operation, _detail(step)
        fields: Fields = {"kind": KINDS.get(operation.kind, operation.kind), "at": operation.at}
        turn = detail.get("turn", ())
        values = _last_values(turn)
        if operation.kind == "write":
            values.update(_values(detail, operation.thing))
        values.update(detail.get("changed", {}))
        writes, reads = self._touched(step, values)
        for name, value in (("write", writes), ("read", reads)):
            if value:
                fields[name] = value
        told = [moment["set"] for moment in turn if "set" in moment]
        assigned = {name: value for each in (*told, detail.get("set", {})) for name, value in each.items()}
        if assigned:
            fields["set"] = assigned
        calls = [each for each in (detail, *turn) if "fn" in each]
        if len(calls) == 1:
            kind = calls[0].get("kind", operation.kind)
            fields.update(kind=KINDS.get(kind, kind), fn=calls[0]["fn"])
        if detail.get("claims"):
            fields["write"] = {**writes, **dict.fromkeys(detail["claims"], True)}
        self._message(step, fields)
        return fields

    def _touched(self, step: Step, values: Fields) -> tuple[Fields, list[str]]:
        """What the step writes, with the values it is known to give, and what it only reads."""
        reads: dict[str, None] = {}
        writes: Fields = {}
        for thing, is_written in _merged(step).items():
            if not _is_memory(step, thing):
                continue
            if is_written:
                writes[self._variable(thing)] = values.get(thing)
            else:
                reads[self._variable(thing)] = None
        writes.update({self._variable(thing): value for thing, value in values.items()})
        return writes, [name for name in reads if name not in writes]

    def _moments_apart(self, step: Step) -> list[Fields]:
        """The changes in a turn, one by one; what the turn reads, it reads at its beginning."""
        whole = self._whole(step)
        changes = [moment for moment in _detail(step)["turn"] if moment["kind"] in CHANGES]
        found = [self._moment(change) for change in changes]
        told = {name for moment in found for name in moment.get("write", ())}
        rest = {name: value for name, value in whole.get("write", {}).items() if name not in told}
        if rest:
            found[-1]["write"] = {**found[-1].get("write", {}), **rest}
        if whole.get("read"):
            found[0]["read"] = whole["read"]
        return found

    def _moment(self, moment: Fields) -> Fields:
        fields: Fields = {"kind": KINDS.get(moment["kind"], moment["kind"]), "at": moment["at"]}
        if moment["kind"] == "write":
            values = {moment["thing"]: moment.get("value"), **moment.get("changed", {})}
            fields["write"] = {self._variable(thing): value for thing, value in values.items()}
        return fields | {key: moment[key] for key in ("set", "fn") if key in moment}

    def _message(self, step: Step, fields: Fields) -> None:
        """What a put or a process's queue gives, and a get takes; what is only looked at is none."""
        kind, footprint = step.operation.kind, step.operation.footprint
        if kind not in GIVING and kind != "get":
            return
        is_given = kind in GIVING
        slots = [slot_of(access.thing) for access in footprint if access.writes == is_given]
        slot = next(filter(None, slots), None)
        has_changed = any(access.writes for access in footprint)
        if slot is not None and has_changed and (slot in self.given) != is_given:
            (self.given.add if is_given else self.given.remove)(slot)
            fields.update(kind=KINDS.get(kind, kind), msg=f"{self.queues[slot.queue]}#{slot.number}")
        else:
            fields["kind"] = kind

    def _variable(self, thing: str) -> str:
        return self.things.get(thing, thing)

    def _placed(self, moment: Fields) -> Fields:
        """With the place, if there is one, and what its line is called."""
        if not moment["at"]:
            return {key: value for key, value in moment.items() if key != "at"}
        file, line = place_in(moment["at"])
        if file not in self.labels:
            self.labels[file] = labels_of("".join(linecache.getlines(file)))
        label = self.labels[file].get(line, "")
        return {**moment, "label": label} if label else moment


def _with_cuts_told(trace: Trace) -> Trace:
    """The trace, which says so if some of its values are not whole."""
    values = (*trace.values, *trace.shared.values())
    if not any(has_cut(value) for value in values):
        return trace
    return replace(trace, header={**trace.header, CUT: True})


def _detail(step: Step) -> Fields:
    return step.detail if isinstance(step.detail, dict) else {}


def _merged(step: Step) -> dict[str, bool]:
    """Each thing that a step touches, and whether it writes it: to read it as well says no more."""
    found: dict[str, bool] = {}
    for thing, writes in step.operation.footprint:
        found[thing] = found.get(thing, False) or writes
    return found


def _is_memory(step: Step, thing: str) -> bool:
    return step.operation.kind in MEMORY and sort_of(thing) is Sort.MEMORY


def _values(told: Fields, thing: str) -> Fields:
    """What a step or a moment is known to have put where, all that variables hold included."""
    return {**({thing: told["value"]} if "value" in told else {}), **told.get("changed", {})}


def _last_values(turn: Any) -> Fields:
    found: Fields = {}
    for moment in turn:
        if moment["kind"] == "write":
            found.update(_values(moment, moment["thing"]))
    return found


def process_names(execution: Execution) -> dict[str, str]:
    """Task -> its name in a trace: as users know it if that is a name there, and nobody else has it."""
    return _different({task: label or f"({task})" for task, label in execution.names.items()})


def things_of(execution: Execution) -> dict[str, str]:
    """What users call each thing; two that one variable held in turn, as in a loop, are told apart.

    A variable and what is in the container that it holds are two things: the variable has the name.
    """
    bases: dict[tuple[str, bool], set[str]] = {}
    for thing, label in execution.things.items():
        base, bracket, _ = thing.partition("[")
        bases.setdefault((label, bool(bracket)), set()).add(base)
    variables = {label for label, is_inside in bases if not is_inside}
    variables |= {each.thing for step in execution.steps for each in step.operation.footprint}
    found = {}
    for thing, label in execution.things.items():
        base, bracket, _ = thing.partition("[")
        is_alone = len(bases[label, bool(bracket)]) == 1 and not (bracket and label in variables)
        found[thing] = label if is_alone else f"{label} ({base})"
    return found


def _queue_names(execution: Execution) -> dict[str, str]:
    things = [each.thing for step in execution.steps for each in step.operation.footprint]
    slots = [slot for thing in things if (slot := slot_of(thing)) is not None]
    return _different({slot.queue: execution.things.get(slot.queue, slot.queue) for slot in slots})


def _different(labels: dict[str, str]) -> dict[str, str]:
    """Every key with a label that no other key has, in which every letter can be written."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for key, label in labels.items():
        name = label.encode("utf-8", "backslashreplace").decode()
        while name in taken:
            name = f"{name} ({key})"
        found[key] = name
        taken.add(name)
    return found
