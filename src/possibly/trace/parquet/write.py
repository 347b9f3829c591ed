"""A trace written as Parquet, as a whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from possibly.trace.jsonl import write_lines
from possibly.trace.model import Trace
from possibly.trace.parquet.form import (
    GROUP,
    HEADER,
    LEARNS,
    LISTS,
    TEXTS,
    VALUES,
    duckdb_here,
    quoted_name,
    quoted_text,
)
from possibly.trace.streams import replacing

Learnt = Mapping[int, Sequence[tuple[int, int]]]
"""By event that has any: the processes of which it learns, and how many events it knows of them."""


def write_parquet(trace: Trace, path: str | os.PathLike[str], learnt: Learnt | None = None) -> None:
    """Writes the whole trace or nothing; without `learnt` a part of it cannot be read by itself."""
    duckdb = duckdb_here()
    lines = iter(write_lines(trace))
    header = next(lines)
    with tempfile.TemporaryDirectory() as folder:
        rows, whole = os.path.join(folder, "rows.jsonl"), os.path.join(folder, "run.parquet")
        with open(rows, "w", encoding="utf-8") as file:
            variables = _write_rows(file, lines, trace, learnt)
        with duckdb.connect() as connection:
            connection.execute(_copying(variables, rows, whole, header, learnt is not None))
        with open(whole, "rb") as source, replacing(path) as target:
            while piece := source.read(1 << 20):
                target.write(piece)


def _write_rows(
    file: IO[str], lines: Iterable[str], trace: Trace, learnt: Learnt | None
) -> dict[str, list[str]]:
    """Writes the events as DuckDB is to read them; the names of the variables that they touch."""
    names: dict[str, dict[str, None]] = {field: {} for field in VALUES}
    known = {*TEXTS, *LISTS, *VALUES, "t"}
    for number, line in enumerate(lines):
        event: dict[str, Any] = json.loads(line)
        for field in VALUES:
            names[field].update(dict.fromkeys(event.get(field, ())))
        if isinstance(event.get("to"), str):
            event["to"] = [event["to"]]
        more = {name: event.pop(name) for name in event.keys() - known}
        if learnt is not None:
            event[LEARNS] = [{"p": trace.processes[p].name, "k": k} for p, k in learnt.get(number, ())]
        file.write(json.dumps({"n": number + 1, **event, **({"more": more} if more else {})}) + "\n")
    return {field: list(found) for field, found in names.items()}


def _copying(variables: dict[str, list[str]], rows: str, path: str, header: str, is_learnt: bool) -> str:
    types = {"n": "BIGINT", "t": "DOUBLE", "more": "JSON"}
    types |= dict.fromkeys(TEXTS, "VARCHAR") | dict.fromkeys(LISTS, "VARCHAR[]")
    types |= dict.fromkeys(VALUES, "JSON")
    columns = ["n", *map(quoted_name, TEXTS), *map(quoted_name, LISTS), "t", "more"]
    if is_learnt:
        types[LEARNS] = "STRUCT(p VARCHAR, k BIGINT)[]"
        columns.append(LEARNS)
    for field, names in variables.items():
        columns += [
            f"{quoted_name(field)}->{quoted_text(_pointer(each))} AS {quoted_name(f'{field}:{each}')}"
            for each in names
        ]
    typed = ", ".join(f"{quoted_text(name)}: {quoted_text(kind)}" for name, kind in types.items())
    source = f"read_json({quoted_text(rows)}, format = 'newline_delimited', columns = {{{typed}}})"
    about = f"KV_METADATA {{{quoted_text(HEADER)}: {quoted_text(header)}}}"
    wanted = f"SELECT {', '.join(columns)} FROM {source} ORDER BY p, n"
    form = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {GROUP}, {about}"
    return f"COPY ({wanted}) TO {quoted_text(path)} ({form})"


def _pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")
