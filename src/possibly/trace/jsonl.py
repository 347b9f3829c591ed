"""The trace file: JSON Lines, a header line and one event a line, plain or compressed.

Here belongs the text form, in both directions; what a line may say is decided by `build`.
Reading streams: pieces become blocks of whole lines. Lines of the usual form are read by `_jsonl.c`, if it
was built (see `compiled`); each other line is decoded by the standard library's C scanner, or by msgspec in
files big enough to repay its import, and added by the builder. msgspec accepts a subset of what the scanner
does, with equal results; whatever it refuses, the scanner decodes again, so that results and messages do
not depend on the size of the file. No line may be longer than `LINE_LIMIT`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from possibly.errors import TraceError
from possibly.trace.build import TraceBuilder
from possibly.trace.compiled import CompiledLines, kernels
from possibly.trace.intern import SCAN, decoded, shown
from possibly.trace.model import NONE, Ints, Trace
from possibly.trace.streams import Source, compressed, opened, replacing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = "possibly-trace"
VERSION = 1
LINE_LIMIT = 64 << 20
"""Bytes; a line that is longer is refused before it fills the memory."""
BIG = 2 << 20
"""From this many bytes on the faster decoder is worth the time of its import."""

_INFINITE = float("inf")
_PATIENCE = 10
"""The compiled reader is asked again after at most 2 to that power lines that it gave up."""

Progress = Callable[[int, int], None]


def read_trace(source: Source, *, progress: Progress | None = None) -> Trace:
    """The trace in a file of JSON Lines, a path or an open binary file."""
    with opened(source) as stream:
        reader = _Reader(stream.file)
        if stream.total >= BIG:
            reader.hurry()
        for block in reader.blocks(stream.pieces()):
            reader.read(block)
            if progress is not None:
                progress(stream.done, stream.total)
        return reader.finish()


def read_pieces(name: str, pieces: Iterable[bytes]) -> Trace:
    """The trace in pieces of bytes, the header first; the name is for errors."""
    reader = _Reader(name)
    for block in reader.blocks(pieces):
        reader.read(block)
    return reader.finish()


class _Reader:
    """Takes blocks of whole lines and feeds the builder."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._builder = TraceBuilder(file)
        self._line = 1
        self._is_started = False
        self._is_cut_off = False
        self._read_bytes = 0
        self._fast: Callable[[bytes], Any] | None = None
        kernel = kernels()
        self._compiled = None if kernel is None else CompiledLines(self._builder, kernel)
        self._fruitless = 0
        """How many times in a row the compiled reader gave up at once."""

    def hurry(self) -> None:
        """Decodes with msgspec from now on, if it is there."""
        try:
            import msgspec
        except ImportError:
            return
        self._fast = msgspec.json.Decoder().decode

    def blocks(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Whole lines without the last newline, as many as a piece holds."""
        parts: list[bytes] = []
        size = 0
        for piece in pieces:
            end = piece.rfind(b"\n")
            if end >= 0:
                parts.append(piece[:end])
                yield b"".join(parts)
                parts, size = [], 0
            rest = piece[end + 1 :]
            parts.append(rest)
            size += len(rest)
            if size > LINE_LIMIT:
                raise self._error(f"the line is longer than {LINE_LIMIT >> 20} MiB")
        self._is_cut_off = True
        yield b"".join(parts)

    def read(self, block: bytes) -> None:
        if self._line == 1:
            block = block.removeprefix(b"\xef\xbb\xbf")
        self._read_bytes += len(block)
        if self._compiled is not None and block:
            self._read_compiled(block, self._compiled)
        else:
            if self._compiled is not None:
                self._compiled.take()
            self._read_lines(block)
        if self._fast is None and self._read_bytes >= BIG:
            self.hurry()

    def _read_lines(self, block: bytes) -> None:
        if self._fast is not None:
            self._read_fast(block, self._fast)
        else:
            self._read_plain(self._decoded(block))

    def _read_compiled(self, block: bytes, compiled: CompiledLines) -> None:
        """By turns: lines of the usual form, and those between them, several if they come thick."""
        # A last line that is empty is a line too: only then it needs an end of its own.
        text = block + b"\n" if block.endswith(b"\n") else block
        at, end = 0, len(text)
        while at < end:
            count = 0
            if self._is_started:
                at, count = compiled.read(text, at, self._line)
                self._line += count
            self._fruitless = 0 if count else min(self._fruitless + 1, _PATIENCE)
            if at < end:
                stop = self._after_lines(text, at, 1 << self._fruitless >> 1)
                compiled.hand_back()
                self._read_lines(text[at : stop - 1])
                at = stop

    @staticmethod
    def _after_lines(text: bytes, at: int, count: int) -> int:
        for _ in range(max(1, count)):
            at = text.find(b"\n", at) + 1
            if at == 0:
                return len(text) + 1
            if at == len(text):
                break
        return at

    def _read_fast(self, block: bytes, decode: Callable[[bytes], Any]) -> None:
        import msgspec

        add = self._builder.add_fields
        for line, text in enumerate(block.split(b"\n"), self._line):
            try:
                fields = decode(text)
            except (msgspec.MsgspecError, RecursionError, ValueError):
                self._line = line
                fields = self._carefully(self._decoded(text))
            if type(fields) is not dict:
                self._check_blank(fields, line)
            elif self._is_started:
                add(fields, line)
            else:
                self._start(fields, line)
        self._line = line + 1

    def _read_plain(self, block: str) -> None:
        scan = SCAN
        add = self._builder.add_fields
        for line, text in enumerate(block.split("\n"), self._line):
            try:
                fields, end = scan(text, 0)
            except (StopIteration, ValueError, RecursionError, TraceError):
                end = -1
            if end != len(text):
                self._line = line
                fields = self._carefully(text)
            if type(fields) is not dict:
                self._check_blank(fields, line)
            elif self._is_started:
                add(fields, line)
            else:
                self._start(fields, line)
        self._line = line + 1

    def _start(self, fields: Mapping[str, Any], line: int) -> None:
        self._line = line
        if "format" not in fields:
            raise self._error('the first line is not a header, which has "format"', f'expected "{FORMAT}"')
        if fields["format"] != FORMAT:
            raise self._error(f'"format" must be "{FORMAT}", found {shown(fields["format"])}')
        version = fields.get("version")
        if type(version) is not int or version < 1:
            raise self._error(f'"version" must be a positive integer, found {shown(version)}')
        if version > VERSION:
            raise self._error(f"version {shown(version)[11:]} is newer than {VERSION}", "upgrade possibly")
        self._builder.header_fields(fields, line)
        self._is_started = True

    def finish(self) -> Trace:
        if not self._is_started:
            self._line = 1
            raise self._error("the file is empty, expected a header line")
        if self._compiled is not None:
            self._compiled.take()
        return self._builder.finish()

    # Errors. Here speed does not matter.

    def _decoded(self, block: bytes) -> str:
        try:
            return block.decode()
        except UnicodeDecodeError as error:
            start = block.rfind(b"\n", 0, error.start) + 1
            if start:
                self._read_plain(block[: start - 1].decode())  # what is wrong there is told first
            column = len(block[start : error.start].decode(errors="replace")) + 1
            raise self._error("the text is not UTF-8", column=column) from None

    def _carefully(self, text: str) -> Any:
        """Decodes a line again, to say what is wrong with it, or because it has blanks around."""
        if not text.strip(" \t\r"):
            return _BLANK
        try:
            return decoded(text)
        except TraceError as error:
            if error.column is not None and not self._is_started:
                error.message = "not a trace: the first line is not JSON"
            hint = "the file ends in the middle of a line" if error.column and self._is_cut_off else None
            raise self._error(error.message, hint, error.column) from None

    def _check_blank(self, found: Any, line: int) -> None:
        if found is not _BLANK:
            self._line = line
            raise self._error(f"a line must be a JSON object, found {shown(found)}")

    def _error(self, message: str, hint: str | None = None, column: int | None = None) -> TraceError:
        return TraceError(message, file=self._file, line=self._line, column=column, hint=hint)


_BLANK = object()
"""What a line without any text decodes to."""


def write_trace(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Writes the whole trace or nothing; `.gz` and `.zst` compress."""
    with replacing(path) as stream, compressed(stream, os.fspath(path)) as write:
        block: list[str] = []
        for line in write_lines(trace):
            block.append(line)
            if len(block) == 4096:
                write("\n".join([*block, ""]).encode())
                block.clear()
        write("\n".join([*block, ""]).encode())


def write_lines(trace: Trace, order: Iterable[int] | None = None) -> Iterator[str]:
    """The lines of the file, without newlines. Another order of the events must keep their order.

    Default names `P:k` stay valid, because every order of a run keeps the order of each process.
    """
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
    yield encode(header_fields(trace))
    for event in range(len(trace)) if order is None else order:
        yield encode(event_fields(trace, event))


def header_fields(trace: Trace) -> dict[str, Any]:
    """The first line as an object."""
    kept = trace.header.get("processes", {})
    processes = []
    for process in trace.processes:
        if process.declared:
            entry: dict[str, Any] = {"name": process.name}
            if process.init:
                entry["init"] = process.init
            if process.parent is not None:
                entry["parent"] = process.parent
            processes.append(entry | kept.get(process.name, {}))
    fields: dict[str, Any] = {"format": FORMAT, "version": VERSION, "processes": processes}
    if trace.shared:
        fields["shared"] = trace.shared
    return fields | {key: value for key, value in trace.header.items() if key != "processes"}


def event_fields(trace: Trace, event: int) -> dict[str, Any]:
    """The line of an event as an object; what has its default is left out."""
    process = trace.processes[trace.process[event]]
    fields: dict[str, Any] = {"p": process.name}
    _put(fields, "id", trace.text(trace.identifier, event))
    kind = trace.strings[trace.kind[event]]
    if kind != "internal":
        fields["kind"] = kind
    _put(fields, "set", dict(trace.sets(event)) or None)
    _put(fields, "write", dict(trace.writes(event)) or None)
    _put(fields, "read", list(trace.reads(event)) or None)
    _put(fields, "msg", trace.text(trace.message, event))
    if kind == "send":
        _put(fields, "to", _receivers(trace, event))
    _put(fields, "tag", trace.text(trace.tag, event))
    _put(fields, "after", [trace.name(earlier) for earlier in trace.after(event)] or None)
    for key, column in _texts(trace):
        _put(fields, key, trace.text(column, event))
    if trace.time is not None and abs(trace.time[event]) < _INFINITE:
        fields["t"] = trace.time[event]
    if not process.declared and process.parent is not None and trace.position[event] == 1:
        fields["parent"] = process.parent
    fields.update(trace.extra.get(event, {}))
    return fields


def _texts(trace: Trace) -> tuple[tuple[str, Ints | None], ...]:
    return ("meet", trace.meet), ("fn", trace.function), ("at", trace.place), ("label", trace.label)


def _receivers(trace: Trace, send: int) -> str | list[str] | None:
    rows = trace.deliveries(send)
    names = [trace.processes[p].name for p in (trace.delivery_to[row] for row in rows) if p != NONE]
    if len(rows) == 1:
        return names[0] if names else None
    return names


def _put(fields: dict[str, Any], key: str, value: Any) -> None:
    if value is not None:
        fields[key] = value
