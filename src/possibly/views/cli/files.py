"""Files that the commands read and write: whole or not at all.

A file takes the place of an older one only when it is complete (`possibly.trace.streams.replacing`), so
that neither an error nor Ctrl-C leaves half of it. Whatever the system refuses is raised as a
PossiblyError that names the file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable

from possibly.errors import PossiblyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from possibly.session.why.failure import Failure
    from possibly.trace.model import Trace

Progress = Callable[[str, int, int | None], None]

LARGEST_TEXT = 64_000_000
"""Bytes of a specification file or a foreign log that are read at most."""
PROJECT, TABLE = "pyproject.toml", b"[tool.possibly]"


def error_of(error: OSError, path: str | None = None) -> PossiblyError:
    """A file that cannot be read or written, as an error for the user."""
    name = path if path is not None else error.filename
    return PossiblyError(error.strerror or str(error), file=None if name is None else str(name))


def read_text(path: str) -> str:
    """The whole text of a UTF-8 file; `-` is standard input."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else _bytes_of(path)
        return data.decode("utf-8-sig")
    except OSError as error:
        raise error_of(error, path) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PossiblyError("not a text in UTF-8", file=path, line=line) from None


def read_bytes(path: str) -> bytes:
    """The whole content of a file; `-` is standard input."""
    try:
        return sys.stdin.buffer.read(LARGEST_TEXT) if path == "-" else _bytes_of(path)
    except OSError as error:
        raise error_of(error, path) from None


def _bytes_of(path: str) -> bytes:
    with open(path, "rb") as file:
        data = file.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise PossiblyError(f"longer than {LARGEST_TEXT:,} bytes", file=path)
    return data


def loaded(path: str, progress: Progress | None, words: frozenset[str] | None = None) -> Trace:
    """The trace in that file; `-` is standard input. `words`: see `possibly.trace.load`."""
    from possibly.trace import load

    def report(done: int, total: int) -> None:
        if progress is not None:
            progress("reading", done, total or None)

    with named_errors(path):
        return load(sys.stdin.buffer if path == "-" else path, progress=report, words=words)


class named_errors:  # noqa: N801 - read as a function
    """Whatever the system refuses inside becomes an error that names this file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        # If the reader of a pipe left, that is no fault of the file.
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise error_of(error, self._path) from None


_product: TextIO | None = None
"""Standard output, while reports go elsewhere."""


class kept_apart:  # noqa: N801 - read as a function
    """If one of the files is standard output, that is for it alone: reports go to standard error."""

    def __init__(self, *paths: str | None) -> None:
        self._is_needed = "-" in paths and _product is None

    def __enter__(self) -> None:
        global _product
        if self._is_needed:
            _product, sys.stdout = sys.stdout, sys.stderr

    def __exit__(self, *_: object) -> None:
        global _product
        if self._is_needed and _product is not None:
            sys.stdout, _product = _product, None


def _output() -> TextIO:
    return sys.stdout if _product is None else _product


def write_text(path: str, text: str) -> None:
    """Writes the whole text to the file; `-` is standard output."""
    if path == "-":
        _output().write(text)
        return
    from possibly.trace.streams import replacing

    with named_errors(path), replacing(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def save_schedule(failure: Failure, program: Any, words: tuple[str, ...], path: str) -> None:
    """Writes the schedule of a failing execution; `-` is standard output."""
    from possibly.session.exploring.replay import save, text_of

    if path == "-":
        write_text(path, text_of(failure, program, words))
    else:
        save(failure, program, words, path)


def write_bytes(path: str, content: bytes) -> None:
    """Writes the whole content to the file; `-` is standard output."""
    if path == "-":
        _output().buffer.write(content)
        return
    from possibly.trace.streams import replacing

    with named_errors(path), replacing(path) as file:
        file.write(content)


def write_lines_to(path: str, lines: Iterable[str]) -> None:
    """Writes the lines of a trace, compressed as the name asks for; `-` is standard output."""
    if path == "-":
        _output().writelines(f"{line}\n" for line in lines)
        return
    from possibly.trace.streams import compressed, replacing

    with named_errors(path), replacing(path) as file, compressed(file, path) as write:
        for line in lines:
            write(f"{line}\n".encode())


def project_file() -> tuple[str, bytes] | None:
    """The `pyproject.toml` at or above the current folder, if it speaks of us; read by `settings`."""
    try:
        folder = os.getcwd()
        while not os.path.isfile(file := os.path.join(folder, PROJECT)):
            if folder == (folder := os.path.dirname(folder)):
                return None
        data = _bytes_of(file)
    except OSError:
        return None
    return (file, data) if TABLE in data.replace(b" ", b"") else None
