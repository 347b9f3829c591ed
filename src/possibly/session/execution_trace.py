"""An execution as a trace: so that a property is checked on its partial order and one execution answers for
all that differ from it in the order of independent steps only.

Each step is an event of the process that its task is. Memory is shared variables, read and written with
their values; local variables and calls of functions are told where they are asked for; a put into a queue
and the get that takes the item are a message; every other dependence between steps (locks, conditions,
starting and joining) is an `after`. A comment `#: label` at the end of a source line labels the events of
that line.
"""

from __future__ import annotations

import linecache
from typing import Any

from possibly.control.execution import Execution, Step
from possibly.probes.source import labels_of
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

MEMORY = ("read", "write")
KINDS = {
    "assign": "internal",
    "leave": "exit",
    "start": "spawn",
    "put": "send",
    "get": "receive",
    "spin": "read",
}


def trace_of(execution: Execution, initial: dict[str, Any] | None = None, file: str | None = None) -> Trace:
    """The trace of an execution; `initial` are values of variables before the first event."""
    return _Converter(execution, initial or {}, file).run()


class _Converter:
    def __init__(self, execution: Execution, initial: dict[str, Any], file: str | None) -> None:
        self.execution = execution
        self.builder = TraceBuilder(file)
        self.initial = initial
        self.names = _unique_names(execution)
        self.counts: dict[str, int] = {}
        self.written: dict[str, str] = {}
        self.read: dict[str, list[str]] = {}
        self.labels: dict[str, dict[int, str]] = {}
        self.spawned: dict[str, str] = {}
        """Task -> the event that started it."""

    def run(self) -> Trace:
        first = self.names.get("0", "MainThread")
        used = {
            self._variable(each.thing)
            for step in self.execution.steps
            if step.operation.kind in MEMORY
            for each in step.operation.footprint
        }
        shared = {name: value for name, value in self.initial.items() if name in used}
        for step in self.execution.steps:
            shared.update(dict.fromkeys(_marks(step, "claims"), False))
        self.builder.header([(first, {})], shared)
        for step in self.execution.steps:
            self.builder.add_fields(self._event(step))
        return self.builder.finish()

    def _event(self, step: Step) -> dict[str, Any]:
        operation = step.operation
        process = self.names.get(step.task, step.task)
        self.counts[process] = self.counts.get(process, 0) + 1
        name = f"{process}:{self.counts[process]}"
        fields: dict[str, Any] = {"p": process, "kind": KINDS.get(operation.kind, operation.kind)}
        if operation.at:
            fields["at"] = operation.at
            label = self._label(operation.at)
            if label:
                fields["label"] = label
        after = self._orders(step, name)
        if self.counts[process] == 1 and step.task in self.spawned:
            after = list(dict.fromkeys([self.spawned[step.task], *after]))
            fields["parent"] = self.names.get(step.task.rpartition(".")[0], "MainThread")
        self.spawned.update(dict.fromkeys(self._started_by(step), name))
        self._memory(step, fields)
        self._message(step, fields)
        self._told(step, fields)
        if after:
            fields["after"] = after
        return fields

    def _told(self, step: Step, fields: dict[str, Any]) -> None:
        """Local variables, calls of functions, and the marks of claims."""
        detail = step.detail if isinstance(step.detail, dict) else {}
        if "set" in detail:
            fields["set"] = detail["set"]
        if "fn" in detail:
            fields["fn"] = detail["fn"]
        claims = _marks(step, "claims")
        if claims:
            fields["write"] = {**fields.get("write", {}), **dict.fromkeys(claims, True)}

    def _started_by(self, step: Step) -> list[str]:
        """The tasks that a step starts: a thread, or what the turn of a loop's task makes."""
        names = (access.thing for access in step.operation.footprint if access.writes)
        return [name for name in names if name in self.names and name.startswith(f"{step.task}.")]

    def _orders(self, step: Step, name: str) -> list[str]:
        """Steps before this one that it depends on, memory aside."""
        found: dict[str, None] = {}
        for access in step.operation.footprint:
            thing = access.thing
            if self._is_memory(step, thing):
                continue
            if thing in self.written:
                found[self.written[thing]] = None
            if access.writes:
                found.update(dict.fromkeys(self.read.pop(thing, ())))
                self.written[thing] = name
            else:
                self.read.setdefault(thing, []).append(name)
        mine = f"{self.names.get(step.task, step.task)}:"
        return [each for each in found if not each.startswith(mine) or each == name][:64]

    def _is_memory(self, step: Step, thing: str) -> bool:
        return step.operation.kind in (*MEMORY, "spin", "resume") and _looks_like_memory(thing)

    def _memory(self, step: Step, fields: dict[str, Any]) -> None:
        detail = step.detail if isinstance(step.detail, dict) else {}
        reads, writes = [], {}
        for access in step.operation.footprint:
            if not self._is_memory(step, access.thing):
                continue
            variable = self._variable(access.thing)
            if access.writes:
                writes[variable] = detail.get("whole", detail.get("value"))
            else:
                reads.append(variable)
        if "whole" in detail and writes:
            base = step.operation.thing.partition("[")[0]
            writes[self._variable(f"{base}[]")] = detail["whole"]
        if writes:
            fields["write"] = writes
        if reads:
            fields["read"] = [name for name in dict.fromkeys(reads) if name not in writes]

    def _message(self, step: Step, fields: dict[str, Any]) -> None:
        kind = step.operation.kind
        if kind not in ("put", "get"):
            return
        numbered = [
            a.thing for a in step.operation.footprint if "#" in a.thing and a.writes == (kind == "put")
        ]
        if numbered:
            queue, _, number = numbered[0].partition("#")
            fields["msg"] = f"{self.execution.things.get(queue, queue)}#{number}"
        else:
            fields["kind"] = kind

    def _variable(self, thing: str) -> str:
        return self.execution.things.get(thing, thing)

    def _label(self, at: str) -> str:
        file, _, line = at.rpartition(":")
        if file not in self.labels:
            self.labels[file] = labels_of("".join(linecache.getlines(file)))
        return self.labels[file].get(int(line), "") if line.isdigit() else ""


def _marks(step: Step, word: str) -> list[str]:
    found: list[str] = step.detail.get(word, []) if isinstance(step.detail, dict) else []
    return found


def _looks_like_memory(thing: str) -> bool:
    """Tasks, primitives and queues have names of their own kind; everything else is a variable."""
    last = thing.rpartition(":")[2]
    if thing in ("exit", "clock") or thing.replace(".", "").isdigit():
        return False
    return ":" not in thing or last[:1].isdigit()


def _unique_names(execution: Execution) -> dict[str, str]:
    found: dict[str, str] = {}
    taken: set[str] = set()
    for task, name in execution.names.items():
        found[task] = name if name not in taken else f"{name} ({task})"
        taken.add(name)
    return found
