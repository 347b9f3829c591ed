"""The columnar form: round trips, and files that are cut, damaged or malicious."""

from __future__ import annotations

import json
import random
import struct
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from possibly.errors import TraceError
from possibly.logic.syntax import Local
from possibly.trace import Trace, TraceBuilder, same_run, write_lines
from possibly.trace.columns.form import read_columns, write_columns
from possibly.trace.compare import facts
from tests.trace.strategies import traces
from tests.twins import plain

HEAD = struct.Struct("<8sIIQQ")


def sample() -> Trace:
    builder = TraceBuilder()
    builder.header([("P", {"x": 0}), ("Q", {})], {"turn": 0}, {"made by": "hand"})
    builder.add("P", id="first", kind="send", msg="m", to=["P", "Q"], tag="t", set={"x": [1, {"a": None}]})
    builder.add(
        "Q", kind="receive", msg="m", write={"turn": 1}, read=["turn"], label="é", extra={"colour": 1}
    )
    builder.add("R", parent="P", after="first", t=1.5, meet="b", fn="f", at="a.py:1", line=9)
    return builder.finish()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "a.columns"
    write_columns(sample(), found)
    return found


@given(trace=traces())
@settings(max_examples=60)
def test_columns_read_back_tell_the_same_run(tmp_path_factory: pytest.TempPathFactory, trace: Trace) -> None:
    path = tmp_path_factory.mktemp("runs") / "a.columns"
    write_columns(trace, path)
    again = read_columns(path)
    assert same_run(trace, again)
    assert list(write_lines(again)) == list(write_lines(trace))


def test_columns_are_views_of_the_narrowest_type(path: Path) -> None:
    trace = read_columns(path)
    assert isinstance(trace.process, memoryview)
    assert trace.process.format == "b"
    assert trace.file == str(path)
    assert read_columns(path, file="run.jsonl").file == "run.jsonl"
    assert trace.line(2) == 9
    assert trace.identifier is not None
    assert trace.write_start is not None
    assert same_run(trace, sample())


def test_wide_columns(tmp_path: Path) -> None:
    builder = TraceBuilder()
    for number in range(300):
        builder.add(f"P{number % 200}", set={"x": number})
    for number in range(0, 300, 7):
        builder.add("P0", after=f"P{number % 200}:1")
    trace = builder.finish()
    write_columns(trace, tmp_path / "a.columns")
    again = read_columns(tmp_path / "a.columns")
    assert isinstance(again.process, memoryview)
    assert again.process.format == "h"
    assert same_run(trace, again)


def test_tables_are_sequences(path: Path) -> None:
    trace = read_columns(path)
    strings = list(trace.strings)
    assert strings == list(sample().strings)
    assert trace.strings[-1] == strings[-1]
    assert trace.strings[1:3] == strings[1:3]
    with pytest.raises(IndexError):
        trace.strings[len(strings)]
    assert list(trace.extra) == [1]
    assert 0 not in trace.extra
    assert trace.extra[1] == {"colour": 1}


def all_of(path: Path) -> list[str]:
    """Reads everything there is to read."""
    trace = read_columns(path)
    return [*facts(trace), *write_lines(trace), *map(repr, trace.values), *map(repr, trace.strings)]


def test_a_file_cut_anywhere_is_an_error(path: Path) -> None:
    data = path.read_bytes()
    for end in range(len(data)):
        path.write_bytes(data[:end])
        with pytest.raises(TraceError):
            read_columns(path)


def test_damaged_bytes_never_end_in_another_exception(path: Path) -> None:
    data = path.read_bytes()
    dice = random.Random(1)
    errors = 0
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= dice.choice((0x01, 0x02, 0x10, 0x80, 0xFF))
        path.write_bytes(damaged)
        try:
            all_of(path)
        except TraceError as error:
            errors += 1
            assert str(error).startswith(str(path))
    assert errors > len(data) // 4


