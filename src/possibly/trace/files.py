"""Loading a trace in whatever form the file has, and the cache that makes the second time cheap.

A text of `CACHED_FROM` bytes or more (less if compressed) is also written in the columnar form, into the
folder `possibly` of the user's cache directory, under a name made of its real path, size and time of
change; so a changed file is never taken for the old one. The cache is a help, never a need: if it cannot
be written or read, nothing is said and the text is read. POSSIBLY_CACHE=off switches it off.
"""

from __future__ import annotations

import os

from possibly.errors import TraceError
from possibly.trace.jsonl import Progress, read_trace
from possibly.trace.model import Trace
from possibly.trace.streams import Source, unreadable

CACHED_FROM = 8 << 20
CACHE_LIMIT = 4 << 30
"""Bytes of cached columns that are kept, the newest first."""
_COMPRESSION = 8
"""A compressed text counts as that many times its size."""


def load(
    source: Source,
    *,
    progress: Progress | None = None,
    cache: bool = True,
    words: frozenset[str] | None = None,
) -> Trace:
    """A trace in any form: JSON Lines, compressed or not, columns, Parquet. Big texts are cached as columns.

    `words`: of variables only those with one of these in their name are needed, where that saves something.
    """
    if not isinstance(source, (str, os.PathLike)):
        return read_trace(source, progress=progress)
    path = os.fspath(source)
    first = _first_bytes(path)
    if first == b"POSSIBLY":
        from possibly.trace.columns.form import read_columns

        return read_columns(path)
    if first.startswith(b"PAR1"):
        from possibly.trace.parquet.read import read_parquet

        return read_parquet(path, words)
    place = _cache_place(path, first) if cache and os.environ.get("POSSIBLY_CACHE") != "off" else None
    if place is None:
        return read_trace(path, progress=progress)
    return _cached(path, place) or _read_and_cached(path, place, progress, first)


def _first_bytes(path: str) -> bytes:
    """Nothing of what is not a regular file: the first bytes of a pipe can be read but once."""
    if not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as stream:
            return stream.read(8)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def _cache_place(path: str, first: bytes) -> str | None:
    """Where the columns of this very content belong, None if it is not worth it."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    is_text = first[:1] in (b"{", b" ", b"\n", b"\xef")
    if not os.path.isfile(path) or status.st_size * (1 if is_text else _COMPRESSION) < CACHED_FROM:
        return None
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(folder):
        return None
    from hashlib import sha256

    key = f"{os.path.realpath(path)}\0{status.st_size}\0{status.st_mtime_ns}\0columns 2"
    return os.path.join(folder, "possibly", sha256(os.fsencode(key)).hexdigest()[:40] + ".columns")


def _cached(path: str, place: str) -> Trace | None:
    from possibly.trace.columns.form import read_columns

    if not os.path.exists(place):
        return None
    try:
        trace = read_columns(place, file=path)
        os.utime(place)
    except (TraceError, OSError):
        return None
    return trace


def _read_and_cached(path: str, place: str, progress: Progress | None, first: bytes) -> Trace:
    from possibly.trace.columns.form import write_columns

    trace = read_trace(path, progress=progress)
    try:
        if _cache_place(path, first) == place:  # else it changed while it was read
            os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
            write_columns(trace, place)
            _prune(os.path.dirname(place))
    except OSError:
        pass
    return trace


def _prune(folder: str) -> None:
    """Removes the oldest files beyond the limit."""
    with os.scandir(folder) as entries:
        files = [(entry.stat().st_mtime_ns, entry.stat().st_size, entry.path) for entry in entries]
    kept = 0
    for _, size, path in sorted(files, reverse=True):
        kept += size
        if kept > CACHE_LIMIT:
            os.unlink(path)
