"""The one place where events are validated and become columns.

Every source (the file reader, the notation, the importers, a recorder) hands its events to a
`TraceBuilder` in an order in which they could have happened, and gets a `Trace` from `finish`. What the
format allows is decided here and nowhere else, so all sources obey the same law.

Theory of operation: an event arrives as a mapping of field names (`add_fields`; `add` is the same with
keywords). Each field has a handler that checks it and appends to its column; columns are padded only
when used. What depends on the kind (messages, the stack of functions) follows when all fields are
stored. A handler raises a TraceError without a place, `add_fields` adds file and line.
Messages are followed up in `deliveries`, names of events in `names`; both look strings up by number.
After an error the builder is of no further use.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping

from possibly.errors import TraceError
from possibly.trace.deliveries import Deliveries
from possibly.trace.intern import Column, Strings, Values, check_text, check_value, quoted, shown
from possibly.trace.model import NONE, Process, Trace, Value
from possibly.trace.names import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

Fields: TypeAlias = "Mapping[str, Any]"


class Entries:
    """A fact with several entries an event: where each event's entries start, and the entries."""

    __slots__ = ("numbers", "start", "values")

    def __init__(self) -> None:
        self.start = array("i")
        self.numbers = array("i")
        self.values = array("i")

    def open(self, event: int) -> None:
        """All entries appended from now on belong to this event or to a later one."""
        gap = event + 1 - len(self.start)
        if gap == 1:
            self.start.append(len(self.numbers))
        elif gap:
            self.start.extend(array("i", (len(self.numbers),)) * gap)

    def closed(self, length: int) -> array[int] | None:
        if not self.numbers:
            return None
        self.open(length)
        return self.start


