"""The lines of a trace file as they are written by a merge, without a trace in memory.

Law: the text is the one that `trace.write_trace` writes for the same events, but for the `to` of a send: who
will receive it is not known yet. The merge knows most lines by heart: those of one place in the program
differ in a value only, so `add_text` takes a line as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from json.encoder import encode_basestring as quoted
from typing import Any

from possibly.trace.jsonl import FORMAT, VERSION
from possibly.trace.streams import compressed, replacing

_BLOCK = 4_096
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
encode = _encoder.encode

__all__ = ["TextLines", "encode", "quoted", "text_lines"]


class TextLines:
    """Takes a header and events, and hands blocks of text on."""

    def __init__(self, write: Callable[[bytes], Any], progress: Callable[[int], None] | None = None) -> None:
        self.about: dict[str, Any] = {}
        """More fields of the header."""
        self._write = write
        self._progress = progress
        self._block: list[str] = []
        self._written = -1

    def header(self, shared: Mapping[str, Any]) -> None:
        """The first line."""
        fields: dict[str, Any] = {"format": FORMAT, "version": VERSION, "processes": []}
        if shared:
            fields["shared"] = dict(shared)
        self._block.append(encode({**fields, **self.about}))

    def add_fields(self, fields: Mapping[str, Any]) -> None:
        """A line, from its fields."""
        self.add_text(encode(fields))

    def add_text(self, line: str) -> None:
        """A line that is written already."""
        block = self._block
        block.append(line)
        if len(block) >= _BLOCK:
            self.flush()

    @property
    def count(self) -> int:
        """Events so far."""
        return self._written + len(self._block)

    def flush(self) -> None:
        """A half of a surrogate pair, which no JSON text can hold, becomes a question mark."""
        self._written += len(self._block)
        self._write("\n".join([*self._block, ""]).encode(errors="replace"))
        self._block.clear()
        if self._progress is not None:
            self._progress(self._written)


@contextmanager
def text_lines(path: str, progress: Callable[[int], None] | None = None) -> Iterator[TextLines]:
    """Lines that become the file when the block ends well; `.gz` and `.zst` compress."""
    with replacing(path) as stream, compressed(stream, os.fspath(path)) as write:
        lines = TextLines(write, progress)
        yield lines
        lines.flush()
