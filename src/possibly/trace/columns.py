"""The columnar form: a trace as a file that is mapped instead of read.

Layout, all numbers little-endian: the magic bytes `POSSIBLY`, version (4 bytes), 4 zero bytes, offset and
length of the directory (8 bytes each); then sections, each starting at a multiple of 8; then the
directory, a JSON object: {"events": n, "processes": [[name, init, declared, parent], ...], "shared": {},
"header": {}, "sections": {name: [code, offset, count]}}. A section holds `count` items of the type that
the code says, as in `array`: b, h, i, q signed integers of 1, 2, 4, 8 bytes, d floats, B bytes. Columns
take the narrowest type that fits. Strings, values and extra fields are bytes with a column of their ends
each, and are decoded when somebody asks for them.

A file may come from a stranger: every section is checked to lie inside the file and to have the length
that its place in the trace demands, every index to lie inside its table, so that no reader of the trace
can be led outside. That an index is the right one (a receive after its send) is up to the writer.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, TypeVar, overload

from possibly.errors import TraceError
from possibly.trace.intern import check_text, check_value, decoded
from possibly.trace.lanes import is_ascending, is_within
from possibly.trace.model import Process, Trace, Value
from possibly.trace.streams import replacing, unreadable

MAGIC = b"POSSIBLY"
VERSION = 1
_HEAD = struct.Struct("<8sIIQQ")
_SIZES = {"B": 1, "b": 1, "h": 2, "i": 4, "q": 8, "d": 8}

Item = TypeVar("Item")


class _Rule(NamedTuple):
    """What a column must obey: how long it is and what its items index."""

    length: str
    """`events`, `starts` (one more than events), or the name of the column that it goes along with."""
    table: str
    """What the items are numbers of: processes, strings, values, events, lines, or another column."""
    or_none: bool = False
    is_ascending: bool = False


_OPTIONAL = _Rule("events", "strings", or_none=True)
_RULES: Mapping[str, _Rule] = {
    "process": _Rule("events", "processes"),
    "kind": _Rule("events", "strings"),
    "identifier": _OPTIONAL,
    "message": _OPTIONAL,
    "tag": _OPTIONAL,
    "meet": _OPTIONAL,
    "function": _OPTIONAL,
    "place": _OPTIONAL,
    "label": _OPTIONAL,
    "lines": _Rule("events", "lines"),
    "set_variable": _Rule("any", "strings"),
    "set_value": _Rule("set_variable", "values"),
    "set_start": _Rule("starts", "set_variable", is_ascending=True),
    "write_variable": _Rule("any", "strings"),
    "write_value": _Rule("write_variable", "values"),
    "write_start": _Rule("starts", "write_variable", is_ascending=True),
    "read_variable": _Rule("any", "strings"),
    "read_start": _Rule("starts", "read_variable", is_ascending=True),
    "after_event": _Rule("any", "events"),
    "after_start": _Rule("starts", "after_event", is_ascending=True),
    "delivery_send": _Rule("any", "events", is_ascending=True),
    "delivery_receive": _Rule("delivery_send", "events", or_none=True),
    "delivery_to": _Rule("delivery_send", "processes", or_none=True),
}
_MANY = (
    "process", "kind", "set_variable", "set_value", "write_variable", "write_value",
    "read_variable", "after_event", "delivery_send", "delivery_receive", "delivery_to",
)  # fmt: skip
"""Columns that are empty, not None, where nobody uses them."""


# Writing.


def write_columns(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Writes the whole trace or nothing."""
    with replacing(path) as stream:
        writer = _Writer(stream)
        for name in _RULES:
            column = getattr(trace, name)
            if column is not None and len(column):
                writer.column(name, column)
        if trace.time is not None:
            writer.section("time", array("d", trace.time))
        writer.texts("string", trace.strings)
        writer.texts("value", map(_encoded, trace.values))
        if trace.extra:
            events = sorted(trace.extra)
            writer.column("extra_event", events)
            writer.texts("extra", (_encoded(trace.extra[event]) for event in events))
        writer.finish(_about(trace))


