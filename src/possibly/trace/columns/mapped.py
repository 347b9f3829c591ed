"""Reading the columnar form: the file is mapped, and looked at where somebody asks.

Here belongs the reader; `columns` describes the form and writes it. Sections are checked when the file is
opened as far as that needs no look at any event, the rest when a column is first used; every error is a
`TraceError` that names the file.
"""

from __future__ import annotations

import os
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from possibly.errors import TraceError
from possibly.trace.columns.lanes import is_ascending, is_within
from possibly.trace.columns.layout import HEAD, INDEX, MAGIC, MANY, RULES, SIZES, VERSION, Rule
from possibly.trace.index import Course, Courses, Links, code_for, shift_for
from possibly.trace.intern import check_text, check_value, decoded
from possibly.trace.model import Ints, Process, Trace, Value
from possibly.trace.streams import unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, TypeVar, overload

    Item = TypeVar("Item")
else:
    Item = object


def read_columns(path: str | os.PathLike[str], *, file: str | None = None) -> Trace:
    """Maps the file; `file` is the name that the trace and its errors carry, by default the path."""
    name = os.fspath(path) if file is None else file
    try:
        view = _mapped(path)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None
    try:
        return _trace(_Mapped(view, name))
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
        self.file = file
        about = self._directory()
        self._sections = _typed(about, "sections", dict)
        self.events = _typed(about, "events", int)
        self.processes = tuple(map(_process, _typed(about, "processes", list)))
        check_value([part for it in self.processes for part in (it.name, it.init, it.parent)])
        if len({process.name for process in self.processes}) != len(self.processes):
            raise _damaged("two processes have the same name")
        self._shared: dict[str, Value] = _typed(about, "shared", dict)
        self._header: dict[str, Value] = _typed(about, "header", dict)
        check_value([self._shared, self._header])
        if not all(isinstance(kept, dict) for kept in _kept(self._header).values()):
            raise _damaged("the header is malformed")

    def _directory(self) -> dict[str, Any]:
        if len(self._view) < HEAD.size:
            raise _damaged("it ends too early")
        magic, version, _, start, length = HEAD.unpack_from(self._view)
        if magic != MAGIC:
            raise TraceError("not a columnar trace")
        if version > VERSION:
            raise TraceError(f"version {version} is newer than {VERSION}", hint="upgrade possibly")
        if version < 1 or start < HEAD.size or start + length > len(self._view):
            raise _damaged("its directory lies outside the file")
        about = decoded(_utf8(self._view[start : start + length]))
        if type(about) is not dict:
            raise _damaged("its directory is not an object")
        return about

    @cached_property
    def strings(self) -> Sequence[str]:
        return self._table("string", str)

    @cached_property
    def values(self) -> Sequence[Value]:
        return self._table("value", _value)

    def facts(self) -> dict[str, Any]:
        """What of a trace is at hand without looking at any event."""
        return {
            "processes": self.processes,
            "shared": self._shared,
            "strings": self.strings,
            "values": self.values,
            "time": self._time(),
            "header": self._header,
            "extra": self._extra(),
            "file": self.file,
        }

    @cached_property
    def _limits(self) -> Mapping[str, int]:
        """How long columns must be, and what their items must stay below."""
        found = {"events": self.events, "starts": self.events + 1, "line numbers": 1 << 31}
        found |= {"processes": len(self.processes), "strings": len(self.strings), "values": len(self.values)}
        for name, rule in RULES.items():
            found[name] = self._length(name, rule, found)
        return found

    def _length(self, name: str, rule: Rule, limits: Mapping[str, int]) -> int:
        """The length of a column, which must be as it has to be."""
        column = self._section(name, "bhi")
        if column is None:
            is_needed = limits.get(rule.length, 0) if name in MANY else 0
            is_needed = is_needed or (limits[rule.table] if rule.length == "starts" else 0)
            if is_needed:
                raise _damaged(f"column {name} is missing")
            return 0
        if len(column) != limits.get(rule.length, len(column)):
            raise _damaged(f"column {name} has the wrong length")
        return len(column)

    def check(self) -> None:
        """All that can be checked without looking at any event."""
        assert self._limits
        self._index_sections()

    def column(self, name: str) -> Ints | None:
        """The items of a column, checked."""
        column, rule, limits = self._section(name, "bhi"), RULES[name], self._limits
        if column is None:
            return () if name in MANY else None
        is_start = rule.length == "starts"
        if not is_within(column, limits[rule.table] + is_start, or_none=rule.or_none):
            raise _damaged(f"column {name} has an entry out of range")
        if rule.is_ascending and not is_ascending(column):
            raise _damaged(f"column {name} does not ascend")
        if is_start and (column[0] != 0 or column[-1] != limits[rule.table]):
            raise _damaged(f"column {name} does not cover its entries")
        return column

    # The arrangement by process.

    def _index_sections(self) -> Mapping[str, Any]:
        """All sections of the arrangement, or none."""
        found: dict[str, Any] = {name: self._section(name, codes) for name, codes in INDEX.items()}
        if any(section is None for section in found.values()):
            if any(section is not None for section in found.values()):
                raise _damaged("its arrangement by process is incomplete")
            return {}
        count = len(self.processes)
        for name in ("receive", "send"):
            if len(found[f"{name}_start"]) != count + 1:
                raise _damaged(f"section {name}_start has the wrong length")
            if len(found[f"{name}_position"]) != len(found[f"{name}_end"]):
                raise _damaged(f"section {name}_end has the wrong length")
        if len(found["length"]) != count:
            raise _damaged("section length has the wrong length")
        parts = ("process", "variable", "position_end", "number_end")
        if len({len(found[f"course_{name}"]) for name in parts}) > 1:
            raise _damaged("the courses are malformed")
        return found

    @cached_property
    def index(self) -> Mapping[str, Any]:
        return self._index_sections()

    def lengths(self) -> Ints | None:
        length: Any = self.index.get("length")
        if length is None:
            return None
        if not is_within(length, self.events + 1) or sum(length) != self.events:
            raise _damaged("the lengths of the processes do not add up to the events")
        return array("i", length)

    def links(self, name: str, lengths: Ints) -> Links | None:
        """Not checked in full: who follows a link has to see that it ends inside the trace."""
        if not self.index:
            return None
        start, position, end = (self.index[f"{name}_{part}"] for part in ("start", "position", "end"))
        shift = shift_for(lengths)
        is_good = is_within(start, len(position) + 1) and is_ascending(start)
        if not is_good or start[0] != 0 or start[-1] != len(position):
            raise _damaged(f"section {name}_start does not cover its links")
        if end.itemsize != array(code_for(shift, len(lengths))).itemsize:
            raise _damaged(f"section {name}_end has items of the wrong size")
        return Links(start, position, end, shift)

    def courses(self, trace: MappedTrace) -> Courses | None:
        if not self.index:
            return None
        process, variable = self.index["course_process"], self.index["course_variable"]
        ends = self.index["course_position_end"], self.index["course_number_end"]
        items = self.index["course_position"], self.index["course_number"]
        is_good = is_within(process, len(self.processes)) and is_within(variable, len(self.strings))
        for end, whole in zip(ends, items, strict=True):
            is_good = is_good and is_within(end, len(whole) + 1) and is_ascending(end)
            is_good = is_good and (end[-1] if len(end) else 0) == len(whole)
        if not is_good:
            raise _damaged("the courses are malformed")
        return _Courses(trace, self.index)

    def _section(self, name: str, codes: str) -> memoryview | array[Any] | None:
        """The items of a section, None if there is no such section."""
        entry = self._sections.get(name)
        if entry is None:
            return None
        match entry:
            case [str(code), int(start), int(count)] if code in codes and len(code) == 1:
                end = start + count * SIZES[code]
                if count < 0 or start < HEAD.size or start % 8 or end > len(self._view):
                    raise _damaged(f"section {name} lies outside the file")
                return _items(self._view[start:end], code)
            case _:
                raise _damaged(f"section {name} is malformed")

    def _table(self, name: str, decode: Callable[[str], Item]) -> _Table[Item]:
        texts, ends = self._section(f"{name}_text", "B"), self._section(f"{name}_end", "bhiq")
        if not isinstance(texts, memoryview) or ends is None:
            raise _damaged(f"the {name} table is missing")
        if (ends[-1] if len(ends) else 0) != len(texts):
            raise _damaged(f"the {name} table is malformed")
        return _Table(texts, ends, decode, self.file)

    def _time(self) -> Sequence[float] | None:
        time = self._section("time", "d")
        if time is not None and len(time) != self.events:
            raise _damaged("column time has the wrong length")
        return time

    def _extra(self) -> Mapping[int, Mapping[str, Value]]:
        events = self._section("extra_event", "bhi")
        if events is None:
            return {}
        table = self._table("extra", _fields)
        if len(events) != len(table) or not is_within(events, self.events) or not is_ascending(events):
            raise _damaged("the extra fields are malformed")
        return _Extra(events, table)


