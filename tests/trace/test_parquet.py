"""Traces as Parquet: the same run again, and no more of it than is asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from possibly.errors import TraceError
from possibly.trace import Trace, load, read_trace, same_run
from possibly.trace.build import TraceBuilder
from possibly.trace.jsonl import write_lines
from tests.trace.strategies import traces

duckdb = pytest.importorskip("duckdb")
from possibly.trace.parquet.read import read_parquet, words_of  # noqa: E402 - it needs DuckDB
from possibly.trace.parquet.write import write_parquet  # noqa: E402

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parquet")


def kept(trace: Trace, folder: Path) -> Path:
    path = folder / "run.parquet"
    write_parquet(trace, path)
    return path


def fields(trace: Trace) -> list[Any]:
    """The lines; variables that are set at once may be told in any order."""
    return [json.loads(line) for line in write_lines(trace)]


@settings(max_examples=8 * MANY, deadline=None)
@given(trace=traces())
def test_what_is_written_is_read(trace: Trace, folder: Path) -> None:
    assert fields(load(kept(trace, folder))) == fields(trace)


def odd() -> Trace:
    """Names and values that are hard to write: quotes, pointers, nulls, lists, extra fields."""
    builder = TraceBuilder()
    builder.header([("P'1\"", {'a"b': None}), ("Q", {})], {"s/t~u": [1, {"x": None}]})
    builder.add("P'1\"", set={'a"b': None, "it's": "\n\\'", "": 1})
    builder.add_fields(
        {"p": "P'1\"", "write": {"s/t~u": {"y": [True, 1.5]}}, "t": 1.25, "at": "a b.py:3", "label": "l"}
    )
    builder.add_fields({"p": "Q", "read": ["s/t~u"], "mine": {"z": [None]}})
    return builder.finish()


def test_odd_names_and_values(folder: Path) -> None:
    assert fields(load(kept(odd(), folder))) == fields(odd())


def test_only_what_a_question_names_is_read(folder: Path) -> None:
    builder = TraceBuilder()
    builder.header([("P", {"x": 0, "y": 0}), ("Q", {"x": 1})], {"turn": 0})
    builder.add("P", set={"x": 1, "y": 2}, write={"turn": 1})
    builder.add("Q", set={"f.z": 5}, read=["turn"])
    found = read_parquet(str(kept(builder.finish(), folder)), words_of(["AG(P.x < 3 -> Q.f.z > 1)"]))
    lines = [json.loads(line) for line in write_lines(found)]
    assert [process.get("init") for process in lines[0]["processes"]] == [{"x": 0}, {"x": 1}]
    assert [line.get("set") for line in lines[1:]] == [{"x": 1}, {"f.z": 5}]
    assert lines[1]["write"] == {"turn": 1} and lines[2]["read"] == ["turn"]  # they carry order
    assert [path.name for path in folder.iterdir()] == ["run.parquet"]


def columns_read(path: Path, words: frozenset[str] | None, monkeypatch: pytest.MonkeyPatch) -> str:
    """The question that DuckDB is asked about the rows."""
    asked: list[str] = []
    connect = duckdb.connect

    class Asked:
        def __init__(self) -> None:
            self.real = connect()

        def __enter__(self) -> Asked:
            return self

        def __exit__(self, *_: object) -> None:
            self.real.close()

        def execute(self, text: str, *more: Any) -> Any:
            asked.append(text)
            return self.real.execute(text, *more)

    monkeypatch.setattr(duckdb, "connect", Asked)
    read_parquet(str(path), words)
    return asked[-1]


def test_other_columns_are_not_touched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = TraceBuilder()
    builder.header([("P", {})], {})
    builder.add("P", set={"x": 1, "y": 2})
    path = kept(builder.finish(), folder)
    assert '"set:y"' in columns_read(path, None, monkeypatch)
    monkeypatch.undo()
    some = columns_read(path, words_of(["AG(P.x == 1)"]), monkeypatch)
    assert '"set:x"' in some and '"set:y"' not in some


def test_other_files_are_refused(folder: Path) -> None:
    broken = folder / "broken.parquet"
    broken.write_bytes(b"PAR1 and nothing that follows")
    with pytest.raises(TraceError, match="not a trace in Parquet"):
        load(broken)
    foreign = folder / "foreign.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS p) TO '{foreign}' (FORMAT parquet)")
    with pytest.raises(TraceError, match="no possibly-trace in its metadata"):
        load(foreign)
    broken.unlink()
    foreign.unlink()


def test_an_error_in_a_row_is_an_error_of_the_trace(folder: Path) -> None:
    """Rows that somebody else wrote are checked as lines are."""
    path = kept(odd(), folder)
    with duckdb.connect() as connection:
        header = connection.execute(
            f"SELECT decode(value) FROM parquet_kv_metadata('{path}') WHERE decode(key) = 'possibly-trace'"
        ).fetchone()[0]
        text = header.replace("'", "''")
        connection.execute(
            f"COPY (SELECT * REPLACE ('nowhere' AS parent, ['none'] AS after) FROM '{path}') TO"
            f" '{folder / 'bad.parquet'}' (FORMAT parquet, KV_METADATA {{'possibly-trace': '{text}'}})"
        )
    with pytest.raises(TraceError, match="none"):
        load(folder / "bad.parquet")
    (folder / "bad.parquet").unlink()


def test_it_is_small(folder: Path) -> None:
    builder = TraceBuilder()
    builder.header([("P", {"x": 0})], {})
    for number in range(5_000):
        builder.add("P", set={"x": number % 7})
    trace = builder.finish()
    text = sum(len(line) for line in write_lines(trace))
    assert kept(trace, folder).stat().st_size * 4 < text
    assert same_run(read_trace(iter_bytes(trace)), load(folder / "run.parquet"))


def iter_bytes(trace: Trace) -> Any:
    import io

    return io.BytesIO("\n".join(write_lines(trace)).encode())
