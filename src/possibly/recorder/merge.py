"""Logs to a trace: one line of events out of the logs of all processes of the operating system.

Law: each log keeps its own order; an entry that relies on something in another log waits until that has been
passed. Of several that may go on, the older one does. If what it waits for is missing, because a process
was killed before its last flush, it goes on
without.
Definitions (sites, processes, objects) are read before all events, so their place in a log does not matter.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import IO, Any

from possibly.recorder import entries as e
from possibly.recorder.edges import ACTIONS, MEETS, Action, Edges
from possibly.recorder.packing import HEAD, unpacked
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

SUFFIX = ".log"
Entry = tuple[Any, ...]


@dataclass(slots=True)
class Source:
    """One log: its definitions and its events."""

    key: str
    header: dict[str, Any] = field(default_factory=dict)
    sites: dict[int, Entry] = field(default_factory=dict)
    processes: dict[int, str] = field(default_factory=dict)
    objects: dict[int, Any] = field(default_factory=dict)
    classes: dict[int, str] = field(default_factory=dict)
    things: dict[int, str] = field(default_factory=dict)
    initial: dict[str, Any] = field(default_factory=dict)
    events: list[Entry] = field(default_factory=list)
    position: int = 0
    time: float = 0.0
    """When its newest passed action was: among what may come next, the oldest comes first."""
    held: bool = False
    """It waits for others at a joint event."""

    @property
    def is_done(self) -> bool:
        return self.position >= len(self.events)


def read_entries(path: str) -> Iterator[Entry]:
    """All entries of the whole pieces of a log."""
    with open(path, "rb") as file:
        yield from whole_pieces(file)


def whole_pieces(file: IO[bytes]) -> Iterator[Entry]:
    """The entries from here on; the file then stands before the first piece that is not whole yet."""
    while True:
        place = file.tell()
        head = file.read(HEAD.size)
        definitions, size, packed_size = HEAD.unpack(head) if len(head) == HEAD.size else (0, 1, 0)
        piece, packed = file.read(size), file.read(packed_size)
        if len(piece) < size or len(packed) < packed_size:
            file.seek(place)
            return
        told = marshal.loads(piece)
        yield from told[:definitions]
        yield from unpacked(told[definitions:], packed)


def read_source(path: str) -> Source:
    found = Source(os.path.basename(path).removesuffix(SUFFIX))
    for entry in read_entries(path):
        add_entry(found, entry)
    return found


def add_entry(found: Source, entry: Entry) -> None:
    match entry[0]:
        case e.SITE:
            found.sites[entry[1]] = entry
        case e.PROCESS:
            found.processes[entry[1]] = entry[2]
        case e.OBJECT:
            found.classes.setdefault(entry[1], entry[2])
        case e.NAMED:
            found.objects[entry[1]] = entry[2]
        case e.THING:
            found.things[entry[1]] = entry[2]
        case e.HEADER:
            found.header = entry[1]
        case e.INITIAL:
            found.initial = entry[1]
        case _:
            found.events.append(entry)


def merged(folder: str, file: str | None = None, extra: dict[str, Any] | None = None) -> Trace:
    """The trace of all logs in a folder."""
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(SUFFIX))
    sources = [read_source(path) for path in sorted(paths, key=os.path.getmtime)]
    return Merge(_roots_first(sources), file, extra or {}).trace()


def _roots_first(sources: list[Source]) -> list[Source]:
    known = {source.key for source in sources}
    return sorted(sources, key=lambda source: source.header.get("parent", "") in known)


class Merge:
    """Puts the entries of all logs in one order and hands them to the builder."""

    def __init__(self, sources: list[Source], file: str | None, extra: dict[str, Any]) -> None:
        self.sources = sources
        self.builder = TraceBuilder(file)
        self.edges = Edges()
        self.extra = extra
        self.names: dict[tuple[str, int], str] = {}
        self.taken: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        self.stacks: dict[str, list[str]] = {}
        self.objects: dict[tuple[str, int], str] = {}
        self.kinds: dict[str, int] = {}
        self.meets = 0
        self.things: dict[Any, str] = {}
        self.parents: dict[Any, str] = {}
        self.arrived: dict[Any, list[tuple[Source, Entry]]] = {}

    def trace(self) -> Trace:
        self.begin()
        self.go_on(is_over=True)
        return self.builder.finish()

    def begin(self) -> None:
        self.builder.header(shared=self._initial_values(), extra=self.extra, line=None)

    def go_on(self, *, is_over: bool) -> None:
        """Passes what can be passed; what waits for something that is missing only if all logs are over."""
        while waiting := [source for source in self.sources if not source.is_done]:
            waiting.sort(key=lambda source: source.time)
            if not any(self._advance(source, waiting) for source in waiting):
                if not is_over:
                    return
                self._force()

    def _initial_values(self) -> dict[str, Any]:
        """What shared variables had when the recording began, or were given before a second process was."""
        found: dict[str, Any] = {}
        for source in self.sources[:1]:
            found.update(source.initial)
            for entry in source.events:
                if entry[0] == e.SYNC and entry[3] == "spawn":
                    break
                if entry[0] in (e.WRITE, e.MEMBER_WRITE, e.ITEM_WRITE):
                    found.setdefault(self._variable(source, entry), entry[-1])
        return found

    # ---- the order of the logs ------------------------------------------------------------------

    def _advance(self, source: Source, others: list[Source]) -> bool:
        """Passes entries until one has to wait or another log has an older one; whether there were any."""
        first = source.position
        limit = min((other.time for other in others if other is not source), default=inf)
        while not source.is_done and not source.held:
            entry = source.events[source.position]
            if self._must_wait(entry) or (source.time > limit and source.position > first):
                break
            source.position += 1
            if entry[0] == e.SYNC:
                source.time = entry[6] or source.time
            self._pass(source, entry)
        return source.position > first

    def _must_wait(self, entry: Entry) -> bool:
        if entry[0] == e.OWN and entry[4] is not None and entry[3]["kind"] == "receive":
            return self.edges.wanted(ACTIONS["get"], entry[4])
        if entry[0] != e.SYNC:
            return False
        action, thing = ACTIONS[entry[3]], entry[4]
        return isinstance(thing, str) and self.edges.wanted(action, thing, entry[5])

    def _force(self) -> None:
        """Nothing can go on: the first log that waits goes on without what is missing."""
        for source in self.sources:
            if source.is_done and not source.held:
                continue
            if source.held:
                source.held = False
                for waiting in self.arrived.values():
                    waiting[:] = [pair for pair in waiting if pair[0] is not source]
            else:
                entry = source.events[source.position]
                source.position += 1
                self._pass(source, entry)
            return

    # ---- events ---------------------------------------------------------------------------------

    def _pass(self, source: Source, entry: Entry) -> None:
        match entry[0]:
            case e.SYNC:
                self._sync(source, entry)
            case e.READ | e.MEMBER_READ:
                self._add(source, entry, kind="read", read=[self._variable(source, entry)])
            case e.ITEM_READ:
                whole = self._variable(source, (*entry[:4], "[]"))
                self._add(source, entry, kind="read", read=[self._variable(source, entry), whole])
            case e.WRITE | e.MEMBER_WRITE:
                self._write(source, entry)
            case e.ITEM_WRITE:
                read = {} if entry[4] == "[]" else {"read": [self._variable(source, (*entry[:4], "[]"))]}
                self._write(source, entry, **read)
            case e.SET:
                self._add(source, entry, set={source.sites[entry[2]][4]: entry[3]})
            case e.ENTER | e.EXIT:
                self._call(source, entry)
            case e.MARK:
                self._add(source, entry)
            case e.OWN:
                self._own(source, entry)

    def _write(self, source: Source, entry: Entry, **fields: Any) -> None:
        """Another process of the operating system has variables of its own: they are locals of it as well."""
        fields["write"] = {self._variable(source, entry): entry[-1]}
        if source.header.get("name") and source.processes.get(entry[1]) == "MainThread":
            fields["set"] = {self._bare_variable(source, entry): entry[-1]}
        self._add(source, entry, kind="write", **fields)

    def _variable(self, source: Source, entry: Entry) -> str:
        own = source.header.get("name")
        bare = self._bare_variable(source, entry)
        return f"{own}/{bare}" if own else bare

    def _bare_variable(self, source: Source, entry: Entry) -> str:
        site = source.sites.get(entry[2])
        variable = (site[4] if site else None) or ""
        if entry[0] in (e.READ, e.WRITE):
            return variable
        owner = self._object(source, entry[3])
        if entry[0] in (e.ITEM_READ, e.ITEM_WRITE):
            return f"{owner}[]" if entry[4] == "[]" else f"{owner}[{entry[4]}]"
        return f"{owner}.{variable}" if owner else variable

    def _object(self, source: Source, number: int) -> str:
        key = source.key, number
        if key not in self.objects:
            self.objects[key] = self._new_object_name(source, number)
        return self.objects[key]

    def _new_object_name(self, source: Source, number: int) -> str:
        match source.objects.get(number):
            case str() as name:
                return name
            case (int() as owner, attribute):
                return f"{self._object(source, owner)}.{attribute}"
        return self._numbered(source.classes.get(number, "object"))

    def _numbered(self, kind: str) -> str:
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        return f"{kind}#{self.kinds[kind]}"

    def _process(self, source: Source, number: int) -> str:
        key = source.key, number
        if key not in self.names:
            self.names[key] = self._unique(self._plain_name(source, number))
        return self.names[key]

    def _plain_name(self, source: Source, number: int) -> str:
        name = source.processes.get(number, f"process-{number}")
        own = source.header.get("name") or ""
        if not own:
            return name
        return own if name == "MainThread" else f"{own}/{name}"

    def _unique(self, name: str) -> str:
        self.taken[name] = self.taken.get(name, 0) + 1
        if self.taken[name] == 1:
            return name
        return self._unique(f"{name}#{self.taken[name]}")

    def _add(self, source: Source, entry: Entry, **fields: Any) -> str:
        process = self._process(source, entry[1])
        event = self._next_name(process)
        site = source.sites.get(entry[2])
        made: dict[str, Any] = {"p": process, **fields}
        if site is not None:
            made["at"] = site[2]
            if site[3] is not None:
                made["label"] = site[3]
        if self.counts.get(process, 0) == 0 and process in self.parents:
            made["parent"] = self.parents[process]
        self.counts[process] = self.counts.get(process, 0) + 1
        self.builder.add_fields(made)
        return event

    def _next_name(self, process: str) -> str:
        return f"{process}:{self.counts.get(process, 0) + 1}"

    def _call(self, source: Source, entry: Entry) -> None:
        stack = self.stacks.setdefault(self._process(source, entry[1]), [])
        function = source.sites[entry[2]][5]
        told = {"args": [self._argument(source, each) for each in entry[3]]} if len(entry) > 3 else {}
        if entry[0] == e.ENTER:
            stack.append(function)
            self._add(source, entry, kind="enter", fn=function, **told)
        elif stack and stack[-1] == function:  # else a generator was left half-way
            stack.pop()
            self._add(source, entry, kind="exit", fn=function, **told)

    def _argument(self, source: Source, told: Any) -> Any:
        match told:
            case (e.OBJECT_ARGUMENT, int() as number):
                return self._object(source, number)
            case (e.THING_ARGUMENT, int() as number):
                return self.things.get((source.key, number), f"primitive#{number}")
        return told

    def _own(self, source: Source, entry: Entry) -> None:
        fields, key = dict(entry[3]), entry[4]
        if key is not None:
            action = ACTIONS["put" if fields["kind"] == "send" else "get"]
            message = self.edges.effect(action, key, None, "", "", source.key).message
            if message is not None:
                fields["msg"] = message
        self._add(source, entry, **fields)

    # ---- synchronisation ------------------------------------------------------------------------

    def _sync(self, source: Source, entry: Entry) -> None:
        name, thing, detail = entry[3], entry[4], entry[5]
        action = ACTIONS[name]
        key = thing if isinstance(thing, str) else (source.key, thing)
        if not action.kind:
            self._note(source, name, key, thing, detail, entry)
        elif action.rule == MEETS:
            self._arrive(source, action, key, detail, entry)
        else:
            self._ordered(source, action, name, key, detail, entry)

    def _note(self, source: Source, name: str, key: Any, thing: Any, detail: Any, entry: Entry) -> None:
        match name:
            case "new":
                self.things[key] = source.things.get(thing) or self._numbered(detail)
            case "units":
                self.edges.units(key, detail)
            case "streamed":
                self.edges.streamed(key, detail)
            case "depart":
                waiting = self.arrived.get(key, [])
                waiting[:] = [pair for pair in waiting if pair[1][1] != entry[1]]

    def _ordered(
        self, source: Source, action: Action, name: str, key: Any, detail: Any, entry: Entry
    ) -> None:
        process = self._process(source, entry[1])
        event = self._next_name(process)
        if name == "start":
            self.parents.setdefault(process, self.parents.get(("spawned", key), ""))
            if not self.parents[process]:
                del self.parents[process]
        elif name == "spawn":
            self.parents["spawned", key] = process
        effect = self.edges.effect(action, key, detail, event, process, source.key)
        fields: dict[str, Any] = {"kind": action.kind}
        after = [each for each in effect.after if each.rpartition(":")[0] != process]
        if after:
            fields["after"] = after
        if effect.message is not None:
            fields["msg"] = effect.message
        about = None if action.family in ("spawn", "end") else self._about(source, key, detail)
        if about is not None:
            fields["tag"] = about
        self._add(source, entry, **fields)

    def _about(self, source: Source, key: Any, detail: Any) -> str | None:
        """The name of the lock, queue or event that an action is about."""
        if isinstance(detail, tuple) and detail:
            detail = detail[0]
        other = (source.key, detail) if type(detail) is int else detail
        return self.things.get(key) or (self.things.get(other) if isinstance(other, str | tuple) else None)

    def _arrive(self, source: Source, action: Action, key: Any, parties: int, entry: Entry) -> None:
        """All lines of a joint event stand together, where the last one arrives."""
        waiting = self.arrived.setdefault(key, [])
        waiting.append((source, entry))
        source.held = isinstance(entry[4], str)
        if len(waiting) >= parties:
            self.meets += 1
            for each, arrival in waiting:
                each.held = False
                about = self.things.get(key)
                self._add(
                    each,
                    arrival,
                    kind=action.kind,
                    meet=f"meet{self.meets}",
                    **({"tag": about} if about else {}),
                )
            self.arrived[key] = []