class MappedTrace(Trace):
    """A trace whose columns are looked at, and checked, when somebody asks for them."""

    _mapped: ClassVar[_Mapped]

    def __len__(self) -> int:
        return self._mapped.events

    def __repr__(self) -> str:
        return f"MappedTrace({self.file!r}, events={len(self)})"

    def checked(self, made: Callable[[], Item]) -> Item:
        """What `made` yields; an error names the file."""
        try:
            return made()
        except TraceError as error:
            raise TraceError(error.message, file=self.file, hint=error.hint) from None

    @cached_property
    def lengths(self) -> Ints:
        found = self.checked(self._mapped.lengths)
        return super().lengths if found is None else found

    @cached_property
    def receives(self) -> Links:
        found = self.checked(lambda: self._mapped.links("receive", self.lengths))
        return super().receives if found is None else found

    @cached_property
    def sends(self) -> Links:
        found = self.checked(lambda: self._mapped.links("send", self.lengths))
        return super().sends if found is None else found

    @cached_property
    def courses(self) -> Courses:
        found = self.checked(lambda: self._mapped.courses(self))
        return super().courses if found is None else found


class _Lazy:
    """A column of a mapped trace, kept in the instance once it is checked."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, trace: MappedTrace, owner: type) -> Ints | None:
        found = trace.checked(lambda: trace._mapped.column(self.name))
        trace.__dict__[self.name] = found
        return found


for _name in RULES:
    setattr(MappedTrace, _name, _Lazy(_name))


def _trace(mapped: _Mapped) -> Trace:
    mapped.check()
    trace = MappedTrace.__new__(MappedTrace)
    trace.__dict__.update(mapped.facts())
    trace.__dict__["_mapped"] = mapped
    return trace


class _Courses(Mapping[tuple[int, int], Course]):
    """The courses of a mapped trace, each checked when first asked for, except for its numbers."""

    def __init__(self, trace: MappedTrace, index: Mapping[str, Any]) -> None:
        self._trace = trace
        self._index = index
        keys = zip(index["course_process"], index["course_variable"], strict=True)
        self._rows = {key: row for row, key in enumerate(keys)}
        self._known: dict[tuple[int, int], Course] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._rows)

    def __getitem__(self, key: tuple[int, int]) -> Course:
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._trace.checked(lambda: self._course(key))
        return known

    def _course(self, key: tuple[int, int]) -> Course:
        length, row = self._trace.lengths[key[0]], self._rows[key]
        position, number = self._part("position", row), self._part("number", row)
        if not len(position):
            is_good = len(number) == length
            position = None
        else:
            is_good = len(number) == len(position) and position[0] > 0
            is_good = is_good and is_within(position, length + 1) and is_ascending(position)
        if not is_good:
            raise _damaged("a course is malformed")
        return Course(position, number)

    def _part(self, name: str, row: int) -> Any:
        ends = self._index[f"course_{name}_end"]
        return self._index[f"course_{name}"][ends[row - 1] if row else 0 : ends[row]]


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
        self.file = file
        self._known: dict[int, Item] = {}

    def __len__(self) -> int:
        return len(self._ends)

    if TYPE_CHECKING:

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
        start, end = self._ends[number - 1] if number else 0, self._ends[number]
        try:
            if not 0 <= start <= end <= len(self._texts):
                raise _damaged("a table is malformed")
            item = self._decode(_utf8(self._texts[start:end]))
        except TraceError as error:
            raise TraceError(error.message, file=self.file) from None
        self._known[number] = item
        return item


class _Extra(Mapping[int, Mapping[str, Value]]):
    """Fields that the format does not know, by event."""

    def __init__(self, events: Any, table: Sequence[Mapping[str, Value]]) -> None:
        self.events = events
        self._table = table

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[int]:
        return iter(self.events)

    def __getitem__(self, event: int) -> Mapping[str, Value]:
        row = bisect_left(self.events, event)
        if row == len(self.events) or self.events[row] != event:
            raise KeyError(event)
        return self._table[row]
