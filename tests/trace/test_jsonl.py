"""The text form: round trips, every way a file can be broken, and what loading costs."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from possibly.errors import TraceError
from possibly.trace import Trace, TraceBuilder, jsonl, read_trace, same_run, write_lines, write_trace
from possibly.trace.model import Ints
from tests.trace.strategies import traces

HEADER = '{"format": "possibly-trace", "version": 1, "processes": [{"name": "P", "init": {"x": 0}}]}'


def read(text: str | bytes) -> Trace:
    return read_trace(io.BytesIO(text.encode() if isinstance(text, str) else text))


def error_of(text: str | bytes) -> str:
    with pytest.raises(TraceError) as caught:
        read(text)
    return str(caught.value)


@pytest.fixture(params=["json", "msgspec"])
def decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both decoders read the same; a limit of 0 means msgspec from the start."""
    monkeypatch.setattr(jsonl, "BIG", 0 if request.param == "msgspec" else 1 << 60)
    return str(request.param)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"p": "P"', "2:10: broken JSON, expecting ',' delimiter"),
        ('{"p": "P"} x', "2:12: broken JSON, extra data"),
        ('{"p": "P"}{"p": "P"}', "2:11: broken JSON, extra data"),
        ("{'p': 1}", "2:2: broken JSON, expecting property name enclosed in double quotes"),
        ('{"p": "P", "set": {"x": NaN}}', "2: NaN is not a JSON value"),
        ('{"p": "P", "set": {"x": -Infinity}}', "2: -Infinity is not a JSON value"),
        ('{"p": "P", "set": {"x": 1e999}}', "2: a number is not finite or too large"),
        ('{"p": "P", "set": {"x": ' + "7" * 5000 + "}}", "2: an integer has too many digits"),
        ('{"p": "P", "set": {"x": "a\tb"}}', "2:27: broken JSON, invalid control character"),
        ('{"p": "P", "label": "\\ud800"}', "2: the string '\\ud800' has half a surrogate pair"),
        (
            '{"p": "P", "set": {"x": ' + "[" * 300 + "]" * 300 + "}}",
            "2: a value is nested more than 200 levels deep",
        ),
        (
            '{"p": "P", "other": ' + "[" * 300 + "]" * 300 + "}",
            "2: a value is nested more than 200 levels deep",
        ),
        ("[1]", "2: a line must be a JSON object, found a list"),
        ("7", "2: a line must be a JSON object, found the number 7"),
        ("null", "2: a line must be a JSON object, found null"),
        ('{"p": 7}', '2: "p" must be the name of a process, a string, found the number 7'),
    ],
)
def test_a_broken_line_is_named(decoder: str, line: str, message: str) -> None:
    assert error_of(f"{HEADER}\n{line}\n") == message
    blanks = "\n" * 40
    assert error_of(f'{HEADER}\n{{"p": "P"}}{blanks}{line}\n') == f"{42}{message[1:]}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the file is empty, expected a header line"),
        ("\n \n\t\r\n", "1: the file is empty, expected a header line"),
        ("hello world\n", "1:1: not a trace: the first line is not JSON"),
        (b"\x7fELF\x02\x01\x01\x00\n", "1:1: not a trace: the first line is not JSON"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "1:1: the text is not UTF-8"),
        (HEADER.encode() + b'\n{"p": "\xff"}\n', "2:8: the text is not UTF-8"),
        (HEADER.encode() + b'\n{"p": "\xed\xa0\x80"}\n', "2:8: the text is not UTF-8"),
        (HEADER.encode("utf-16"), "1:1: the text is not UTF-8"),
        ('{"p": "P"}\n', '1: the first line is not a header, which has "format" (expected "possibly-trace")'),
        ("[]\n", "1: a line must be a JSON object, found a list"),
        ('{"format": "other"}', '1: "format" must be "possibly-trace", found the string "other"'),
        ('{"format": "possibly-trace"}', '1: "version" must be a positive integer, found null'),
        (
            '{"format": "possibly-trace", "version": true}',
            '1: "version" must be a positive integer, found true',
        ),
        (
            '{"format": "possibly-trace", "version": "1"}',
            '1: "version" must be a positive integer, found the string "1"',
        ),
        ('\n{"format": "possibly-trace", "version": 2}', "2: version 2 is newer than 1 (upgrade possibly)"),
        (
            HEADER + '\n{"p": "P", "se',
            "2:12: broken JSON, unterminated string (the file ends in the middle of a line)",
        ),
    ],
)
def test_a_broken_file_is_named(decoder: str, text: str | bytes, message: str) -> None:
    assert error_of(text) == message


