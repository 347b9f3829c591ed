"""The law of the format: what is accepted, and which line an error names."""

from __future__ import annotations

from typing import Any

import pytest

from possibly.errors import TraceError
from possibly.trace import NONE, Trace, TraceBuilder

E = dict[str, Any]


def built(*events: E, processes: tuple[str, ...] = ("P", "Q"), shared: E | None = None) -> Trace:
    builder = TraceBuilder("run.jsonl")
    builder.header([(name, {}) for name in processes], shared)
    for line, event in enumerate(events, 2):
        builder.add_fields(event, line)
    return builder.finish()


SEND: E = {"p": "P", "kind": "send", "msg": "m", "to": "Q"}
RECEIVE: E = {"p": "Q", "kind": "receive", "msg": "m"}
ENTER: E = {"p": "P", "kind": "enter", "fn": "f"}


@pytest.mark.parametrize(
    ("line", "message", "events"),
    [
        (2, '"to" names the unknown process "Z"', [SEND | {"to": "Z"}]),
        (2, '"to" names the unknown process "Z"', [{"p": "P", "kind": "acquire", "to": "Z"}]),
        (2, 'message "m" is received before it is sent', [RECEIVE, SEND]),
        (
            3,
            'message "m" is received by "P", which its send does not name in to',
            [SEND, RECEIVE | {"p": "P"}],
        ),
        (
            3,
            'message "m" is received by "Q", which its send does not name in to',
            [SEND | {"to": []}, RECEIVE],
        ),
        (
            3,
            'message "m" is received by "P", which its send does not name in to',
            [SEND | {"to": ["Q", "R"]}, RECEIVE | {"p": "P"}, {"p": "R"}],
        ),
        (
            3,
            'message "m" is received by "Q", which its send does not name in to',
            [SEND | {"to": "R"}, RECEIVE, {"p": "R"}],
        ),
        (4, 'message "m" is received a second time', [SEND, RECEIVE, RECEIVE]),
        (
            4,
            'message "m" is received a second time',
            [{"p": "P", "kind": "send", "msg": "m"}, RECEIVE, RECEIVE | {"p": "P"}],
        ),
        (4, 'message "m" is received a second time', [SEND | {"to": ["P", "Q"]}, RECEIVE, RECEIVE]),
        (3, 'message "m" is sent twice', [SEND, SEND | {"p": "Q"}]),
        (2, '"to" names a process twice', [SEND | {"to": ["Q", "Q"]}]),
        (2, "an event with msg needs kind send or receive", [{"p": "P", "msg": "m"}]),
        (2, "an event with msg needs kind send or receive", [{"p": "P", "msg": "m", "kind": "internal"}]),
        (2, '"after" names "x", but no earlier event has that name', [{"p": "P", "after": ["x"]}]),
        (
            2,
            '"after" names "x", but no earlier event has that name',
            [{"p": "P", "after": "x"}, {"p": "P", "id": "x"}],
        ),
        (2, '"after" names "x", but no earlier event has that name', [{"p": "P", "id": "x", "after": ["x"]}]),
        (2, '"after" names "P:1", but no earlier event has that name', [{"p": "P", "after": ["P:1"]}]),
        (
            3,
            '"after" names "P:1", but no earlier event has that name',
            [{"p": "P", "id": "x"}, {"p": "Q", "after": ["P:1"]}],
        ),
        (
            3,
            '"after" names "P:01", but no earlier event has that name',
            [{"p": "P"}, {"p": "Q", "after": ["P:01"]}],
        ),
        (3, 'two events have the name "x"', [{"p": "P", "id": "x"}, {"p": "Q", "id": "x"}]),
        (3, 'two events have the name "P:1": one has it by default', [{"p": "P"}, {"p": "Q", "id": "P:1"}]),
        (2, 'two events have the name "P:1": one has it by default', [{"p": "Q", "id": "P:1"}, {"p": "P"}]),
        (
            2,
            'two events have the name "R:2": one has it by default',
            [{"p": "Q", "id": "R:2"}, {"p": "R"}, {"p": "R"}],
        ),
        (2, 'exit of "f", but no function is open', [ENTER | {"kind": "exit"}]),
        (3, 'exit of "g", but "f" is the innermost open one', [ENTER, ENTER | {"kind": "exit", "fn": "g"}]),
        (3, 'exit of "f", but no function is open', [ENTER, ENTER | {"kind": "exit", "p": "Q"}]),
        (3, "an event of kind exit needs fn", [ENTER, {"p": "P", "kind": "exit"}]),
        (2, "an event of kind enter needs fn", [{"p": "P", "kind": "enter"}]),
        (3, 'two events of process "P" in meet "b"', [{"p": "P", "meet": "b"}, {"p": "P", "meet": "b"}]),
        (2, 'an event needs "p", its process', [{"id": "x"}]),
        (2, "the name of a process is empty", [{"p": ""}]),
        (2, '"p" must be the name of a process, a string, found the number 1', [{"p": 1}]),
        (2, '"p" must be the name of a process, a string, found a list', [{"p": ["P"]}]),
        (2, '"p" must be the name of a process, a string, found null', [{"p": None}]),
        (2, '"id" must be a string, found the number 3', [{"p": "P", "id": 3}]),
        (2, '"kind" must be a string, found an object', [{"p": "P", "kind": {}}]),
        (2, '"kind" must be a string, found null', [{"p": "P", "kind": None}]),
        (2, '"set" must be an object of variables and values, found a list', [{"p": "P", "set": ["x"]}]),
        (
            2,
            '"write" must be an object of variables and values, found the string "x"',
            [{"p": "P", "write": "x"}],
        ),
        (2, '"read" must be a name or a list of names, found an object', [{"p": "P", "read": {}}]),
        (2, '"read" must be a list of names, found true', [{"p": "P", "read": [True]}]),
        (2, '"msg" must be a string, found the number 1', [SEND | {"msg": 1}]),
        (2, '"to" must be a name or a list of names, found the number 7', [SEND | {"to": 7}]),
        (2, '"tag" must be a string, found false', [SEND | {"tag": False}]),
        (2, '"after" must be a list of names, found the number 1.5', [{"p": "P", "after": [1.5]}]),
        (2, '"meet" must be a string, found a list', [{"p": "P", "meet": []}]),
        (2, '"fn" must be a string, found null', [ENTER | {"fn": None}]),
        (2, '"at" must be a string, found the number 12', [{"p": "P", "at": 12}]),
        (2, '"label" must be a string, found the number 12', [{"p": "P", "label": 12}]),
        (2, '"t" must be a number of seconds, found true', [{"p": "P", "t": True}]),
        (2, '"t" is not a finite number of seconds', [{"p": "P", "t": float("nan")}]),
        (2, '"t" is not a finite number of seconds', [{"p": "P", "t": 10**400}]),
        (2, '"parent" must be a string, found the number 1', [{"p": "R", "parent": 1}]),
        (2, "a number is not finite or too large", [{"p": "P", "set": {"x": float("inf")}}]),
        (2, "a number is not finite or too large", [{"p": "P", "other": [float("nan")]}]),
        (2, "the string '\\ud800' has half a surrogate pair", [{"p": "P", "label": "\ud800"}]),
        (2, "the string '\\ud800' has half a surrogate pair", [{"p": "P", "set": {"x": [{"y": "\ud800"}]}}]),
        (2, "a Python set is not a JSON value", [{"p": "P", "set": {"x": {1}}}]),
    ],
)
def test_an_error_names_its_line(line: int, message: str, events: list[E]) -> None:
    with pytest.raises(TraceError) as caught:
        built(*events)
    assert str(caught.value) == f"run.jsonl:{line}: {message}"


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ('the header names process "P" twice', {"processes": [{"name": "P"}, {"name": "P"}]}),
        ('"processes" must be a list of objects, found an object', {"processes": {}}),
        ('"processes" must be a list of objects, found the string "P"', {"processes": ["P"]}),
        ('"name" must be the name of a process, a string, found null', {"processes": [{}]}),
        ("the name of a process is empty", {"processes": [{"name": ""}]}),
        (
            '"init" must be an object of variables and values, found a list',
            {"processes": [{"name": "P", "init": []}]},
        ),
        ('"shared" must be an object of variables and values, found the number 1', {"shared": 1}),
        ("a number is not finite or too large", {"shared": {"x": float("inf")}}),
    ],
)
def test_an_error_in_the_header(message: str, fields: E) -> None:
    with pytest.raises(TraceError) as caught:
        TraceBuilder("run.jsonl").header_fields(fields, 1)
    assert str(caught.value) == f"run.jsonl:1: {message}"