def with_directory(path: Path, change: dict[str, Any], sections: dict[str, Any] | None = None) -> None:
    data = path.read_bytes()
    magic, version, zero, start, length = HEAD.unpack_from(data)
    about = json.loads(data[start : start + length])
    about["sections"].update(sections or {})
    directory = json.dumps(about | change).encode()
    path.write_bytes(
        HEAD.pack(magic, version, zero, start, len(directory)) + data[HEAD.size : start] + directory
    )


@pytest.mark.parametrize(
    ("change", "sections", "message"),
    [
        ({}, {"process": ["b", 32, 10**12]}, "section process lies outside the file"),
        ({}, {"process": ["b", 0, 3]}, "section process lies outside the file"),
        ({}, {"process": ["b", -8, 3]}, "section process lies outside the file"),
        ({}, {"process": ["b", 33, 3]}, "section process lies outside the file"),
        ({}, {"process": ["b", 32, -1]}, "section process lies outside the file"),
        ({}, {"process": ["d", 32, 3]}, "section process is malformed"),
        ({}, {"process": ["", 32, 3]}, "section process is malformed"),
        ({}, {"process": ["bh", 32, 3]}, "section process is malformed"),
        ({}, {"process": 7}, "section process is malformed"),
        ({}, {"process": ["b", 32, 2]}, "column process has the wrong length"),
        ({}, {"process": None}, "column process is missing"),
        ({}, {"set_start": None}, "column set_start is missing"),
        ({}, {"set_value": None}, "column set_value is missing"),
        ({}, {"delivery_to": None}, "column delivery_to is missing"),
        ({}, {"string_end": None}, "the string table is missing"),
        ({}, {"value_text": None}, "the value table is missing"),
        ({"events": 4}, {}, "column process has the wrong length"),
        ({"events": -1}, {}, "its directory has no proper entry events"),
        ({"events": 10**12}, {}, "its directory has no proper entry events"),
        ({"events": "3"}, {}, "its directory has no proper entry events"),
        ({"sections": []}, {}, "its directory has no proper entry sections"),
        ({"processes": [["P", {}, True, None]]}, {}, "section receive_start has the wrong length"),
        ({"processes": [["P", {}, True]]}, {}, "a process is malformed"),
        ({"processes": [["P", {}, True, None]] * 3}, {}, "two processes have the same name"),
        ({"header": {"processes": 1}}, {}, "the header is malformed"),
        ({"header": {"processes": {"P": 1}}}, {}, "the header is malformed"),
    ],
)
def test_a_lying_directory(
    path: Path, change: dict[str, Any], sections: dict[str, Any], message: str
) -> None:
    with_directory(path, change, sections)
    with pytest.raises(TraceError) as caught:
        read_columns(path)
    assert str(caught.value) == f"{path}: the columnar trace is damaged: {message}"


def without_arrangement(path: Path) -> None:
    """The file as it was before there was an arrangement by process."""
    data = path.read_bytes()
    magic, version, zero, start, length = HEAD.unpack_from(data)
    about = json.loads(data[start : start + length])
    prefixes = ("length", "receive_", "send_", "course_")
    about["sections"] = {k: v for k, v in about["sections"].items() if not k.startswith(prefixes)}
    directory = json.dumps(about).encode()
    head = HEAD.pack(magic, version, zero, start, len(directory))
    path.write_bytes(head + data[HEAD.size : start] + directory)


def arrangement(trace: Trace) -> list[Any]:
    links = [
        (list(part.start), list(part.position), list(part.end)) for part in (trace.receives, trace.sends)
    ]
    courses = {key: (list(part.position or ()), list(part.number)) for key, part in trace.courses.items()}
    return [list(trace.lengths), links, courses]


@given(trace=traces())
@settings(max_examples=40)
def test_the_arrangement_is_stored(tmp_path_factory: pytest.TempPathFactory, trace: Trace) -> None:
    path = tmp_path_factory.mktemp("runs") / "a.columns"
    write_columns(trace, path)
    assert arrangement(read_columns(path)) == arrangement(trace)
    without_arrangement(path)
    assert arrangement(read_columns(path)) == arrangement(trace)