@pytest.mark.parametrize("depth", [100_000])
def test_values_nested_out_of_all_bounds(decoder: str, depth: int) -> None:
    text = f'{HEADER}\n{{"p": "P", "set": {{"x": {"[" * depth}{"]" * depth}}}}}\n'
    assert "nested" in error_of(text)
    assert "nested" in error_of("[" * depth)


def test_what_is_accepted_besides(decoder: str) -> None:
    text = f'\ufeff{HEADER}\r\n\n  {{"p": "P", "id": "é"}}  \r\n\t\n{{"id": "b", "p": "P"}}'
    trace = read(text)
    assert [trace.name(event) for event in range(2)] == ["é", "b"]
    assert [trace.line(event) for event in range(2)] == [3, 5]


def test_integers_stay_exact_and_the_last_duplicate_counts(decoder: str) -> None:
    big = 123456789012345678901234567890
    text = f'{HEADER}\n{{"p": "P", "set": {{"x": 1, "x": {big}, "y": -{2**63}, "z": {2**64}}}}}\n'
    trace = read(text + '{"p": "Q", "p": "P"}\n')
    assert trace.event(0).set == {"x": big, "y": -(2**63), "z": 2**64}
    assert trace.event(1).process == "P"


def test_fields_stand_in_any_order(decoder: str) -> None:
    lines = ['{"to": "P", "msg": "m", "kind": "send", "p": "P"}', '{"msg": "m", "p": "P", "kind": "receive"}']
    assert list(read("\n".join([HEADER, *lines])).delivery_receive) == [1]


