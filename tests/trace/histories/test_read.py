"""Histories in every format that is known, and errors that name the line."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from possibly.errors import TraceError
from possibly.trace import TraceBuilder, read_trace
from possibly.trace.histories.edn import forms
from possibly.trace.histories.model import History, Keyword, Map, Outcome, shown
from possibly.trace.histories.read import read_history
from possibly.trace.histories.traces import history_of_trace

ROWS = [
    (0, "invoke", "write", 3), (1, "invoke", "read", None), (0, "ok", "write", 3),
    (1, "ok", "read", 3),
    (0, "invoke", "cas", [3, 4]), (1, "invoke", "write", 5), (0, "fail", "cas", [3, 4]),
    (1, "info", "write", 5),
]  # fmt: skip


def edn_value(value: object) -> str:
    return (
        "nil"
        if value is None
        else f"[{' '.join(map(str, value))}]"
        if isinstance(value, list)
        else str(value)
    )


LOG = "\n".join(f"INFO  jepsen.util - {p}\t:{t}\t:{f}\t{edn_value(v)}" for p, t, f, v in ROWS)
EDN = "\n".join(f"{{:process {p}, :type :{t}, :f :{f}, :value {edn_value(v)}}}" for p, t, f, v in ROWS)
JSON = "\n".join(json.dumps({"process": p, "type": t, "f": f, "value": v}) for p, t, f, v in ROWS)
FORMATS = {
    "log": LOG,
    "newer log": LOG.replace(
        "INFO  jepsen.util -", "INFO [2026-01-01 10:00:00,000] jepsen worker 1 - jepsen.util"
    ),
    "log with other lines": f"INFO starting\n{LOG}\nINFO  jepsen.util - :nemesis :info :start nil\n",
    "edn": EDN,
    "one vector": f"; a history\n[{EDN}]",
    "tagged": "\n".join(f"#jepsen.history.Op{line}" for line in EDN.split("\n")),
    "json lines": JSON,
    "one list": f"[{', '.join(JSON.split(chr(10)))}]",
}


def facts(history: History) -> list[object]:
    return [
        (each.process, each.name, each.argument, each.result, each.outcome, each.called, each.returned)
        for each in history
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_the_same(name: str) -> None:
    assert facts(read_history(FORMATS[name])) == [
        ("0", "write", 3, 3, Outcome.OK, 0, 2),
        ("1", "read", None, 3, Outcome.OK, 1, 3),
        ("0", "cas", (3, 4), None, Outcome.FAILED, 4, 6),
        ("1", "write", 5, None, Outcome.UNKNOWN, 5, None),
    ]


def test_whole_operations_overlap_at_the_same_time() -> None:
    rows = [
        {"process": 1, "f": "read", "call": 5, "return": 9, "result": 1},
        {"process": 0, "f": "write", "value": 1, "call": 2.5, "return": 5},
        {"process": 2, "f": "write", "value": 2, "call": 7},
    ]
    history = read_history("\n".join(map(json.dumps, rows)))
    assert [(each.name, each.called, each.returned) for each in history] == [
        ("write", 0, 2), ("read", 1, 4), ("write", 3, None),
    ]  # fmt: skip


def test_a_recorded_run_has_calls_and_returns() -> None:
    run = "\n".join(
        map(
            json.dumps,
            [
                {"format": "possibly-trace", "version": 1, "processes": [{"name": "P"}, {"name": "Q"}]},
                {"p": "P", "kind": "call", "fn": "put", "set": {"argument": [1, 2], "key": "k"}},
                {"p": "Q", "label": "call", "set": {"fn": "get", "key": "k"}},
                {"p": "P", "kind": "return", "fn": "put"},
                {"p": "Q", "label": "return", "set": {"fn": "get", "result": [1, 2]}},
            ],
        )
    )
    history = history_of_trace(read_trace(BytesIO(run.encode())))
    assert facts(history) == [
        ("P", "put", (1, 2), None, Outcome.OK, 0, 2), ("Q", "get", None, (1, 2), Outcome.OK, 1, 3),
    ]  # fmt: skip
    assert {each.key for each in history} == {"k"}


def test_a_run_without_calls_says_what_is_missing() -> None:
    with pytest.raises(TraceError, match="no calls and returns in this run"):
        history_of_trace(TraceBuilder().finish())


BAD = {
    "": ("an empty history", None),
    "hello\nworld": ("no history in it", None),
    "x - 0 :invoke :read nil\nx - 0 :invoke :read nil": ("calls read inside another call", 2),
    "x - 0 :ok :read nil": ("without a call", 1),
    "x - 0 :invoke :read nil\nx - 0 :ok :write 1": ("but called read", 2),
    "x - 0 :invoke read": ("not a process, a type, an operation and a value", 1),
    "{:process 0 :type :invoke :f :read :value [1}": ("closes nothing", 1),
    "{:process 0 :type :invoke\n:f :read": ("is never closed", 1),
    "{:process 0 :type :begin :f :read}": ("no type that is known", 1),
    "{:process 0 :type :invoke}": ("no f that is known", 1),
    "{:a}": ("a key that has no value", 1),
    "[1 2]": ("not a map", 1),
    '{"process": 0, "type": "invoke", "f": "read"}\n{"process"': ("not JSON", 2),
    '{"f": "read", "call": 3, "return": 1}': ("returns before it is called", 1),
    '{"f": "read", "call": "now"}': ("must be a time", 1),
    '{"f": "read", "call": NaN}': ("must be a time", 1),
    "[" * 5_000: ("nested too deeply", 1),
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:30])
def test_errors_name_the_line(text: str) -> None:
    message, line = BAD[text]
    with pytest.raises(TraceError, match=message) as error:
        read_history(text, "h")
    assert error.value.line == line


def values(text: str) -> list[object]:
    return [value for _, value in forms(text)]


def test_edn() -> None:
    text = r"""nil true -3 4N 1.5 2e3 1.0M "a\n\u00e9\"" :k/x sym \a \newline [1 (2)] #{1 2} {:a 1, "b" [2]}
        #inst "2026" #_ hidden #_#_ 1 2 ^:meta 7 ; the end"""
    assert values(text) == [
        None, True, -3, 4, 1.5, 2000.0, 1.0, 'a\né"', Keyword("k/x"), Keyword("sym"), "a", "\n", (1, (2,)),
        frozenset({1, 2}), Map(frozenset({(Keyword("a"), 1), ("b", (2,))})), "2026", Keyword("meta"), 7,
    ]  # fmt: skip
    assert [line for line, _ in forms("1\n2\n\n{:a\n1}")] == [1, 2, 4]


def test_values_are_shown_as_they_are_written() -> None:
    text = '[nil true 3 "a\\"b" :k #{1 2} {:a 1}]'
    assert shown(values(text)[0]) == text.replace("#{", "{")
