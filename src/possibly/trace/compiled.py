"""Handing blocks of lines to the compiled reader, and what it yields to the builder's columns.

Here belongs the seam between `_jsonl.c` and `TraceBuilder`: both fill the same tables and columns, so lines
that the compiled reader gives up can be added by the builder in between, in any mixture. This is the one
place outside `build` that knows how the builder keeps its columns.
"""

from __future__ import annotations

from types import ModuleType

from possibly.compiled import built
from possibly.trace.build import Entries, TraceBuilder
from possibly.trace.intern import Column

_TEXTS = ("msg", "tag", "fn", "at", "label")


def kernels() -> ModuleType | None:
    """The compiled module, if it was built."""
    return built("possibly.trace._jsonl")


class CompiledLines:
    """Reads lines of the usual form into a builder, which has seen the header."""

    def __init__(self, builder: TraceBuilder, kernel: ModuleType) -> None:
        self._builder = builder
        self._waiting = 0
        """Events that were read and not taken yet."""
        self._line = 0
        """The line of the first of them; the others follow without a gap."""
        strings, values = builder._strings, builder._values
        self._reader = kernel.Reader(builder._process_numbers, strings.texts, values.values, values.number)

    def read(self, block: bytes, start: int, line: int) -> tuple[int, int]:
        """How far it came in a block of whole lines, and how many events that were.

        They are the builder's only after `take`; until then nobody may add others.
        """
        builder = self._builder
        found: tuple[int, int] = self._reader.read(
            block,
            start,
            builder._process,
            builder._deliveries.receive,
            builder._deliveries.to,
            not builder._names.given.numbers,
            tuple(len(part.numbers) for part in self._entries),
        )
        if found[1] and not self._waiting:
            self._line = line
        self._waiting += found[1]
        return found

    @property
    def _entries(self) -> tuple[Entries, ...]:
        builder = self._builder
        return builder._set, builder._write, builder._read, builder._after

    def take(self) -> None:
        """Hands what was read over to the builder."""
        if not self._waiting:
            return
        builder, event, self._waiting = self._builder, len(self._builder._process), 0
        count, strings, process, kind, texts, lists, rows, time = self._reader.take()
        if builder._lines or self._line != event + 2:
            builder._put_lines(self._line, event, count)
        builder._process.frombytes(process)
        if kind is not None:
            builder._kind.frombytes(bytes(4 * (event - len(builder._kind))) + kind)
        for name, numbers in zip(_TEXTS, texts, strict=True):
            _extend(builder._columns[name], event, numbers)
        for part, found in zip(self._entries, lists, strict=True):
            if found is not None:
                _extend_entries(part, event, *found)
        deliveries = builder._deliveries
        for column, numbers in zip((deliveries.send, deliveries.receive, deliveries.to), rows, strict=False):
            column.frombytes(numbers or b"")
        _extend(deliveries.send_of, strings, rows[3])
        if time is not None:
            builder._pad_time(event)
            builder._time.frombytes(time)

    def hand_back(self) -> None:
        """The builder is asked next."""
        self.take()
        self._builder._strings.catch_up()


def _extend(column: Column, index: int, numbers: bytes | None) -> None:
    """Puts numbers from an index on."""
    if numbers is not None:
        column.numbers.frombytes(b"\xff" * (4 * (index - len(column.numbers))) + numbers)


def _extend_entries(entries: Entries, event: int, start: bytes, numbers: bytes, values: bytes | None) -> None:
    """Entries of events from `event` on."""
    if event:
        entries.open(event - 1)
    entries.start.frombytes(start)
    entries.numbers.frombytes(numbers)
    entries.values.frombytes(values or b"")
