"""Traces as Parquet: one row an event, one file a run, written and read by DuckDB (`possibly[parquet]`).

The columns are the fields of a line of a trace file (`n` counts the events from 1; `to`, `after` and `read`
are lists), and one for each variable: `set:x` has the value that an event gave to the local variable x,
`write:x` to the shared one, as JSON, so that a null of the program is not the NULL of an event that does not
touch it. `more` has the fields that are not ours. The header stands in the file's metadata under
`possibly-trace`.

A reader that needs some variables alone names the words that its question consists of: of local variables
only columns with such a name are read from the file. Events and what they write to shared variables are all
read, since each may carry order from one process to another.
What is selected leaves DuckDB as lines of a trace file, so that the one reader that there is checks them.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from possibly.errors import TraceError, UsageError
from possibly.trace.jsonl import read_pieces, write_lines
from possibly.trace.model import Trace
from possibly.trace.streams import replacing

MAGIC = b"PAR1"
HEADER = "possibly-trace"
TEXTS = ("p", "id", "kind", "msg", "tag", "meet", "fn", "at", "label", "parent")
LISTS = ("to", "after", "read")
VALUES = ("set", "write")
ROWS = 100_000
"""That leave DuckDB at a time."""


# ---- writing ------------------------------------------------------------------------------------


def write_parquet(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Writes the whole trace or nothing."""
    duckdb = _duckdb()
    lines = iter(write_lines(trace))
    header = next(lines)
    with tempfile.TemporaryDirectory() as folder:
        rows, whole = os.path.join(folder, "rows.jsonl"), os.path.join(folder, "run.parquet")
        with open(rows, "w", encoding="utf-8") as file:
            variables = _write_rows(file, lines)
        with duckdb.connect() as connection:
            connection.execute(_copying(variables, rows, whole, header))
        with open(whole, "rb") as source, replacing(path) as target:
            while piece := source.read(1 << 20):
                target.write(piece)


def _write_rows(file: IO[str], lines: Iterable[str]) -> dict[str, list[str]]:
    """Writes the events as DuckDB is to read them; the names of the variables that they touch."""
    names: dict[str, dict[str, None]] = {field: {} for field in VALUES}
    known = {*TEXTS, *LISTS, *VALUES, "t"}
    for number, line in enumerate(lines, start=1):
        event: dict[str, Any] = json.loads(line)
        for field in VALUES:
            names[field].update(dict.fromkeys(event.get(field, ())))
        if isinstance(event.get("to"), str):
            event["to"] = [event["to"]]
        more = {name: event.pop(name) for name in event.keys() - known}
        file.write(json.dumps({"n": number, **event, **({"more": more} if more else {})}) + "\n")
    return {field: list(found) for field, found in names.items()}


def _copying(variables: dict[str, list[str]], rows: str, path: str, header: str) -> str:
    types = {"n": "BIGINT", "t": "DOUBLE", "more": "JSON"}
    types |= (
        dict.fromkeys(TEXTS, "VARCHAR") | dict.fromkeys(LISTS, "VARCHAR[]") | dict.fromkeys(VALUES, "JSON")
    )
    columns = ["n", *map(_name, TEXTS), *map(_name, LISTS), "t", "more"]
    for field, names in variables.items():
        columns += [
            f"{_name(field)}->{_text(_pointer(each))} AS {_name(f'{field}:{each}')}" for each in names
        ]
    typed = ", ".join(f"{_text(name)}: {_text(kind)}" for name, kind in types.items())
    source = f"read_json({_text(rows)}, format = 'newline_delimited', columns = {{{typed}}})"
    about = f"KV_METADATA {{{_text(HEADER)}: {_text(header)}}}"
    wanted = f"SELECT {', '.join(columns)} FROM {source} ORDER BY n"
    return f"COPY ({wanted}) TO {_text(path)} (FORMAT parquet, COMPRESSION zstd, {about})"


def _pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


# ---- reading ------------------------------------------------------------------------------------


