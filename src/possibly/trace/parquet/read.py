"""A trace read from Parquet, or as much of it as a question needs.

What is selected leaves DuckDB as lines of a trace file, so that the one reader that there is checks them. A
reader that needs some variables alone names the words that its question consists of: of local variables only
columns with such a name are read. Events and what they write to shared variables are all read then, since
each may carry order from one process to another.

A reader that needs some processes alone (`Part`) gets the run of their events: the order among them, also
where it goes through others, is in what they learn (`form`). Rows of other processes are not read. Messages
are there only if they are asked for, and of these only such as pass between the processes of the part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from possibly.errors import TraceError
from possibly.records import dataclass
from possibly.trace.jsonl import read_pieces
from possibly.trace.model import Trace
from possibly.trace.parquet.form import (
    HEADER,
    LEARNS,
    LISTS,
    TEXTS,
    VALUES,
    duckdb_here,
    quoted_name,
    quoted_text,
)

ROWS = 100_000
"""That leave DuckDB at a time."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a run has, without its events."""

    header: dict[str, Any]
    processes: tuple[str, ...]
    """In the order in which a trace numbers them."""
    events: int
    kinds: frozenset[str]
    functions: frozenset[str]
    labels: frozenset[str]
    setters: dict[str, frozenset[str]]
    """By local variable that was asked for: the processes that set it."""
    writers: dict[str, frozenset[str]]
    """By shared variable: the processes that write it."""
    has_order: bool
    """Whether a part of it can be read by itself."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some processes, with all their events."""

    processes: frozenset[str]
    everybody: tuple[str, ...]
    """The processes of the whole run: so they are numbered in the part too."""
    messages: bool
    """Whether messages between them are wanted, not only the order that these give."""


def read_parquet(path: str, words: frozenset[str] | None = None, part: Part | None = None) -> Trace:
    """The trace; of variables only those that have one of the words in their name, if words are given."""
    with _connected(path) as connection:
        header = _header(connection, path)
        return read_pieces(path, _lines(connection, path, header, words, part))