def test_nothing_is_looked_at_before_it_is_needed(path: Path) -> None:
    trace = read_columns(path)
    assert len(trace) == 3
    assert list(trace.lengths) == [1, 1, 1]
    assert trace.course_numbers
    assert "process" not in vars(trace) and "set_value" not in vars(trace)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("process", b"\x07", "column process has an entry out of range"),
        ("set_start", b"\x01", "column set_start does not cover its entries"),
        ("delivery_send", b"\x7f", "column delivery_send has an entry out of range"),
    ],
)
def test_a_column_is_checked_when_it_is_used(path: Path, name: str, content: bytes, message: str) -> None:
    data = bytearray(path.read_bytes())
    _, _, _, start, length = HEAD.unpack_from(data)
    place = json.loads(data[start : start + length])["sections"][name][1]
    data[place : place + len(content)] = content
    path.write_bytes(data)
    trace = read_columns(path)
    with pytest.raises(TraceError) as caught:
        getattr(trace, name)
    assert str(caught.value) == f"{path}: the columnar trace is damaged: {message}"


def test_a_damaged_arrangement_never_ends_in_another_exception(path: Path) -> None:
    from possibly.order.computation import Computation
    from possibly.order.lattice import Lattice
    from possibly.order.predicate import CutPredicates
    from possibly.order.slice import whole
    from possibly.order.state import Readings

    data = path.read_bytes()
    _, _, _, start, length = HEAD.unpack_from(data)
    sections = json.loads(data[start : start + length])["sections"]
    first = sections["length"][1]
    dice = random.Random(2)
    errors = 0
    for place in range(first, start):
        damaged = bytearray(data)
        damaged[place] ^= dice.choice((0x01, 0x02, 0x10, 0x80, 0xFF))
        path.write_bytes(damaged)
        for twin in (nullcontext, plain):
            try:
                with twin():
                    trace = read_columns(path)
                    computation = Computation(trace)
                    everything = whole(computation)
                    everything.least_from(computation.final)
                    everything.greatest_from(computation.initial)
                    predicates = CutPredicates(Lattice(computation), Readings(computation))
                    for process, name in trace.course_numbers:
                        predicates.states(Local(trace.processes[process].name, name), process)
            except TraceError as error:
                errors += 1
                assert str(error).startswith(str(path))
    assert errors > (start - first) // 4


def test_heads_that_are_none(path: Path) -> None:
    data = path.read_bytes()
    _, version, zero, start, length = HEAD.unpack_from(data)
    heads = [
        (HEAD.pack(b"POSSIBLE", version, zero, start, length), "not a columnar trace"),
        (HEAD.pack(b"POSSIBLY", 2, zero, start, length), "version 2 is newer than 1 (upgrade possibly)"),
        (
            HEAD.pack(b"POSSIBLY", 1, zero, start, length + 1),
            "the columnar trace is damaged: its directory lies outside the file",
        ),
        (
            HEAD.pack(b"POSSIBLY", 1, zero, 2**64 - 1, 2**64 - 1),
            "the columnar trace is damaged: its directory lies outside the file",
        ),
    ]
    for head, message in heads:
        path.write_bytes(head + data[HEAD.size :])
        with pytest.raises(TraceError) as caught:
            read_columns(path)
        assert str(caught.value) == f"{path}: {message}"


def test_a_directory_nested_out_of_all_bounds(path: Path) -> None:
    text = b"[" * 100_000
    path.write_bytes(HEAD.pack(b"POSSIBLY", 1, 0, HEAD.size, len(text)) + text)
    with pytest.raises(TraceError, match="nested too deeply"):
        read_columns(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot read the trace: No such file"):
        read_columns(tmp_path / "no.columns")


def test_an_empty_trace(tmp_path: Path) -> None:
    write_columns(TraceBuilder().finish(), tmp_path / "a.columns")
    assert len(read_columns(tmp_path / "a.columns")) == 0