def read_parquet(path: str, words: frozenset[str] | None = None) -> Trace:
    """The trace; of variables only those that have one of the words in their name, if words are given."""
    with _connected(path) as connection:
        header = _header(connection, path)
        return read_pieces(path, _lines(connection, path, header, words))


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of formulas, as `read_parquet` takes them."""
    return frozenset(word for text in texts for word in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@contextmanager
def _connected(path: str) -> Iterator[Any]:
    duckdb = _duckdb()
    try:
        with duckdb.connect() as connection:
            yield connection
    except duckdb.Error as error:
        raise TraceError(f"not a trace in Parquet: {str(error).splitlines()[0]}", file=path) from None


def _header(connection: Any, path: str) -> str:
    question = f"SELECT decode(value) FROM parquet_kv_metadata({_text(path)}) WHERE decode(key) = ?"
    found = connection.execute(question, [HEADER]).fetchone()
    if found is None:
        raise TraceError(
            f"this Parquet file has no {HEADER} in its metadata",
            file=path,
            hint="possibly export --to parquet writes one that has",
        )
    return str(found[0])


def _columns(connection: Any, path: str) -> list[str]:
    rows = connection.execute(f"DESCRIBE SELECT * FROM read_parquet({_text(path)})").fetchall()
    return [row[0] for row in rows]


def _lines(connection: Any, path: str, header: str, words: frozenset[str] | None) -> Iterator[bytes]:
    columns = _columns(connection, path)
    missing = {"n", *TEXTS, *LISTS, "t", "more"}.difference(columns)
    if missing:
        raise TraceError(f"the column {min(missing)} is missing", file=path)
    yield _narrowed(header, words).encode() + b"\n"
    text = _line([name for name in columns if _is_wanted(name, words)])
    found = connection.execute(f"SELECT {text} FROM read_parquet({_text(path)}) ORDER BY n")
    while rows := found.fetchmany(ROWS):
        yield "".join(row[0] for row in rows).encode()


def _is_wanted(column: str, words: frozenset[str] | None) -> bool:
    field, _, variable = column.partition(":")
    return words is None or field != "set" or not variable or _is_named(variable, words)


def _is_named(variable: str, words: frozenset[str]) -> bool:
    own = _words(variable)
    return not own or not words.isdisjoint(own)


def _narrowed(header: str, words: frozenset[str] | None) -> str:
    """The header without initial values that nobody asks for."""
    if words is None:
        return header
    found: dict[str, Any] = json.loads(header)
    for process in found["processes"]:
        if "init" in process:
            initial = process["init"].items()
            process["init"] = {name: value for name, value in initial if _is_named(name, words)}
    return json.dumps(found)


def _line(columns: list[str]) -> str:
    """The expression that makes a line of a trace file out of a row."""
    plain = [
        f"{_text(f',{json.dumps(name)}:')} || to_json({_name(name)})" for name in (*TEXTS[1:], *LISTS, "t")
    ]
    valued = {field: [each for each in columns if each.startswith(f"{field}:")] for field in VALUES}
    objects = [_object(field, found) for field, found in valued.items() if found]
    more = "',' || substr(more, 2, length(more) - 2)"
    return ", ".join(["concat('{\"p\":', to_json(p)", *plain, *objects, more, "'}\n')"])


def _object(field: str, columns: list[str]) -> str:
    """A field that is an object; nothing if the event touches none of its variables."""
    pairs = [
        f"{_text(json.dumps(each.partition(':')[2]) + ':')} || CAST({_name(each)} AS VARCHAR)"
        for each in columns
    ]
    joined = f"concat_ws(',', {', '.join(pairs)})"
    return f"{_text(f',{json.dumps(field)}:' + '{')} || nullif({joined}, '') || '}}'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise UsageError("traces in Parquet need DuckDB", hint="pip install 'possibly[parquet]'") from None
    atexit.register(gc.unfreeze)  # of what is frozen when Python ends, as our command has it, it complains
    return duckdb