def test_a_header_after_an_event_is_refused() -> None:
    builder = TraceBuilder()
    builder.add("P")
    with pytest.raises(TraceError, match="before all events"):
        builder.header([("P", {})])


def test_a_message_joins_its_send_and_its_receive() -> None:
    trace = built(SEND | {"tag": "token"}, {"p": "P"}, RECEIVE)
    assert list(trace.delivery_send) == [0]
    assert list(trace.delivery_receive) == [2]
    assert list(trace.delivery_to) == [1]
    assert trace.event(0).to == ("Q",)
    assert trace.event(0).tag == "token"
    assert trace.event(1).tag is None


def test_a_broadcast_has_a_row_for_each_receiver_also_for_processes_to_come() -> None:
    trace = built(SEND | {"to": ["Q", "R", "P"]}, {"p": "R"}, RECEIVE | {"p": "R"}, RECEIVE)
    assert list(trace.delivery_send) == [0, 0, 0]
    assert list(trace.delivery_to) == [1, 2, 0]
    assert list(trace.delivery_receive) == [3, 2, NONE]


def test_a_receiver_may_be_created_later() -> None:
    trace = built(SEND | {"to": "R"}, RECEIVE | {"p": "R"})
    assert (list(trace.delivery_to), list(trace.delivery_receive)) == ([2], [1])


