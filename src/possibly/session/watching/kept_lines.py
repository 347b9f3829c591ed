"""The lines of a watched run, kept for its end: in memory while they are few, then in a temporary file.

Law: what is kept is the run in the order in which it was taken in, all of it or nothing. Lines that were
taken in many at once are kept as they came; others are written again without the fields that only arrival
needs.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from possibly.order.growing.batches import Batch
from possibly.order.growing.lines import ONLINE_FIELDS, Step
from possibly.trace.jsonl import read_pieces
from possibly.trace.model import Trace

IN_MEMORY = 8 << 20
"""Bytes of kept lines that need no file."""
PIECE = 1 << 20


class KeptLines:
    """Follows a growing computation and keeps its lines, up to so many."""

    wants_steps = False

    def __init__(self, most: int) -> None:
        self.most = most
        self.texts: Sequence[bytes] = ()
        """Of the lines that arrive together, while they do."""
        self._count = 0
        self._file: IO[bytes] | None = _file() if most else None

    def __getstate__(self) -> dict[str, Any]:
        assert self._file is None, "only a run that is not kept can be saved"
        return {**vars(self), "texts": ()}

    @property
    def is_whole(self) -> bool:
        """Whether all lines so far are kept."""
        return self._file is not None

    def take(self, step: Step) -> None:
        self._write([_text(line.fields) for line in step])

    def take_batch(self, batch: Batch) -> None:
        own = slice(batch.first, batch.first + batch.count)
        texts = self.texts[own]
        for number, fields in enumerate(batch.lines[own]):
            if "k" in fields:
                texts = [*texts[:number], *map(_text, batch.lines[own][number:])]
                break
        self._write(texts)

    def _write(self, texts: Sequence[bytes]) -> None:
        self._count += len(texts)
        if self._count > self.most:
            self.close()
        if self._file is not None:
            self._file.write(b"\n".join([*texts, b""]))

    def trace(self, name: str, header: Mapping[str, Any]) -> Trace:
        """The run so far."""
        return read_pieces(name, self._pieces(header))

    def _pieces(self, header: Mapping[str, Any]) -> Iterator[bytes]:
        assert self._file is not None
        yield json.dumps(header).encode() + b"\n"
        self._file.seek(0)
        while piece := self._file.read(PIECE):
            yield piece

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _text(fields: Mapping[str, Any]) -> bytes:
    return json.dumps({key: value for key, value in fields.items() if key not in ONLINE_FIELDS}).encode()


def _file() -> IO[bytes]:
    return tempfile.SpooledTemporaryFile(IN_MEMORY)