def _encoded(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _about(trace: Trace) -> dict[str, Any]:
    processes = [[p.name, dict(p.init), p.declared, p.parent] for p in trace.processes]
    return {
        "events": len(trace),
        "processes": processes,
        "shared": dict(trace.shared),
        "header": dict(trace.header),
    }


class _Writer:
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._sections: dict[str, tuple[str, int, int]] = {}
        self._stream.write(bytes(_HEAD.size))
        self._at = _HEAD.size

    def column(self, name: str, numbers: Sequence[int]) -> None:
        self.section(name, _narrow(numbers))

    def section(self, name: str, items: array[Any]) -> None:
        start = self._align()
        if sys.byteorder == "big":
            items = items[:]
            items.byteswap()
        self._write(memoryview(items).cast("B"))
        self._sections[name] = (items.typecode, start, len(items))

    def texts(self, name: str, texts: Iterable[str]) -> None:
        """The texts one after the other, and where each ends."""
        start = self._align()
        ends = array("q")
        block: list[bytes] = []
        end = 0
        for text in texts:
            block.append(text.encode())
            end += len(block[-1])
            ends.append(end)
            if len(block) == 4096:
                self._write(b"".join(block))
                block.clear()
        self._write(b"".join(block))
        self._sections[f"{name}_text"] = ("B", start, end)
        self.column(f"{name}_end", ends)

    def finish(self, about: dict[str, Any]) -> None:
        start = self._align()
        directory = _encoded(about | {"sections": self._sections}).encode()
        self._write(directory)
        self._stream.seek(0)
        self._stream.write(_HEAD.pack(MAGIC, VERSION, 0, start, len(directory)))

    def _align(self) -> int:
        self._write(bytes(-self._at % 8))
        return self._at

    def _write(self, data: bytes | memoryview) -> None:
        self._stream.write(data)
        self._at += len(data)


def _narrow(numbers: Sequence[int]) -> array[int]:
    least, greatest = (min(numbers), max(numbers)) if len(numbers) else (0, 0)
    for code in "bhi":
        bound = 1 << (8 * _SIZES[code] - 1)
        if -bound <= least and greatest < bound:
            return array(code, numbers)
    return array("q", numbers)


# Reading.


def read_columns(path: str | os.PathLike[str], *, file: str | None = None) -> Trace:
    """Maps the file; `file` is the name that the trace and its errors carry, by default the path."""
    name = os.fspath(path) if file is None else file
    try:
        view = _mapped(path)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None
    try:
        return _Mapped(view, name).trace()
    except TraceError as error:
        raise TraceError(error.message, file=name, hint=error.hint) from None


def _mapped(path: str | os.PathLike[str]) -> memoryview:
    import mmap

    with open(path, "rb") as stream:
        if os.fstat(stream.fileno()).st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def _damaged(what: str) -> TraceError:
    return TraceError(f"the columnar trace is damaged: {what}")


class _Mapped:
    """The checked content of a mapped file."""

    def __init__(self, view: memoryview, file: str) -> None:
        self._view = view
        self._file = file
        about = self._directory()
        self._sections = _typed(about, "sections", dict)
        self._events = _typed(about, "events", int)
        self._processes = tuple(map(_process, _typed(about, "processes", list)))
        if len({process.name for process in self._processes}) != len(self._processes):
            raise _damaged("two processes have the same name")
        self._shared: dict[str, Value] = _typed(about, "shared", dict)
        self._header: dict[str, Value] = _typed(about, "header", dict)
        check_value([self._shared, self._header])
        if not all(isinstance(kept, dict) for kept in _kept(self._header).values()):
            raise _damaged("the header is malformed")

    def _directory(self) -> dict[str, Any]:
        if len(self._view) < _HEAD.size:
            raise _damaged("it ends too early")
        magic, version, _, start, length = _HEAD.unpack_from(self._view)
        if magic != MAGIC:
            raise TraceError("not a columnar trace")
        if version > VERSION:
            raise TraceError(f"version {version} is newer than {VERSION}", hint="upgrade possibly")
        if version < 1 or start < _HEAD.size or start + length > len(self._view):
            raise _damaged("its directory lies outside the file")
        about = decoded(_utf8(self._view[start : start + length]))
        if type(about) is not dict:
            raise _damaged("its directory is not an object")
        return about

    def trace(self) -> Trace:
        strings = self._table("string", str)
        values = self._table("value", _value)
        limits = {"events": self._events, "starts": self._events + 1, "lines": 1 << 31}
        limits |= {"processes": len(self._processes), "strings": len(strings), "values": len(values)}
        columns: dict[str, Any] = {}
        for name, rule in _RULES.items():
            column = self._column(name, rule, limits)
            limits[name] = 0 if column is None else len(column)
            columns[name] = () if column is None and name in _MANY else column
        return Trace(
            processes=self._processes,
            shared=self._shared,
            strings=strings,
            values=values,
            time=self._time(),
            header=self._header,
            extra=self._extra(),
            file=self._file,
            **columns,
        )

    def _column(self, name: str, rule: _Rule, limits: Mapping[str, int]) -> memoryview | array[int] | None:
        column = self._section(name, "bhi")
        if column is None:
            is_needed = limits.get(rule.length, 0) if name in _MANY else 0
            is_needed = is_needed or (limits[rule.table] if rule.length == "starts" else 0)
            if is_needed:
                raise _damaged(f"column {name} is missing")
            return None
        if len(column) != limits.get(rule.length, len(column)):
            raise _damaged(f"column {name} has the wrong length")
        is_start = rule.length == "starts"
        if not is_within(column, limits[rule.table] + is_start, or_none=rule.or_none):
            raise _damaged(f"column {name} has an entry out of range")
        if rule.is_ascending and not is_ascending(column):
            raise _damaged(f"column {name} does not ascend")
        if is_start and (column[0] != 0 or column[-1] != limits[rule.table]):
            raise _damaged(f"column {name} does not cover its entries")
        return column

    def _section(self, name: str, codes: str) -> memoryview | array[Any] | None:
        """The items of a section, None if there is no such section."""
        entry = self._sections.get(name)
        if entry is None:
            return None
        match entry:
            case [str(code), int(start), int(count)] if code in codes and len(code) == 1:
                end = start + count * _SIZES[code]
                if count < 0 or start < _HEAD.size or start % 8 or end > len(self._view):
                    raise _damaged(f"section {name} lies outside the file")
                return _items(self._view[start:end], code)
            case _:
                raise _damaged(f"section {name} is malformed")

    def _table(self, name: str, decode: Callable[[str], Item]) -> _Table[Item]:
        texts, ends = self._section(f"{name}_text", "B"), self._section(f"{name}_end", "bhiq")
        if not isinstance(texts, memoryview) or ends is None:
            raise _damaged(f"the {name} table is missing")
        is_good = is_within(ends, len(texts) + 1) and is_ascending(ends)
        if not is_good or (ends[-1] if len(ends) else 0) != len(texts):
            raise _damaged(f"the {name} table is malformed")
        return _Table(texts, ends, decode, self._file)

    def _time(self) -> Sequence[float] | None:
        time = self._section("time", "d")
        if time is not None and len(time) != self._events:
            raise _damaged("column time has the wrong length")
        return time

    def _extra(self) -> Mapping[int, Mapping[str, Value]]:
        events = self._section("extra_event", "bhi")
        if events is None:
            return {}
        table = self._table("extra", _fields)
        if len(events) != len(table) or not is_within(events, self._events) or not is_ascending(events):
            raise _damaged("the extra fields are malformed")
        return _Extra(events, table)


def _items(view: memoryview, code: str) -> memoryview | array[Any]:
    if sys.byteorder == "little" or code == "B":
        return view.cast(code)  # type: ignore[call-overload, no-any-return]
    items: array[Any] = array(code, view.tobytes())
    items.byteswap()
    return items


def _typed(about: dict[str, Any], key: str, kind: type[Item]) -> Item:
    found = about.get(key)
    if type(found) is not kind or (kind is int and not 0 <= found < 1 << 31):  # type: ignore[operator]
        raise _damaged(f"its directory has no proper entry {key}")
    return found


def _kept(header: Mapping[str, Value]) -> dict[str, Value]:
    kept = header.get("processes", {})
    if type(kept) is not dict:
        raise _damaged("the header is malformed")
    return kept


def _process(entry: Any) -> Process:
    match entry:
        case [str(name), dict(init), bool(declared), None | str() as parent] if name:
            check_value([name, init, parent])
            return Process(name, init, declared, parent)
        case _:
            raise _damaged("a process is malformed")


def _utf8(data: memoryview) -> str:
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        raise _damaged("a text is not UTF-8") from None


def _value(text: str) -> Value:
    value = decoded(text)
    check_value(value)
    return value


def _fields(text: str) -> Mapping[str, Value]:
    fields = _value(text)
    if type(fields) is not dict:
        raise _damaged("extra fields are not an object")
    for key in fields:
        check_text(key)
    return fields


class _Table(Sequence[Item]):
    """Texts in a mapped file, each decoded when first asked for."""

    def __init__(self, texts: memoryview, ends: Any, decode: Callable[[str], Item], file: str) -> None:
        self._texts = texts
        self._ends = ends
        self._decode = decode
        self._file = file
        self._known: dict[int, Item] = {}

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        try:
            return self._known[index]
        except KeyError:
            return self._new(range(len(self))[index])

    def _new(self, number: int) -> Item:
        start = self._ends[number - 1] if number else 0
        try:
            item = self._decode(_utf8(self._texts[start : self._ends[number]]))
        except TraceError as error:
            raise TraceError(error.message, file=self._file) from None
        self._known[number] = item
        return item


class _Extra(Mapping[int, Mapping[str, Value]]):
    """Fields that the format does not know, by event."""

    def __init__(self, events: Any, table: Sequence[Mapping[str, Value]]) -> None:
        self._events = events
        self._table = table

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[int]:
        return iter(self._events)

    def __getitem__(self, event: int) -> Mapping[str, Value]:
        row = bisect_left(self._events, event)
        if row == len(self._events) or self._events[row] != event:
            raise KeyError(event)
        return self._table[row]