def test_a_line_of_ten_megabytes_is_fine_and_a_longer_one_than_the_limit_is_not(
    decoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f'{{"p": "P", "set": {{"x": "{"y" * (10 << 20)}"}}}}'
    assert len(read(f"{HEADER}\n{line}\n{line}").values[0]) == 10 << 20
    monkeypatch.setattr(jsonl, "LINE_LIMIT", 1 << 20)
    assert error_of(f"{HEADER}\n{line}\n") == "2: the line is longer than 1 MiB"


def test_a_bomb_is_stopped_by_the_line_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LINE_LIMIT", 4 << 20)
    zeros = bytes(1 << 20)
    for packed in (gzip.compress(zeros * 64), zstandard.compress(zeros * 64)):
        tracemalloc.start()
        assert error_of(packed) == "1: the line is longer than 4 MiB"
        assert tracemalloc.get_traced_memory()[1] < 48 << 20
        tracemalloc.stop()


@given(traces())
def test_lines_read_back_tell_the_same_run(trace: Trace) -> None:
    text = "\n".join(write_lines(trace))
    again = read(text)
    assert same_run(trace, again)
    assert list(write_lines(again)) == list(write_lines(trace))


@given(trace=traces(), ending=st.sampled_from(["jsonl", "jsonl.gz", "jsonl.zst"]))
@settings(max_examples=30)
def test_files_read_back_tell_the_same_run(
    tmp_path_factory: pytest.TempPathFactory, trace: Trace, ending: str
) -> None:
    path = tmp_path_factory.mktemp("runs") / f"a.{ending}"
    write_trace(trace, path)
    assert same_run(trace, read_trace(path))
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def sample() -> Trace:
    builder = TraceBuilder()
    builder.header([("P", {"x": 0}), ("Q", {})], {"turn": 0})
    builder.add("P", kind="send", msg="m", to="Q", set={"x": [1, {"a": None}]}, label="é")
    builder.add("Q", kind="receive", msg="m", write={"turn": 1}, extra={"colour": "red"})
    builder.add("R", parent="P", after="P:1", t=1.5)
    return builder.finish()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("packing", PACKERS)
def test_a_file_cut_anywhere_is_an_error_or_a_shorter_run(packing: str) -> None:
    lines = list(write_lines(sample()))
    data = PACKERS[packing](("\n".join(lines) + "\n").encode())
    whole = [read("\n".join(lines[:count])) for count in range(1, len(lines) + 1)]
    accepted = 0
    for end in range(len(data)):
        try:
            trace = read(data[:end])
        except TraceError as error:
            assert str(error)
        else:
            accepted += 1
            assert any(same_run(trace, shorter) for shorter in whole)
    assert accepted == (2 * len(lines) - 1 if packing == "plain" else 0)


@pytest.mark.parametrize("packing", PACKERS)
def test_a_damaged_byte_never_ends_in_another_exception(packing: str) -> None:
    data = PACKERS[packing](("\n".join(write_lines(sample())) + "\n").encode())
    for place in range(len(data)):
        for damage in (0x01, 0x80, 0xFF):
            try:
                read(data[:place] + bytes([data[place] ^ damage]) + data[place + 1 :])
            except TraceError as error:
                assert str(error)


@given(st.binary(max_size=200))
def test_rubbish_is_an_error(data: bytes) -> None:
    assert error_of(data)
    assert error_of(b"\x1f\x8b\x08" + data)
    assert error_of(b"\x28\xb5\x2f\xfd" + data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
field_names = st.sampled_from(["p", "id", "kind", "set", "write", "read", "msg", "to", "tag", "after", "meet",
                               "fn", "at", "label", "t", "parent", "other"])  # fmt: skip


@given(st.dictionaries(field_names, json_values | st.sampled_from(["P", "send", ["P"]])), st.booleans())
def test_whatever_json_a_line_holds_both_decoders_say_the_same(
    fields: dict[str, Any], is_ascii: bool
) -> None:
    text = f"{HEADER}\n{json.dumps(fields, ensure_ascii=is_ascii)}\n".encode(errors="surrogatepass")
    outcomes = []
    for big in (1 << 60, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jsonl, "BIG", big)
            try:
                outcomes.append(list(write_lines(read(text))))
            except TraceError as error:
                outcomes.append([str(error)])
    assert outcomes[0] == outcomes[1]


def test_another_order_of_the_same_events() -> None:
    builder = TraceBuilder()
    builder.header([("P", {}), ("Q", {})])
    builder.add("P", label="one")
    builder.add("Q", after="P:1", label="two")
    builder.add("P", label="three")
    trace = read("\n".join(write_lines(builder.finish(), [0, 2, 1])))
    assert [trace.event(event).label for event in range(3)] == ["one", "three", "two"]
    assert [trace.name(event) for event in range(3)] == ["P:1", "P:2", "Q:1"]
    assert trace.event(2).after == ("P:1",)


def test_defaults_are_left_out() -> None:
    assert list(write_lines(sample())) == [
        '{"format":"possibly-trace","version":1,"processes":[{"name":"P","init":{"x":0}},{"name":"Q"}],"shared":{"turn":0}}',
        '{"p":"P","kind":"send","set":{"x":[1,{"a":null}]},"msg":"m","to":"Q","label":"é"}',
        '{"p":"Q","kind":"receive","write":{"turn":1},"msg":"m","colour":"red"}',
        '{"p":"R","after":["P:1"],"t":1.5,"parent":"P"}',
    ]


def test_unknown_fields_of_the_header_come_back() -> None:
    header = {"format": "possibly-trace", "version": 1, "host": {"a": 1}}
    header["processes"] = [{"name": "P", "pid": 7, "parent": "main"}, {"name": "Q"}]
    assert json.loads(next(write_lines(read(json.dumps(header))))) == header


def test_a_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "no.jsonl", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(TraceError) as caught:
            read_trace(path)
        assert str(caught.value) == f"{path}: cannot read the trace: {reason}"
    with pytest.raises(TraceError, match="cannot read the trace"):
        read_trace("a\0b")


def test_progress_goes_from_the_first_byte_to_the_last(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + "\n" + '{"p": "P"}\n' * 60_000)
    seen: list[tuple[int, int]] = []
    read_trace(path, progress=lambda done, total: seen.append((done, total)))
    size = path.stat().st_size
    assert seen == sorted(seen)
    assert seen[-1] == (size, size)
    assert len(seen) > 2


def columns_of(trace: Trace) -> list[Ints]:
    return [column for column in vars(trace).values() if hasattr(column, "itemsize")]


@pytest.mark.parametrize(("big", "count"), [(0, 200_000), (1 << 60, 50_000)])
def test_memory_is_that_of_the_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, big: int, count: int
) -> None:
    """The peak stays below twice the bytes of the columns and 2 MiB for blocks of text."""
    monkeypatch.setattr(jsonl, "BIG", big)
    path = tmp_path / "a.jsonl"
    lines = (f'{{"p": "P{number % 8}", "set": {{"x": {number % 99}}}}}\n' for number in range(count))
    path.write_text(HEADER + "\n" + "".join(lines))
    tracemalloc.start()
    trace = read_trace(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = sum(len(column) * getattr(column, "itemsize", 8) for column in columns_of(trace))
    assert len(trace) == count
    assert peak < 2 * size + (2 << 20)
