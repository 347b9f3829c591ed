"""Logs to a trace: one line of events out of the logs of all processes of the operating system.

Law: each log keeps its own order; an entry that relies on something in another log waits until that has been
passed. Of several that may go on, the older one does. If what it waits for is missing, because a process
was killed before its last flush, it goes on without.

Lines of one place in a program differ in a value only: where text is wanted (`lines`), what is around the
value is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import Any, Protocol

from possibly.probes import port
from possibly.recorder import entries as e
from possibly.recorder.edges import ACTIONS, GIVING, MARKS, MEETS, Action, Edges
from possibly.recorder.merging.lines import encode, quoted, text_lines
from possibly.recorder.merging.naming import Naming
from possibly.recorder.merging.sources import Entry, Source, Usual, read_sources
from possibly.recorder.merging.unasked import leave_out
from possibly.recorder.merging.unseen import unseen_variables
from possibly.records import replace
from possibly.trace.recorded import FIELD, Recorded

_CLOCK = "clock"
"""The field of a header that says when the clock of the log began, where times are told."""
_VALUE = "\0"
"""Stands for the value where the text around it is wanted."""
_OWN_RECEIVE = ACTIONS["get"]
_ACCESSES = (e.READ, e.WRITE, e.MEMBER_READ, e.MEMBER_WRITE, e.ITEM_READ, e.ITEM_WRITE)
_USUAL = frozenset({"lock", "event"})
"""Families of what is done again and again."""
_MOST_USUAL = 1_024
_TIMED = frozenset({e.SYNC, e.TIME})
_WRITES = frozenset({e.WRITE, e.MEMBER_WRITE, e.ITEM_WRITE})


Progress = Callable[[str, int, int | None], None]
"""(what is done, how much of it, of how much)."""


class Out(Protocol):
    """Where the events go. An `add_text` beside takes lines as they are."""

    def header(self, shared: Mapping[str, Any]) -> None:
        """The first line."""

    def add_fields(self, fields: Mapping[str, Any]) -> Any:
        """A line, from its fields."""


def write_merged(
    folder: str, path: str, progress: Progress | None = None, about: Recorded | None = None
) -> tuple[int, int]:
    """Writes the trace of all logs in a folder; how many events and processes it has.

    `about`: what is known of the recording beforehand; the logs say the rest.
    """
    sources = read_sources(folder)
    leave_out(sources)
    total = sum(len(source.events) for source in sources)
    told = None if progress is None else lambda done: progress("merging", done, total)
    with text_lines(path, told) as lines:
        merge = Merge(sources, lines)
        said = _recorded(sources, about or Recorded())
        lines.about = {FIELD: merge.about(said).fields()}
        merge.begin()
        merge.go_on(is_over=True)
    return lines.count, len(merge.counts)


def _plain(entry: Entry) -> Entry:
    """An access that was told for its order, as any other."""
    return (entry[0] % e.FOR_ORDER, *entry[1:])


def _recorded(sources: list[Source], about: Recorded) -> Recorded:
    """Which functions were told, and which of them were called too often."""
    sites = ((source.key, site) for source in sources for site in source.sites.values())
    told = {(key, site[1]): site[5] for key, site in sites if site[4] is None}
    often = {(source.key, site) for source in sources for site in source.left_out}
    left_out = {told[each] for each in often if each in told}
    return replace(
        about,
        functions=(about.functions | {name for name in told.values() if name}) - left_out,
        left_out=frozenset(left_out),
    )


class Merge:
    """Puts the entries of all logs in one order and hands them out."""

    def __init__(self, sources: list[Source], out: Out) -> None:
        self.sources = sources
        self.out = out
        self.add_text: Callable[[str], None] | None = getattr(out, "add_text", None)
        if any(_CLOCK in source.header for source in sources):
            self.add_text = None  # no line is as another
        self.edges = Edges()
        self.naming = Naming()
        self.counts: dict[str, int] = {}
        """Events of each process so far."""
        self.stacks: dict[str, list[tuple[str, int]]] = {}
        """The calls of each process that have begun: function and site."""
        self.meets = 0
        self.things: dict[Any, str] = {}
        self.parents: dict[Any, str] = {}
        self.arrived: dict[Any, list[tuple[Source, Entry]]] = {}
        self._is_over = False
        self._to_come: set[Any] | None = None
        """What later entries of all logs give, where it was asked for."""
        self._passes: dict[int, Callable[[Source, Entry], None]] = {
            e.SYNC: self._sync, e.READ: self._access, e.WRITE: self._access, e.SET: self._access,
            e.MARK: self._access, e.MEMBER_READ: self._member, e.MEMBER_WRITE: self._member,
            e.ITEM_READ: self._item, e.ITEM_WRITE: self._item, e.ENTER: self._call, e.EXIT: self._call,
            e.OWN: self._own, e.TIME: self._time,
        }  # fmt: skip
        for kind in _ACCESSES:
            self._passes[e.FOR_ORDER + kind] = self._for_order
            self._passes[e.AT_ONCE + e.FOR_ORDER + kind] = self._for_order

    def begin(self) -> None:
        """Reads what stands before all events, and writes the header."""
        self.out.header(self._initial_values())

    def go_on(self, *, is_over: bool) -> None:
        """Passes what can be passed; what waits for something that is missing only if all logs are over."""
        self._is_over = is_over
        while waiting := [source for source in self.sources if not source.is_done]:
            waiting.sort(key=_next_time)
            if not any(self._advance(source, waiting) for source in waiting):
                if not is_over:
                    return
                self._force()

    def _initial_values(self) -> dict[str, Any]:
        """What shared variables had when the recording began, or were given before a second process was."""
        found: dict[str, Any] = {}
        for source in self.sources[:1]:
            found.update(source.initial)
            seen: set[Entry] = set()
            for entry in source.events:
                if entry[0] == e.SYNC and entry[3] == "spawn":
                    break
                if entry[0] in _WRITES and (entry[0] != e.WRITE or entry[:3] not in seen):
                    seen.add(entry[:3])
                    found.setdefault(self.naming.variable(source, entry), entry[-1])
        return found

    # ---- the order of the logs ------------------------------------------------------------------

    def _advance(self, source: Source, others: list[Source]) -> bool:
        """Passes entries until one has to wait or another log has an older one; whether there were any."""
        first = position = source.position
        limit = min((_next_time(other) for other in others if other is not source), default=inf)
        events, passes, time, usual = source.events, self._passes, source.time, source.usual
        while position < len(events) and not source.held:
            entry = events[position]
            kind = entry[0]
            if kind == e.SYNC:
                if type(entry[4]) is str and self._must_wait(entry):
                    break
                time = entry[6] or time
            elif kind == e.OWN and self._must_wait(entry):
                break
            elif kind == e.TIME:
                time = entry[1]
            if time > limit and position > first:
                break
            position += 1
            source.time = time
            if (said := usual.get(id(entry))) is not None:
                self._again(said)
            else:
                passes[kind](source, entry)
        source.position = position
        return position > first

    def _must_wait(self, entry: Entry) -> bool:
        if entry[0] == e.OWN:
            is_receive = entry[4] is not None and entry[3]["kind"] == "receive"
            return is_receive and self.edges.wanted(_OWN_RECEIVE, entry[4]) and self._will_come(entry[4])
        is_wanted = self.edges.wanted(ACTIONS[entry[3]], entry[4], entry[5])
        return is_wanted and self._will_come(entry[4])

    def _will_come(self, key: str) -> bool:
        """Whether a log still tells what gives the key: others than the run's programs do not."""
        if not self._is_over:
            return True
        if self._to_come is None:
            rest = (entry for source in self.sources for entry in source.events[source.position :])
            self._to_come = {entry[4] for entry in rest if entry[0] in (e.SYNC, e.OWN) and _gives(entry)}
        return key in self._to_come

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
                self._passes[entry[0]](source, entry)
            return

    # ---- events ---------------------------------------------------------------------------------

    def _access(self, source: Source, entry: Entry) -> None:
        """A global, a local, or a label: all of the line but the value is known from the first time."""
        known = source.known.get(entry[:3])
        if known is not None and self.add_text is not None:
            process, parts = known
            self.counts[process] += 1
            if len(parts) == 1:
                self.add_text(parts[0])
            else:
                value = entry[3]
                self.add_text((repr(value) if type(value) is int else encode(value)).join(parts))
            return
        if self.add_text is not None:
            source.known[entry[:3]] = self.naming.process(source, entry[1]), self._around(source, entry)
        self._add(source, entry, **self._accessed(source, entry, entry[-1]))

    def _around(self, source: Source, entry: Entry) -> list[str]:
        """The text of the line before and behind the value, wherever it stands."""
        fields = self._accessed(source, entry, _VALUE)
        line = {"p": self.naming.process(source, entry[1]), **fields, **self._at(source, entry)}
        return encode(line).split(encode(_VALUE))

    def _accessed(self, source: Source, entry: Entry, value: Any) -> dict[str, Any]:
        match entry[0]:
            case e.READ:
                return {"kind": "read", "read": [self.naming.variable(source, entry)]}
            case e.WRITE:
                return self._written(source, entry, value)
            case e.SET:
                _, _, _, _, name, function = source.sites[entry[2]]
                return {"set": _locals(function, [(name, value)])}
            case e.ENTER | e.EXIT:
                kind = "enter" if entry[0] == e.ENTER else "exit"
                return {"kind": kind, "fn": source.sites[entry[2]][5]}
        return {}

    def _for_order(self, source: Source, entry: Entry) -> None:
        plain = _plain(entry)
        atomic = {"atomic": True} if entry[0] > e.AT_ONCE else {}
        if plain[0] == e.ITEM_READ:
            self._add(source, plain, kind="read", read=[self.naming.variable(source, plain)], **atomic)
        elif plain[0] == e.ITEM_WRITE:
            self._add(source, plain, **self._written(source, plain, plain[-1]), **atomic)
        else:
            self._passes[plain[0]](source, plain)

    def about(self, said: Recorded) -> Recorded:
        """The same with what the logs say of variables."""
        unseen = frozenset(unseen_variables(self.sources, self.naming))
        return replace(said, for_order=frozenset(self.variables_for_order()) - unseen, unseen=unseen)

    def variables_for_order(self) -> Iterator[str]:
        """Those of which only accesses are told that order the run."""
        for source in self.sources:
            for entry in source.events:
                if entry[0] > e.FOR_ORDER:
                    yield self.naming.variable(source, _plain(entry))

    def _member(self, source: Source, entry: Entry) -> None:
        if entry[0] == e.MEMBER_READ:
            self._add(source, entry, kind="read", read=[self.naming.variable(source, entry)])
        else:
            self._add(source, entry, **self._written(source, entry, entry[-1]))

    def _item(self, source: Source, entry: Entry) -> None:
        """An item is a variable of its own; it is read with the container that it is in."""
        whole = self.naming.variable(source, (*entry[:4], "[]"))
        if entry[0] == e.ITEM_READ:
            self._add(source, entry, kind="read", read=[self.naming.variable(source, entry), whole])
        else:
            more = {"atomic": True} if entry[4] == "[]" else {"read": [whole]}
            self._add(source, entry, **self._written(source, entry, entry[-1]), **more)

    def _written(self, source: Source, entry: Entry, value: Any) -> dict[str, Any]:
        """Another process of the operating system has variables of its own: they are locals of it as well."""
        fields: dict[str, Any] = {"kind": "write"}
        if source.header.get("name") and source.processes.get(entry[1]) == "MainThread":
            fields["set"] = {self.naming.bare_variable(source, entry): value}
        fields["write"] = {self.naming.variable(source, entry): value}
        return fields

    def _add(self, source: Source, entry: Entry, **fields: Any) -> None:
        process = self.naming.process(source, entry[1])
        last: dict[str, Any] = {name: fields.pop(name) for name in ("label", "args") if name in fields}
        made: dict[str, Any] = {"p": process, **fields, **self._at(source, entry), **last}
        count = self.counts.get(process, 0)
        if count == 0 and process in self.parents:
            made["parent"] = self.parents[process]
        self.counts[process] = count + 1
        if _CLOCK in source.header:
            made["t"] = round(source.header[_CLOCK] + source.now, 6)
        self.out.add_fields(made)

    def _at(self, source: Source, entry: Entry) -> dict[str, Any]:
        site = source.sites.get(entry[2])
        if site is None:
            return {}
        return {"at": site[2]} if site[3] is None else {"at": site[2], "label": site[3]}

    def _call(self, source: Source, entry: Entry) -> None:
        site = entry[2]
        function = source.sites[site][5] if site in source.sites else None
        if function is None or site in source.left_out:
            return  # code that came from another process by value has that one's sites
        stack = self.stacks.setdefault(self.naming.process(source, entry[1]), [])
        if entry[0] == e.ENTER:
            stack.append((function, site))
        elif (function, site) in stack:  # else a generator was left half-way
            while (above := stack.pop()) != (function, site):
                self._told_call(source, (e.EXIT, entry[1], above[1]))
        else:
            return
        self._told_call(source, entry)

    def _told_call(self, source: Source, entry: Entry) -> None:
        if len(entry) == 3:
            self._access(source, entry)
            return
        told: dict[str, Any] = self._accessed(source, entry, None)
        if entry[3] is not None:
            told["args"] = [self._argument(source, each) for each in entry[3]]
        if len(entry) > 4:
            told["set"] = _locals(told["fn"], entry[4])
        self._add(source, entry, **told)

    def _argument(self, source: Source, told: Any) -> Any:
        match told:
            case (e.OBJECT_ARGUMENT, int() as number):
                return self.naming.object(source, number)
            case (e.THING_ARGUMENT, int() as number):
                return self.things.get((source.key, number), f"primitive#{number}")
            case (e.THING_ARGUMENT, str() as name):
                return self.things.get(name, "primitive")
        return told

    def _own(self, source: Source, entry: Entry) -> None:
        fields, key = dict(entry[3]), entry[4]
        if key is None:
            del fields["kind"]  # the default
        else:
            action = ACTIONS["put" if fields["kind"] == "send" else "get"]
            _, message = self.edges.effect(action, key, None, "", "", source.key)
            if message is not None:
                fields["msg"] = message
        self._add(source, entry, **fields)

    def _time(self, source: Source, entry: Entry) -> None:
        """Tasks look at the clock and are interrupted before they tell: times never go back."""
        source.now = max(source.now, entry[-1])

    # ---- synchronisation ------------------------------------------------------------------------

    def _sync(self, source: Source, entry: Entry) -> None:
        name, thing, detail = entry[3:6]
        self._time(source, entry)
        action = ACTIONS[name]
        key = thing if type(thing) is str else (source.key, thing)
        if not action.kind:
            self._note(source, name, key, thing, detail, entry)
        elif action.rule == MEETS:
            self._arrive(source, action, key, detail, entry)
        else:
            self._ordered(source, action, name, key, detail, entry)

    def _note(self, source: Source, name: str, key: Any, thing: Any, detail: Any, entry: Entry) -> None:
        match name:
            case "new":
                source.usual.clear()
                self.things[key] = source.things.get(thing) or self.naming.numbered(detail)
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
        process = self.naming.process(source, entry[1])
        event = f"{process}:{self.counts.get(process, 0) + 1}"
        if name == "start":
            self.parents.setdefault(process, self.parents.get(("spawned", key), ""))
            if not self.parents[process]:
                del self.parents[process]
        elif name == "spawn":
            self.parents["spawned", key] = process
        after, message = self.edges.effect(action, key, detail, event, process, source.key)
        if after:
            after = [each for each in after if each.rpartition(":")[0] != process]
        about = None if action.family in ("spawn", "end") else self._about(source, key, detail)
        if self.add_text is None or process not in self.counts:
            fields = {"kind": action.kind, "msg": message, "tag": about, "after": after, **_how(detail)}
            self._add(source, entry, **{name: value for name, value in fields.items() if value})
            return
        self.counts[process] += 1
        told = f',"msg":"{message}"' if message else ""
        if about:
            told += f',"tag":{quoted(about)}'
        if after:
            told += f',"after":[{",".join(map(quoted, after))}]'
        ends = source.ends.get((entry[1], name, entry[2])) or self._new_ends(source, process, name, entry)
        if action.family in _USUAL and type(key) is tuple and detail is None:
            start = f'{ends[0]},"tag":{quoted(about)}' if about else ends[0]
            leaves = action.rule == MARKS
            if len(source.usual) >= _MOST_USUAL:
                source.usual.clear()
            source.usual[id(entry)] = Usual(entry, process, start, ends[1], (action.family, key), leaves)
        more = _how(detail) if detail is not None else {}
        end = f"{ends[1][:-1]},{encode(more)[1:]}" if more else ends[1]
        self.add_text(f"{ends[0]}{told}{end}")

    def _again(self, usual: Usual) -> None:
        """The same as `_ordered`, for what was said before."""
        _, process, start, end, mark, leaves = usual
        self.counts[process] = count = self.counts[process] + 1
        marks, line = self.edges.marks, start + end
        if leaves:
            marks[mark] = f"{process}:{count}"
        elif (after := marks.get(mark)) is not None and after[: after.rindex(":")] != process:
            line = f'{start},"after":[{quoted(after)}]{end}'
        assert self.add_text is not None, "nothing is usual where no text is wanted"
        self.add_text(line)

    def _new_ends(self, source: Source, process: str, name: str, entry: Entry) -> tuple[str, str]:
        """How the lines of an action begin and how they end."""
        start = encode({"p": process, "kind": ACTIONS[name].kind})[:-1]
        at = encode(self._at(source, entry))[1:]
        found = source.ends[entry[1], name, entry[2]] = start, at if at == "}" else f",{at}"
        return found

    def _about(self, source: Source, key: Any, detail: Any) -> str | None:
        """The name of the lock, queue or event that an action is about."""
        found = self.things.get(key)
        if found is not None or detail is None:
            return found
        other = detail[0] if type(detail) is tuple and detail else detail
        if type(other) is int:
            return self.things.get((source.key, other))
        return self.things.get(other) if type(other) is str else None

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
                tag = {"tag": about} if about else {}
                self._add(each, arrival, kind=action.kind, **tag, meet=f"meet{self.meets}")
            self.arrived[key] = []


def _how(detail: Any) -> dict[str, bool]:
    """How an action was done: an acquire that was only tried, a join that waits without a limit, ..."""
    how = detail[-1] if type(detail) is tuple and detail else detail
    return {how: True} if type(how) is str and how in port.HOW else {}


def _locals(function: str | None, given: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The variables that an event sets: those of a function are told as such, and as the process's own."""
    if function is None:
        return dict(given)
    return {key: value for name, value in given for key in (name, f"{function}.{name}")}


def _next_time(source: Source) -> float:
    """When the next entry of a log was told, as far as is known."""
    entry = source.events[source.position]
    return (entry[-1] if entry[0] in _TIMED else 0.0) or source.time


def _gives(entry: Entry) -> bool:
    """Whether entries of other logs may wait for it."""
    if entry[0] == e.OWN:
        return bool(entry[3]["kind"] == "send")
    return type(entry[4]) is str and ACTIONS[entry[3]].rule in GIVING