def test_without_to_the_receive_says_who() -> None:
    send = {"p": "P", "kind": "send", "msg": "m"}
    assert list(built(send).delivery_to) == [NONE]
    assert list(built(send, RECEIVE).delivery_to) == [1]


def test_a_send_without_msg_has_rows_that_nobody_can_receive() -> None:
    trace = built({"p": "P", "kind": "send"}, {"p": "P", "kind": "send", "to": ["P", "Q"]})
    assert list(trace.delivery_send) == [0, 1, 1]
    assert list(trace.delivery_to) == [NONE, 0, 1]
    assert list(trace.delivery_receive) == [NONE] * 3


def test_msg_on_another_kind_is_only_a_name() -> None:
    trace = built({"p": "P", "kind": "acquire", "msg": "lock"}, {"p": "Q", "kind": "acquire", "msg": "lock"})
    assert len(trace.delivery_send) == 0
    assert trace.event(1).msg == "lock"


def test_a_receive_without_msg_is_just_a_kind() -> None:
    assert built({"p": "Q", "kind": "receive"}).event(0).kind == "receive"


def test_values_are_interned_by_type() -> None:
    distinct = [1, 1.0, True, 0, 0.0, -0.0, False, None, "1", [1], [1.0], [True], {"a": 1, "b": 2}, 2**80, ""]
    again = [*distinct[:-3], {"b": 2, "a": 1}, 2**80, ""]
    trace = built(*({"p": "P", "set": {"x": value}} for value in [*distinct, *again]))
    assert [repr(value) for value in trace.values] == [repr(value) for value in distinct]
    assert list(trace.set_value) == [*range(len(distinct))] * 2


def test_a_list_in_the_trace_is_a_private_copy() -> None:
    value = [1, [2]]
    builder = TraceBuilder()
    builder.add("P", set={"x": value})
    value[1] = 3
    assert builder.finish().event(0).set == {"x": [1, [2]]}


