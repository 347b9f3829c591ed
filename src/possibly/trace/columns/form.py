"""The columnar form: a trace as a file that is mapped instead of read.

Layout, all numbers little-endian: the magic bytes `POSSIBLY`, version (4 bytes), 4 zero bytes, offset and
length of the directory (8 bytes each); then sections, each starting at a multiple of 8; then the
directory, a JSON object: {"events": n, "processes": [[name, init, declared, parent], ...], "shared": {},
"header": {}, "sections": {name: [code, offset, count]}}. A section holds `count` items of the type that
the code says, as in `array`: b, h, i, q signed integers of 1, 2, 4, 8 bytes, I, Q unsigned ones, d
floats, B bytes. Columns take the narrowest type that fits. Strings, values and extra fields are bytes with
a column of their ends each, and are decoded when somebody asks for them. The arrangement by process (see
`index`) follows: `length`, the links `receive_...` and `send_...`, the courses `course_...`; a file
without it has it computed from the columns.

Nothing is read before it is needed: a trace of 10^8 events opens at once, and a check touches the few bytes
an event that it asks about. A file may come from a stranger: every section is checked to lie inside the
file and to have the length that its place in the trace demands when the file is opened, every index to
lie inside its table when its column is first used, so that no reader of the trace can be led outside.
That an index is the right one (a receive after its send) is up to the writer.
"""

from __future__ import annotations

import json
import os
import sys
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate

from possibly.trace.columns.layout import HEAD, MAGIC, RULES, SIZES, VERSION
from possibly.trace.columns.mapped import read_columns
from possibly.trace.index import code_for
from possibly.trace.model import Trace, Value
from possibly.trace.streams import replacing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

__all__ = ["read_columns", "write_columns"]


def write_columns(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Writes the whole trace or nothing."""
    with replacing(path) as stream:
        writer = _Writer(stream)
        for name in RULES:
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
        _write_index(writer, trace)
        writer.finish(_about(trace))


def _write_index(writer: _Writer, trace: Trace) -> None:
    """The arrangement by process."""
    writer.section("length", array("i", trace.lengths))
    for name, found in (("receive", trace.receives), ("send", trace.sends)):
        writer.section(f"{name}_start", array("i", found.start))
        writer.section(f"{name}_position", array("i", found.position))
        writer.section(f"{name}_end", array(code_for(found.shift, len(trace.processes)), found.end))
    courses = sorted(trace.courses.items())
    writer.column("course_process", [process for (process, _), _ in courses])
    writer.column("course_variable", [variable for (_, variable), _ in courses])
    writer.column("course_position_end", list(accumulate(len(c.position or ()) for _, c in courses)))
    writer.column("course_number_end", list(accumulate(len(course.number) for _, course in courses)))
    writer.sections("course_position", "i", (course.position or () for _, course in courses))
    code = courses[0][1].number.typecode if courses else "b"  # type: ignore[attr-defined]
    writer.sections("course_number", code, (course.number for _, course in courses))


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
        self._stream.write(bytes(HEAD.size))
        self._at = HEAD.size

    def column(self, name: str, numbers: Sequence[int]) -> None:
        self.section(name, _narrow(numbers))

    def section(self, name: str, items: array[Any]) -> None:
        start = self._align()
        if sys.byteorder == "big":
            items = items[:]
            items.byteswap()
        self._write(memoryview(items).cast("B"))
        self._sections[name] = (items.typecode, start, len(items))

    def sections(self, name: str, code: str, parts: Iterable[Sequence[int]]) -> None:
        """Several arrays of one type, one after the other, as one section."""
        whole: array[Any] = array(code)
        for part in parts:
            whole.extend(array(code, part))
        self.section(name, whole)

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
        self._stream.write(HEAD.pack(MAGIC, VERSION, 0, start, len(directory)))

    def _align(self) -> int:
        self._write(bytes(-self._at % 8))
        return self._at

    def _write(self, data: bytes | memoryview) -> None:
        self._stream.write(data)
        self._at += len(data)


def _narrow(numbers: Sequence[int]) -> array[int]:
    least, greatest = (min(numbers), max(numbers)) if len(numbers) else (0, 0)
    for code in "bhi":
        bound = 1 << (8 * SIZES[code] - 1)
        if -bound <= least and greatest < bound:
            return array(code, numbers)
    return array("q", numbers)
