"""`asyncio` streams: a byte that a task reads comes after the `write` of the task that wrote it.

The bytes travel through the event loop, which sends and receives them for its tasks; so what the loop does to
a socket that carries a stream is not told (`sockets` asks `is_stream`), and what tasks do is: `write` when it
is called, a read when it returns. The ends and the counts are those of `sockets`, so that the other end may
be a plain socket of another process.
"""

from __future__ import annotations

from typing import Any

from possibly.probes import sockets
from possibly.probes.patching import Patches

_FED = "_possibly_fed"
"""Bytes that came into a reader so far."""


def install(patches: Patches) -> None:
    from asyncio import streams

    reader: Any = streams.StreamReader
    writer: Any = streams.StreamWriter
    patches.put(reader, "set_transport", _told_transport(reader.set_transport))
    patches.put(reader, "feed_data", _counted(reader.feed_data))
    for name in ("read", "readuntil", "readexactly"):
        patches.put(reader, name, _told_read(getattr(reader, name)))
    patches.put(writer, "write", _told_write(writer.write))
    patches.put(writer, "writelines", lambda self, data: self.write(b"".join(data)))


def _ends(transport: Any) -> tuple[str, str] | None:
    carrier = transport.get_extra_info("socket") if transport is not None else None
    return None if carrier is None else sockets.ends(carrier)


def _told_transport(plain: Any) -> Any:
    def set_transport(self: Any, transport: Any) -> None:
        plain(self, transport)
        found = _ends(transport)
        if found is not None:
            sockets.carries_stream(found)

    return set_transport


def _counted(plain: Any) -> Any:
    def feed_data(self: Any, data: Any) -> None:
        setattr(self, _FED, getattr(self, _FED, 0) + len(data))
        plain(self, data)

    return feed_data


def _told_read(plain: Any) -> Any:
    """Reads may be made of other reads: what counts is how much has left the buffer."""

    async def read(self: Any, *arguments: Any, **options: Any) -> Any:
        found = await plain(self, *arguments, **options)
        ends = _ends(self._transport)
        if ends is not None:
            sockets.has_read(ends, getattr(self, _FED, 0) - len(self._buffer))
        return found

    read.__name__ = plain.__name__
    return read


def _told_write(plain: Any) -> Any:
    def write(self: Any, data: Any) -> None:
        ends = _ends(self.transport)
        if ends is None:
            plain(self, data)
        else:
            with sockets.sending(ends, len(data)):
                plain(self, data)

    return write