def test_unused_columns_are_none_and_used_ones_are_padded() -> None:
    trace = built({"p": "P"}, {"p": "P", "label": "a", "t": 1, "set": {"x": 1}}, {"p": "P", "read": []})
    assert trace.identifier is None
    assert trace.message is None
    assert trace.write_start is None
    assert trace.read_start is None
    assert trace.lines is None
    assert [trace.text(trace.label, event) for event in range(3)] == [None, "a", None]
    assert trace.set_start is not None
    assert list(trace.set_start) == [0, 0, 1, 1]
    assert [trace.event(event).t for event in range(3)] == [None, 1.0, None]


def test_default_names_and_given_ones() -> None:
    trace = built(
        {"p": "P", "id": "P:0"}, {"p": "P", "id": "P:1"}, {"p": "P"}, {"p": "Q", "after": ["P:1", "P:3"]}
    )
    assert [trace.name(event) for event in range(4)] == ["P:0", "P:1", "P:3", "Q:1"]
    assert trace.event(3).after == ("P:1", "P:3")
    assert trace.find("P:1") == 1
    assert trace.find("P:2") is None


def test_an_id_that_is_the_default_anyway_is_not_kept() -> None:
    trace = built({"p": "P", "id": "P:1"}, {"p": "Q", "after": "P:1"})
    assert trace.identifier is None
    assert list(trace.after(1)) == [0]


def test_a_name_like_a_default_one_that_nobody_takes() -> None:
    trace = built(
        {"p": "P", "id": "R:7"}, {"p": "R", "after": "R:7"}, {"p": "P", "id": "P:99999999999999999999"}
    )
    assert trace.find("R:7") == 0
    assert trace.find("P:" + "9" * 5000) is None


def test_a_process_is_created_by_its_first_event() -> None:
    trace = built({"p": "R", "parent": "P"}, {"p": "R", "parent": "Q"}, {"p": "P", "parent": "Q"})
    created = trace.processes[2]
    assert (created.name, created.declared, created.parent) == ("R", False, "P")
    assert dict(trace.extra) == {1: {"parent": "Q"}, 2: {"parent": "Q"}}


def test_unknown_fields_and_kinds_are_kept() -> None:
    trace = built({"p": "P", "kind": "my kind", "colour": [1]}, {"p": "P", "kind": "acquire", "to": "Q"})
    assert trace.event(0).kind == "my kind"
    assert dict(trace.extra) == {0: {"colour": [1]}, 1: {"to": "Q"}}


def test_functions_may_stay_open_and_nest() -> None:
    leave = ENTER | {"kind": "exit"}
    trace = built(ENTER, ENTER, leave, ENTER | {"fn": "g"}, leave | {"fn": "g"}, leave, ENTER)
    assert len(trace) == 7


def test_reads_and_writes_of_one_variable() -> None:
    event = built({"p": "P", "read": "turn", "write": {"turn": 1}}, shared={"turn": 0}).event(0)
    assert (event.read, event.write) == (("turn",), {"turn": 1})


def test_lines_are_kept_where_they_are_not_number_plus_two() -> None:
    builder = TraceBuilder()
    for line in (2, 3, 7, 8):
        builder.add("P", line=line)
    trace = builder.finish()
    assert [trace.line(event) for event in range(4)] == [2, 3, 7, 8]


def test_add_takes_iterables_and_ignores_what_is_none() -> None:
    builder = TraceBuilder()
    builder.header([("P", {"x": 0}), ("Q", {})], {"turn": 0}, {"made by": "hand"})
    assert builder.add("P", id="a", read=iter(["turn"]), extra={"colour": 1, "label": "shown"}) == 0
    assert builder.add("Q", kind="send", msg="m", to=("P",), after=("a",), set={}, t=2) == 1
    trace = builder.finish()
    assert trace.event(0).read == ("turn",)
    assert trace.event(0).label == "shown"
    assert trace.event(1).after == ("a",)
    assert trace.header == {"made by": "hand"}


def test_a_broadcast_to_thousands_takes_no_quadratic_time() -> None:
    names = [f"W{number}" for number in range(3000)]
    events = [{"p": "P", "kind": "send", "msg": "m", "to": names}]
    events += [{"p": name, "kind": "receive", "msg": "m"} for name in reversed(names)]
    trace = built(*events, processes=("P", *names))
    assert list(trace.delivery_receive) == list(range(3000, 0, -1))
