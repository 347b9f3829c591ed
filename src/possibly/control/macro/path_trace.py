"""A path as a trace: what the engines for recorded runs are asked about.

Each instant is an event, with what it changed of the variables that its process is seen with. A bare name is
a global variable of one interpreter, `home`, that of whoever makes the claim; it is what the first thread of
that interpreter is seen with, the one that executes modules. What other threads can change too is not known
when it changes, since each is seen only at its operations: that is what functions declare `global`, and
whatever is no plain value. Who reads it learns nothing: `unsure` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from possibly.control.macro.history import Counts, Instant, Path
from possibly.control.macro.model import Message, Process, Seen
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

Thread = tuple[int, str]
"""Interpreter, and which thread of it."""


class PathTrace(NamedTuple):
    trace: Trace
    instants: list[Instant]
    """Of each event."""
    unsure: frozenset[tuple[Process, str]]
    """Variables of which nobody knows when they change, as a process sees them; "" stands for a bare name."""


def path_trace(
    path: Path,
    first: Counts,
    thread_of: Callable[[Process], Thread],
    home: Process,
    declared: frozenset[str] = frozenset(),
) -> PathTrace:
    """The trace of a path from a cut on; `declared` are the names that functions declare global."""
    return _Converter(path, first, thread_of, home, declared).run()


class _Converter:
    def __init__(
        self,
        path: Path,
        first: Counts,
        thread_of: Callable[[Process], Thread],
        home: Process,
        declared: frozenset[str],
    ) -> None:
        self.path = path
        self.first = first
        self.threads = {process: thread_of(process) for process in path.processes}
        self.home = self.threads[home][0] if home in self.threads else 0
        self.builder = TraceBuilder()
        self.local: dict[Process, dict[str, Any]] = {process: {} for process in path.processes}
        self.shared: dict[str, Any] = {}
        self.declared = declared
        self.unsure: set[tuple[Process, str]] = set()
        interpreters = [interpreter for interpreter, _ in set(self.threads.values())]
        self.crowded = {each for each in interpreters if interpreters.count(each) > 1}
        """Interpreters with several threads."""
        self.first_thread: dict[int, str] = {}
        for interpreter, thread in self.threads.values():
            self.first_thread.setdefault(interpreter, thread)
        self.event: dict[int, int] = {}
        """Instant -> event."""
        self.instants: list[Instant] = []
        self.receivers = {name: each.process for each in path.instants for name in each.takes}

    def run(self) -> PathTrace:
        later: list[int] = []
        for number, (process, count) in enumerate(self.path.numbers()):
            if count > self.first.get(process, 0):
                later.append(number)
            else:
                self._change(self.path.instants[number])
        processes = [(process, dict(self.local[process])) for process in self.path.processes]
        self.builder.header(processes, dict(self.shared))
        sent = self._under_way(later)
        for number in later:
            self._add(number, sent)
        return PathTrace(self.builder.finish(), self.instants, frozenset(self.unsure))

    def _under_way(self, later: list[int]) -> set[str]:
        """Messages that are sent after the first cut: a trace knows of no others."""
        return {message.name for number in later for message in self.path.instants[number].sends}

    def _add(self, number: int, sent: set[str]) -> None:
        instant = self.path.instants[number]
        local, shared = self._change(instant)
        fields: dict[str, Any] = {"p": instant.process, "kind": "internal"}
        fields |= {key: value for key, value in (("set", local), ("write", shared)) if value}
        if instant.at:
            fields["at"] = instant.at
        if instant.seen is not None and instant.seen.label:
            fields["label"] = instant.seen.label
        takes = [name for name in instant.takes if name in sent]
        messages = [{"kind": "receive", "msg": name} for name in takes]
        messages += [self._sent(message) for message in instant.sends]
        for message in messages[:-1]:  # an event has one message at most
            self._put(number, {"p": instant.process, **message})
        self._put(number, fields | (messages[-1] if messages else {}))

    def _put(self, number: int, fields: dict[str, Any]) -> None:
        self.event[number] = self.builder.add_fields(fields)
        self.instants.append(self.path.instants[number])
        causes = [self.event[each] for each in self.path.causes[number] if each in self.event]
        self.builder.order(causes)

    def _sent(self, message: Message) -> dict[str, Any]:
        to = self.receivers.get(message.name, message.to)
        known = {"to": to} if to in self.local else {}
        return {"kind": "send", "msg": message.name, "tag": message.tag or "", **known}

    def _change(self, instant: Instant) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is another value than before: of the process, of its interpreter."""
        if instant.seen is None:
            return {}, {}
        now = {**instant.seen.globals, **instant.seen.variables}
        local = _fresh(now, self.local[instant.process])
        self.local[instant.process].update(local)
        interpreter, thread = self.threads[instant.process]
        if interpreter in self.crowded:
            self._doubt(instant.process, instant.seen, thread == self.first_thread[interpreter])
        if interpreter != self.home or thread != self.first_thread[interpreter]:
            return local, {}
        shared = _fresh(instant.seen.globals, self.shared)
        self.shared.update(shared)
        return local, shared

    def _doubt(self, process: Process, seen: Seen, is_first: bool) -> None:
        for name, value in seen.globals.items():
            if name in seen.variables:
                continue
            if name in self.declared or not isinstance(value, PLAIN):
                self.unsure.update([(process, name), ("", name)])
            elif not is_first:
                self.unsure.add((process, name))


PLAIN = (int, float, str, bool, type(None))


def _fresh(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in now.items() if name not in before or before[name] != value}