class TraceBuilder:
    """Takes a header and events, one after the other, and yields a Trace."""

    def __init__(self, file: str | None = None) -> None:
        self.file = file
        self._strings = Strings()
        self._strings.new("internal")
        self._values = Values()
        self._line: int | None = None

        self._process_names: list[str] = []
        self._process_numbers: dict[str, int] = {}
        self._processes: list[Process] = []
        self._newcomer = NONE
        """The event that created the newest process."""
        self._shared: dict[str, Value] = {}
        self._header: dict[str, Value] = {}

        self._process = array("i")
        self._lines = array("i")
        """The line of each event, kept only once one is not its number plus two."""
        self._kind = array("i")
        self._columns = {key: Column() for key in ("msg", "tag", "meet", "fn", "at", "label")}
        self._time = array("d")
        self._set, self._write, self._read, self._after = Entries(), Entries(), Entries(), Entries()
        self._extra: dict[int, dict[str, Value]] = {}

        self._deliveries = Deliveries()
        self._names = Names(self._strings, self._process, self._process_numbers)
        self._meets: set[tuple[int, int]] = set()
        self._stacks: dict[int, list[str]] = {}

    # The header.

    def header(
        self,
        processes: Iterable[tuple[str, Mapping[str, Value]]] = (),
        shared: Mapping[str, Value] | None = None,
        extra: Mapping[str, Value] | None = None,
        line: int | None = 1,
    ) -> None:
        fields: dict[str, Any] = dict(extra or {})
        fields["processes"] = [{"name": name, "init": dict(init)} for name, init in processes]
        fields["shared"] = dict(shared or {})
        self.header_fields(fields, line)

    def header_fields(self, fields: Fields, line: int | None = 1) -> None:
        """The same from the decoded object of a header line (its format and version already checked)."""
        self._line = line
        try:
            if len(self._process):
                raise TraceError("the header must stand before all events")
            self._declare_all(fields.get("processes", []))
            self._shared = _variables("shared", fields.get("shared", {}))
            for key, value in fields.items():
                if key not in ("format", "version", "processes", "shared"):
                    check_text(key)
                    check_value(value)
                    self._header[key] = value
        except TraceError as error:
            raise self._placed(error) from None

    def _declare_all(self, processes: Any) -> None:
        if type(processes) is not list:
            raise _wrong("processes", "a list of objects", processes)
        kept: dict[str, Value] = {}
        for entry in processes:
            if type(entry) is not dict:
                raise _wrong("processes", "a list of objects", entry)
            name = entry.get("name")
            if type(name) is str and name in self._process_numbers:
                raise TraceError(f"the header names process {quoted(name)} twice")
            parent = entry.get("parent")
            if parent is not None:
                _check_string("parent", parent)
            init = _variables("init", entry.get("init", {}))
            number = self._new_process(name, init, declared=True, parent=parent)
            rest = {key: value for key, value in entry.items() if key not in ("name", "init", "parent")}
            if rest:
                check_value(rest)
                kept[self._process_names[number]] = rest
        if kept:
            self._header["processes"] = kept

    def _new_process(
        self, name: Any, init: Mapping[str, Value], *, declared: bool, parent: str | None
    ) -> int:
        if type(name) is not str:
            raise _wrong("name" if declared else "p", "the name of a process, a string", name)
        if not name:
            raise TraceError("the name of a process is empty")
        check_text(name)
        number = self._process_numbers[name] = len(self._processes)
        self._process_names.append(name)
        self._processes.append(Process(name, init, declared, parent))
        self._deliveries.arrived(name, number)
        return number

    # Events.

    def __len__(self) -> int:
        return len(self._process)

    def add(
        self,
        p: str,
        *,
        id: str | None = None,  # noqa: A002
        kind: str = "internal",
        set: Mapping[str, Value] | None = None,  # noqa: A002
        write: Mapping[str, Value] | None = None,
        read: str | Iterable[str] = (),
        msg: str | None = None,
        to: str | Iterable[str] | None = None,
        tag: str | None = None,
        after: str | Iterable[str] = (),
        meet: str | None = None,
        fn: str | None = None,
        at: str | None = None,
        label: str | None = None,
        t: float | None = None,
        parent: str | None = None,
        extra: Mapping[str, Value] | None = None,
        line: int | None = None,
    ) -> int:
        """Adds one event and returns its number."""
        fields: dict[str, Any] = {
            "p": p, "id": id, "kind": kind, "msg": msg, "tag": tag, "meet": meet,
            "fn": fn, "at": at, "label": label, "t": t, "parent": parent,
            "set": set and dict(set), "write": write and dict(write),
            "read": _listed(read), "to": _listed(to), "after": _listed(after),
        }  # fmt: skip
        fields = {key: value for key, value in fields.items() if value is not None}
        fields.setdefault("p", p)
        for key, value in (extra or {}).items():
            fields.setdefault(key, value)
        return self.add_fields(fields, line)

    def add_fields(self, fields: Fields, line: int | None = None) -> int:
        """Adds the event that a decoded line describes: the hot loop of loading."""
        self._line = line
        event = len(self._process)
        try:
            try:
                process = self._process_numbers[fields["p"]]
            except (KeyError, TypeError):
                process = self._process_of_first(fields)
            self._process.append(process)
            if line != event + 2 or self._lines:
                self._put_line(line, event)
            kind = None
            for key, value in fields.items():
                if key == "set":
                    self._put_assignments("set", self._set, value, event)
                elif key == "kind":
                    self._put_kind(value, event)
                    kind = value
                elif key != "p":
                    handler = _HANDLERS.get(key)
                    if handler is None:
                        self._keep(event, key, value)
                    else:
                        handler(self, value, event)
            if kind is not None:
                _ACTIONS.get(kind, TraceBuilder._do_other)(self, fields, event)
            elif "msg" in fields or "to" in fields:
                self._do_internal(fields, event)
        except TraceError as error:
            raise self._placed(error) from None
        return event

    def order(self, earlier: Iterable[int]) -> None:
        """The event that was added last comes after these events too, given by their numbers."""
        event = len(self._process) - 1
        self._after.open(event)
        for number in earlier:
            if not 0 <= number < event:
                raise self._placed(TraceError(f"event {event} cannot come after event {number}"))
            self._after.numbers.append(number)

    def _put_line(self, line: int | None, event: int) -> None:
        if line is not None and not self._lines:
            self._lines.extend(range(2, event + 2))
        if line is not None or self._lines:
            self._lines.append(line or 0)

    def _put_lines(self, line: int, event: int, count: int) -> None:
        """The same for several events on lines one after the other."""
        if not self._lines:
            self._lines.extend(range(2, event + 2))
        self._lines.extend(range(line, line + count))

    def _process_of_first(self, fields: Fields) -> int:
        if "p" not in fields:
            raise TraceError('an event needs "p", its process')
        parent = fields.get("parent")
        if parent is not None:
            _check_string("parent", parent)
        self._newcomer = len(self._process)
        return self._new_process(fields["p"], {}, declared=False, parent=parent)

    def _keep(self, event: int, key: str, value: Value) -> None:
        check_text(key)
        check_value(value)
        self._extra.setdefault(event, {})[key] = value

    def _placed(self, error: TraceError, line: int | None = None) -> TraceError:
        place = self._line if line is None else line
        return TraceError(error.message, file=self.file, line=place, hint=error.hint)

    # One handler a field.

    def _put_write(self, value: Any, event: int) -> None:
        self._put_assignments("write", self._write, value, event)

    def _put_assignments(self, field: str, entries: Entries, value: Any, event: int) -> None:
        if type(value) is not dict:
            raise _wrong(field, "an object of variables and values", value)
        if len(entries.start) == event:
            entries.start.append(len(entries.numbers))
        else:
            entries.open(event)
        numbers = self._strings.numbers
        plain = self._values.plain
        for variable, new in value.items():
            try:
                number = numbers[variable]
            except KeyError:
                number = self._number(field, variable)
            try:
                valued = plain[type(new)][new]
            except KeyError:
                valued = self._values.new(new)
            entries.numbers.append(number)
            entries.values.append(valued)

    def _put_kind(self, value: Any, event: int) -> None:
        number = self._number("kind", value)
        kinds = self._kind
        gap = event - len(kinds)
        if gap:
            kinds.frombytes(bytes(gap * kinds.itemsize))
        kinds.append(number)

    def _put_read(self, value: Any, event: int) -> None:
        self._read.open(event)
        for name in _names("read", value):
            self._read.numbers.append(self._strings.number(name))

    def _put_after(self, value: Any, event: int) -> None:
        self._after.open(event)
        for name in _names("after", value):
            earlier = self._names.find(name)
            if earlier is None or earlier >= event:
                raise TraceError(f'"after" names {quoted(name)}, but no earlier event has that name')
            self._after.numbers.append(earlier)

    def _put_id(self, value: Any, event: int) -> None:
        self._names.give(self._number("id", value), value, event, self._line)

    def _put_meet(self, value: Any, event: int) -> None:
        pair = self._number("meet", value), self._process[event]
        if pair in self._meets:
            raise TraceError(f"two events of process {quoted(self._name_of(event))} in meet {quoted(value)}")
        self._meets.add(pair)
        self._columns["meet"].put(event, pair[0])

    def _put_msg(self, value: Any, event: int) -> None:
        self._columns["msg"].put(event, self._number("msg", value))

    def _put_tag(self, value: Any, event: int) -> None:
        self._columns["tag"].put(event, self._number("tag", value))

    def _put_fn(self, value: Any, event: int) -> None:
        self._columns["fn"].put(event, self._number("fn", value))

    def _put_at(self, value: Any, event: int) -> None:
        self._columns["at"].put(event, self._number("at", value))

    def _put_label(self, value: Any, event: int) -> None:
        self._columns["label"].put(event, self._number("label", value))

    def _put_to(self, value: Any, event: int) -> None:
        names = _names("to", value)
        if len(set(names)) < len(names):
            raise TraceError('"to" names a process twice')

    def _put_t(self, value: Any, event: int) -> None:
        if type(value) is not float and type(value) is not int:
            raise _wrong("t", "a number of seconds", value)
        try:
            seconds = float(value)
        except OverflowError:
            seconds = float("inf")
        if seconds - seconds != 0.0:
            raise TraceError('"t" is not a finite number of seconds')
        self._pad_time(event)
        self._time.append(seconds)

    def _pad_time(self, length: int) -> None:
        gap = length - len(self._time)
        if gap:
            self._time.extend(array("d", (float("nan"),)) * gap)

    def _put_parent(self, value: Any, event: int) -> None:
        _check_string("parent", value)
        if event != self._newcomer:
            self._keep(event, "parent", value)

    def _number(self, field: str, text: Any) -> int:
        """The string number of the text of a field."""
        if type(text) is not str:
            raise _wrong(field, "a string", text)
        found = self._strings.numbers.get(text)
        return self._strings.new(text) if found is None else found

    def _name_of(self, event: int) -> str:
        return self._process_names[self._process[event]]

    # What follows from the kind.

    def _do_internal(self, fields: Fields, event: int) -> None:
        if "msg" in fields:
            raise TraceError("an event with msg needs kind send or receive")
        self._do_other(fields, event)

    def _do_other(self, fields: Fields, event: int) -> None:
        """Keeps a `to` that sends nothing; it must name processes all the same."""
        if "to" in fields:
            self._keep(event, "to", fields["to"])
            for name in _names("to", fields["to"]):
                if name not in self._process_numbers:
                    self._deliveries.awaits(name, self._line)

    def _do_send(self, fields: Fields, event: int) -> None:
        message = NONE
        if "msg" in fields:
            message = self._strings.numbers[fields["msg"]]
            self._deliveries.sent(message, fields["msg"], event)
        if "to" not in fields:
            self._deliveries.open_to_all(event)
            return
        names = _names("to", fields["to"])
        self._deliveries.sent_to(names, self._process_numbers, message, event, self._line)

    def _do_receive(self, fields: Fields, event: int) -> None:
        self._do_other(fields, event)
        if "msg" in fields:
            message, process = self._strings.numbers[fields["msg"]], self._process[event]
            name = self._process_names[process]
            self._deliveries.received(message, fields["msg"], process, name, event)

    def _do_enter(self, fields: Fields, event: int) -> None:
        self._do_other(fields, event)
        if "fn" not in fields:
            raise TraceError("an event of kind enter needs fn")
        self._stacks.setdefault(self._process[event], []).append(fields["fn"])

    def _do_exit(self, fields: Fields, event: int) -> None:
        self._do_other(fields, event)
        if "fn" not in fields:
            raise TraceError("an event of kind exit needs fn")
        stack = self._stacks.get(self._process[event])
        if not stack:
            raise TraceError(f"exit of {quoted(fields['fn'])}, but no function is open")
        if stack[-1] != fields["fn"]:
            raise TraceError(
                f"exit of {quoted(fields['fn'])}, but {quoted(stack[-1])} is the innermost open one"
            )
        stack.pop()

    # The end.

    def finish(self) -> Trace:
        """Checks what only the whole run shows, and hands the columns over."""
        self._check_end()
        count = len(self._process)
        self._kind.frombytes(bytes((count - len(self._kind)) * self._kind.itemsize))
        if self._time:
            self._pad_time(count)
        column = {key: column.padded(count) for key, column in self._columns.items()}
        return Trace(
            processes=tuple(self._processes),
            shared=self._shared,
            strings=self._strings.texts,
            values=self._values.values,
            process=self._process,
            kind=self._kind,
            identifier=self._names.given.padded(count),
            message=column["msg"],
            tag=column["tag"],
            meet=column["meet"],
            function=column["fn"],
            place=column["at"],
            label=column["label"],
            time=self._time or None,
            set_start=self._set.closed(count),
            set_variable=self._set.numbers,
            set_value=self._set.values,
            write_start=self._write.closed(count),
            write_variable=self._write.numbers,
            write_value=self._write.values,
            read_start=self._read.closed(count),
            read_variable=self._read.numbers,
            after_start=self._after.closed(count),
            after_event=self._after.numbers,
            delivery_send=self._deliveries.send,
            delivery_receive=self._deliveries.receive,
            delivery_to=self._deliveries.to,
            header=self._header,
            extra=self._extra,
            file=self.file,
            lines=self._lines or None,
        )

    def _check_end(self) -> None:
        unknown = self._deliveries.unknown()
        if unknown is not None:
            error = TraceError(f'"to" names the unknown process {quoted(unknown[0])}')
            raise self._placed(error, unknown[1])
        clash = self._names.clash()
        if clash is not None:
            error = TraceError(f"two events have the name {quoted(clash[0])}: one has it by default")
            raise self._placed(error, clash[1])