def outline(path: str, words: frozenset[str]) -> Outline:
    """What the run has, of local variables those with one of the words in their name."""
    with _connected(path) as connection:
        columns = _columns(connection, path)
        source = f"FROM read_parquet({quoted_text(path)})"

        def distinct(column: str, where: str = "true") -> frozenset[str]:
            name = quoted_name(column)
            asked = f"SELECT DISTINCT {name} {source} WHERE {name} IS NOT NULL AND {where}"
            return frozenset(row[0] for row in connection.execute(asked).fetchall())

        def touching(field: str, words: frozenset[str] | None) -> dict[str, frozenset[str]]:
            wanted = [each for each in columns if each.startswith(f"{field}:") and _is_wanted(each, words)]
            return {
                each.partition(":")[2]: distinct("p", f"{quoted_name(each)} IS NOT NULL") for each in wanted
            }

        header = json.loads(_header(connection, path))
        first = connection.execute(f"SELECT p, min(n) {source} GROUP BY p ORDER BY 2").fetchall()
        named = [*(each["name"] for each in header.get("processes", ())), *(row[0] for row in first)]
        return Outline(
            header=header,
            processes=tuple(dict.fromkeys(named)),
            events=connection.execute(f"SELECT count(*) {source}").fetchone()[0],
            kinds=distinct("kind"),
            functions=distinct("fn"),
            labels=distinct("label"),
            setters=touching("set", words),
            writers=touching("write", words),
            has_order=LEARNS in columns,
        )


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of formulas, as `read_parquet` takes them."""
    return frozenset(word for text in texts for word in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@contextmanager
def _connected(path: str) -> Iterator[Any]:
    duckdb = duckdb_here()
    try:
        with duckdb.connect() as connection:
            yield connection
    except duckdb.Error as error:
        raise TraceError(f"not a trace in Parquet: {str(error).splitlines()[0]}", file=path) from None


def _header(connection: Any, path: str) -> str:
    question = f"SELECT decode(value) FROM parquet_kv_metadata({quoted_text(path)}) WHERE decode(key) = ?"
    found = connection.execute(question, [HEADER]).fetchone()
    if found is None:
        raise TraceError(
            f"this Parquet file has no {HEADER} in its metadata",
            file=path,
            hint="possibly export --to parquet writes one that has",
        )
    return str(found[0])


def _columns(connection: Any, path: str) -> list[str]:
    rows = connection.execute(f"DESCRIBE SELECT * FROM read_parquet({quoted_text(path)})").fetchall()
    columns = [row[0] for row in rows]
    missing = {"n", *TEXTS, *LISTS, "t", "more"}.difference(columns)
    if missing:
        raise TraceError(f"the column {min(missing)} is missing", file=path)
    return columns


def _lines(
    connection: Any, path: str, header: str, words: frozenset[str] | None, part: Part | None
) -> Iterator[bytes]:
    columns = _columns(connection, path)
    yield _narrowed(header, words, part).encode() + b"\n"
    wanted = [name for name in columns if _is_wanted(name, words, part is None)]
    source = f"read_parquet({quoted_text(path)})"
    asked = (
        f"SELECT {_line(wanted)} FROM {source} ORDER BY n"
        if part is None
        else _asked_of(part, source, wanted)
    )
    found = connection.execute(asked)
    while rows := found.fetchmany(ROWS):
        yield "".join(row[0] for row in rows).encode()


def _asked_of(part: Part, source: str, wanted: list[str]) -> str:
    """The lines of the processes of a part, ordered by what they learn of each other."""
    mine = " OR ".join(f"p = {quoted_text(name)}" for name in sorted(part.processes))
    kept = [*map(quoted_name, _KEPT), *(quoted_name(name) for name in wanted if ":" in name)]
    replaced = [f"{value} AS {quoted_name(name)}" for name, value in _replaced(part).items()]
    return (
        f"WITH mine AS MATERIALIZED (SELECT * FROM {source} WHERE {mine}),"
        f" part AS (SELECT {', '.join([*kept, *replaced])} FROM mine)"
        f" SELECT {_line(wanted)} FROM part ORDER BY n"
    )


_KEPT = ("n", "p", "tag", "meet", "fn", "at", "label", "t")


def _replaced(part: Part) -> dict[str, str]:
    """What the other columns of a part have; an event has its usual name there."""
    names = f"[{', '.join(map(quoted_text, sorted(part.processes)))}]"
    known = f"list_filter({LEARNS}, lambda each: list_contains({names}, each.p))"
    after = f"list_transform({known}, lambda each: concat(each.p, ':', each.k))"
    to = f'list_filter("to", lambda each: list_contains({names}, each))'
    passes = f"({_passing(names)}) IS TRUE" if part.messages else "false"
    is_message = "kind IN ('send', 'receive')"
    return dict.fromkeys(("id", "parent", "read", "more"), "NULL") | {
        "after": f"nullif({after}, [])",
        "msg": f"CASE WHEN {passes} THEN msg END",
        "to": f"CASE WHEN {passes} THEN nullif({to}, []) END",
        "kind": f"CASE WHEN {is_message} AND NOT {passes} THEN NULL ELSE kind END",
    }


def _passing(names: str) -> str:
    """Whether an event sends or receives a message that stays among these processes."""
    received = "msg IN (SELECT msg FROM mine WHERE kind = 'receive')"
    sent = "msg IN (SELECT msg FROM mine WHERE kind = 'send')"
    inside = f'{received} OR list_has_any("to", {names})'
    return f"CASE kind WHEN 'send' THEN {inside} WHEN 'receive' THEN {sent} END"


def _is_wanted(column: str, words: frozenset[str] | None, all_written: bool = True) -> bool:
    field, _, variable = column.partition(":")
    is_free = words is None or not variable or (field == "write" and all_written)
    return is_free or field not in VALUES or _is_named(variable, words or frozenset())


def _is_named(variable: str, words: frozenset[str]) -> bool:
    own = _words(variable)
    return not own or not words.isdisjoint(own)


def _narrowed(header: str, words: frozenset[str] | None, part: Part | None) -> str:
    """The header without initial values that nobody asks for; of a part with everybody."""
    if words is None:
        return header
    found: dict[str, Any] = json.loads(header)
    for process in found["processes"]:
        if "init" in process:
            initial = process["init"].items()
            process["init"] = {name: value for name, value in initial if _is_named(name, words)}
    if part is not None:
        declared = {process["name"]: process for process in found["processes"]}
        inits = ((name, declared.get(name, {}).get("init", {})) for name in part.everybody)
        found["processes"] = [{"name": name, "init": init} for name, init in inits]
    return json.dumps(found)


def _line(columns: list[str]) -> str:
    """The expression that makes a line of a trace file out of a row."""
    plain = [
        f"{quoted_text(f',{json.dumps(name)}:')} || to_json({quoted_name(name)})"
        for name in (*TEXTS[1:], *LISTS, "t")
    ]
    valued = {field: [each for each in columns if each.startswith(f"{field}:")] for field in VALUES}
    objects = [_object(field, found) for field, found in valued.items() if found]
    more = "',' || substr(more, 2, length(more) - 2)"
    return ", ".join(["concat('{\"p\":', to_json(p)", *plain, *objects, more, "'}\n')"])


def _object(field: str, columns: list[str]) -> str:
    """A field that is an object; nothing if the event touches none of its variables."""
    pairs = [
        f"{quoted_text(json.dumps(each.partition(':')[2]) + ':')} || CAST({quoted_name(each)} AS VARCHAR)"
        for each in columns
    ]
    joined = f"concat_ws(',', {', '.join(pairs)})"
    return f"{quoted_text(f',{json.dumps(field)}:' + '{')} || nullif({joined}, '') || '}}'"
