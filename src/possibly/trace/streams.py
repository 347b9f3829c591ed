"""Bytes in and out of trace files: decompression by magic bytes, and writing that is all or nothing.

Nothing here knows what a trace is. Input comes as bounded pieces whatever the compression, so a file
that unpacks to terabytes costs no memory; a stream that ends early or is damaged is a TraceError.
Output goes to a temporary file beside the target, which replaces the target only when complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from possibly.errors import TraceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import IO, Any, BinaryIO, TypeAlias

Source: TypeAlias = "str | os.PathLike[str] | BinaryIO"

PIECE = 1 << 18
_ZSTD_PIECE = 1 << 10  # a block of 4 bytes may unpack to 128 KiB: so at most 32 MiB a piece
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


class Input:
    """A binary source with its name, its size where known, and how much of it was read."""

    def __init__(self, raw: BinaryIO, file: str | None) -> None:
        self._raw = raw
        self.file = file
        self.total = _size(raw)
        self.done = 0

    def pieces(self) -> Iterator[bytes]:
        """The content, decompressed if its first bytes say so."""
        raw = self._raw_pieces()
        first = b""
        for piece in raw:
            first += piece
            if len(first) >= len(_ZSTD):
                break
        rest = _chained(first, raw)
        if first.startswith(_GZIP):
            return self._guarded(_gunzipped(rest))
        if first.startswith(_ZSTD):
            return self._guarded(_unzstd(rest))
        return rest

    def _raw_pieces(self) -> Iterator[bytes]:
        while True:
            try:
                piece = self._raw.read(PIECE)
            except OSError as error:
                raise unreadable(self.file, error) from None
            if not piece:
                return
            self.done += len(piece)
            yield piece

    def _guarded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from pieces
        except TraceError as error:
            raise TraceError(error.message, file=self.file) from None


def _size(raw: BinaryIO) -> int:
    try:
        return os.fstat(raw.fileno()).st_size
    except (OSError, AttributeError, ValueError):
        return 0


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


class opened:  # noqa: N801 - read as a function
    """The source ready to read; a path is opened and closed, an open file is left to its owner."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._own: BinaryIO | None = None

    def __enter__(self) -> Input:
        source = self._source
        if not isinstance(source, (str, os.PathLike)):
            name = getattr(source, "name", None)
            return Input(source, name if isinstance(name, str) else None)
        file = os.fspath(source)
        try:
            self._own = open(file, "rb")
        except (OSError, ValueError) as error:
            raise unreadable(file, error) from None
        return Input(self._own, file)

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            self._own.close()


def unreadable(file: str | None, error: Exception) -> TraceError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return TraceError(f"cannot read the trace: {reason}", file=file)


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    import zlib

    member = zlib.decompressobj(31)
    try:
        for piece in pieces:
            data = piece
            while data:
                if member.eof:
                    data = data.lstrip(b"\0")  # padding after a member is usual on tapes
                    if not data:
                        break
                    member = zlib.decompressobj(31)
                yield member.decompress(data, PIECE)
                data = member.unused_data if member.eof else member.unconsumed_tail
    except zlib.error as error:
        raise TraceError(f"the gzip stream is damaged: {error}") from None
    if not member.eof:
        raise TraceError("the gzip stream ends too early")


def _unzstd(pieces: Iterable[bytes]) -> Iterator[bytes]:
    import zstandard

    frame = zstandard.ZstdDecompressor().decompressobj()
    try:
        for data in _cut(pieces, _ZSTD_PIECE):
            while data:
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                yield frame.decompress(data)
                data = frame.unused_data if frame.eof else b""
    except zstandard.ZstdError as error:
        raise TraceError(f"the zstd stream is damaged: {error}") from None
    if not frame.eof:
        raise TraceError("the zstd stream ends too early")


def _cut(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield piece[start : start + size]


def replacing(path: str | os.PathLike[str]) -> AbstractContextManager[IO[bytes]]:
    """A file to write that takes the place of `path` when the block ends well, and vanishes if not.

    A link is followed, and what is no regular file (a device, a pipe) is written directly.
    """
    from contextlib import contextmanager  # whoever only reads need not wait for its import

    return contextmanager(_replacing)(path)


def _replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as direct:
            yield direct
        return
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:100]}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def compressed(stream: IO[bytes], name: str) -> AbstractContextManager[Callable[[bytes], Any]]:
    """A `write` function that compresses as the ending of the name asks for."""
    from contextlib import contextmanager

    return contextmanager(_compressed)(stream, name)


def _compressed(stream: IO[bytes], name: str) -> Iterator[Callable[[bytes], Any]]:
    if name.endswith(".gz"):
        import gzip

        with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0, compresslevel=6) as packer:
            yield packer.write
    elif name.endswith(".zst"):
        import zstandard

        with zstandard.ZstdCompressor(write_checksum=True).stream_writer(stream, closefd=False) as writer:
            write: Callable[[bytes], Any] = writer.write
            yield write
    else:
        yield stream.write