_HANDLERS: Mapping[str, Callable[[TraceBuilder, Any, int], None]] = {
    "id": TraceBuilder._put_id,
    "write": TraceBuilder._put_write,
    "read": TraceBuilder._put_read,
    "msg": TraceBuilder._put_msg,
    "to": TraceBuilder._put_to,
    "tag": TraceBuilder._put_tag,
    "after": TraceBuilder._put_after,
    "meet": TraceBuilder._put_meet,
    "fn": TraceBuilder._put_fn,
    "at": TraceBuilder._put_at,
    "label": TraceBuilder._put_label,
    "t": TraceBuilder._put_t,
    "parent": TraceBuilder._put_parent,
}

FIELDS = frozenset({"p", "set", "kind", *_HANDLERS})
"""The fields of an event that the format knows."""

_ACTIONS: Mapping[str, Callable[[TraceBuilder, Fields, int], None]] = {
    "internal": TraceBuilder._do_internal,
    "send": TraceBuilder._do_send,
    "receive": TraceBuilder._do_receive,
    "enter": TraceBuilder._do_enter,
    "exit": TraceBuilder._do_exit,
}


def _wrong(field: str, expected: str, found: object) -> TraceError:
    return TraceError(f'"{field}" must be {expected}, found {shown(found)}')


def _check_string(field: str, value: Any) -> None:
    if type(value) is not str:
        raise _wrong(field, "a string", value)
    check_text(value)


def _names(field: str, value: Any) -> list[str]:
    """A list of names; one string counts as a list of one."""
    names = [value] if type(value) is str else value
    if type(names) is not list:
        raise _wrong(field, "a name or a list of names", value)
    for name in names:
        if type(name) is not str:
            raise _wrong(field, "a list of names", name)
    return names


def _listed(names: str | Iterable[str] | None) -> str | list[str] | None:
    return names if names is None or isinstance(names, str) else list(names) or None


def _variables(field: str, value: Any) -> dict[str, Value]:
    if type(value) is not dict:
        raise _wrong(field, "an object of variables and values", value)
    check_value(value)
    return value
