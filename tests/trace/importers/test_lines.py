"""Logs with an event a line: what the fields mean, how messages are matched, and what is said of the rest."""

from __future__ import annotations

import json
import random
from itertools import product

import pytest

from possibly.errors import PossiblyError, TraceError, UsageError
from possibly.order.computation import Computation
from possibly.trace import Trace
from possibly.trace.importers.lines import Layout, import_lines

RAFT = Layout(
    process="n{event.nid}",
    label="event.name",
    variables={"term": "event.state.term"},
    sends=(("event.name", "Send*"),),
    receives=(("event.name", "Receive*"),),
    message=("event.msg.type", "event.msg.to"),
    to="n{event.msg.to}",
    time="ts",
)


def line(name: str, node: int, term: int, **message: object) -> str:
    event = {"name": name, "nid": node, "state": {"term": term}} | ({"msg": message} if message else {})
    return json.dumps({"ts": 1.5, "event": event})


def imported(lines: list[str], layout: Layout) -> tuple[Trace, list[str]]:
    notes: list[str] = []
    [(name, trace)] = import_lines(lines, layout, file="run.log", note=notes.append)
    assert name == ""
    return trace, notes


def shape(trace: Trace) -> list[tuple[str, str, object]]:
    events = map(trace.event, range(len(trace)))
    return [(each.process, each.kind, each.label) for each in events]


def test_inner_fields_of_json_and_messages_by_their_fields() -> None:
    log = [
        line("SendVote", 1, 2, type="vote", to=2),
        line("ReceiveVote", 2, 1, type="vote", to=2),
        "",
        "not of this log",
    ]
    trace, notes = imported(log, RAFT)
    assert shape(trace) == [("n1", "send", "SendVote"), ("n2", "receive", "ReceiveVote")]
    assert trace.event(0).set == {"term": 2} and trace.event(0).t == 1.5
    assert notes == ["1 of 3 lines have no process and were left out"]


def test_the_k_th_send_goes_to_the_k_th_receive_and_the_rest_is_said() -> None:
    log = [
        line("ReceiveVote", 2, 1, type="vote", to=2),
        line("ReceiveVote", 2, 1, type="vote", to=2),
        line("ReceiveVote", 2, 1, type="vote", to=2),
        line("SendVote", 1, 2, type="vote", to=2),
        line("SendVote", 1, 2, type="vote", to=2),
    ]
    trace, notes = imported(log, RAFT)
    kinds = [kind for _, kind, _ in shape(trace)]
    assert kinds == ["send", "receive", "send", "receive", "internal"], "sends before their receives"
    assert notes == ["1 receives have no send in this log and are internal events"]


def test_pairs_of_names_and_values() -> None:
    log = ['12:00 [main] INFO : Kind=REQUEST, Client=3, Result=null, Done=true, Text="a \\"b\\", c=d"']
    trace, _ = imported(log, Layout(process="client {Client}", label="Kind"))
    assert shape(trace) == [("client 3", "internal", "REQUEST")]
    expected = {"Kind": "REQUEST", "Client": 3, "Result": None, "Done": True, "Text": 'a "b", c=d'}
    assert trace.event(0).set == expected


def test_groups_of_a_parser() -> None:
    layout = Layout(process="who", parser=r"(?<who>\w+) puts (?<x>\d+)")
    trace, notes = imported(["a puts 12", "b takes", "b puts 3"], layout)
    assert [trace.event(number).set for number in range(2)] == [{"who": "a", "x": 12}, {"who": "b", "x": 3}]
    assert notes == ["1 of 3 lines have no process and were left out"]


def test_fields_of_one_name_keep_their_whole_path() -> None:
    trace, _ = imported(['{"p": "a", "in": {"x": 1}, "out": {"x": 2, "y": 3}}'], Layout(process="p"))
    assert trace.event(0).set == {"p": "a", "in_x": 1, "out_x": 2, "y": 3}


def test_clocks_say_the_order() -> None:
    log = ['{"n": 2, "e": "got", "vc": {"1": 1, "2": 1}}', '{"n": 1, "e": "sent", "vc": {"1": 1}}']
    trace, _ = imported(log, Layout(process="n", label="e", clock="vc"))
    assert [label for _, _, label in shape(trace)] == ["sent", "got"]
    order = Computation(trace)
    assert order.happened_before(0, 1)


def test_however_logs_are_put_together_the_order_is_that_of_processes_and_messages() -> None:
    chance = random.Random(3)
    for _ in range(50):
        events = [(chance.randrange(3), chance.randrange(3)) for _ in range(8)]
        log = [line("Send", a, 0, type="m", to=b, k=k) for k, (a, b) in enumerate(events)]
        log += [line("Receive", b, 0, type="m", to=b, k=k) for k, (a, b) in enumerate(events)]
        layout = Layout(
            process="n{event.nid}",
            sends=RAFT.sends,
            receives=RAFT.receives,
            message=("event.msg.k",),
            variables={"k": "event.msg.k"},
        )
        whole, _ = imported(log, layout)
        apart = sorted(log, key=lambda each: int(json.loads(each)["event"]["nid"]))
        parted, _ = imported(apart, layout)
        assert edges(whole) == edges(parted)


def edges(trace: Trace) -> set[tuple[tuple[str, str, object], tuple[str, str, object]]]:
    events = [trace.event(number) for number in range(len(trace))]
    names = [(each.process, each.kind, each.set["k"]) for each in events]
    order = Computation(trace)
    pairs = product(range(len(trace)), repeat=2)
    return {(names[one], names[other]) for one, other in pairs if order.happened_before(one, other)}


@pytest.mark.parametrize(
    ("log", "layout", "message"),
    [
        (["{}"], Layout(process="p"), 'no line has the process "p"'),
        (['{"q": 1}'], Layout(process="p"), "the first line with fields has: q"),
        (["plain"], Layout(process="p"), "give --parser"),
        (['{"p": 1, "s": 1}'], Layout(process="p", sends=(("s", "1"),), message=("m",)), 'the field "m"'),
        (['{"p": 1}'], Layout(process="p", clock="vc"), "a clock must be a JSON object"),
        (['{"p": 1, "t": "soon"}'], Layout(process="p", time="t"), '"soon" is no time'),
    ],
)
def test_what_is_wrong_is_said(log: list[str], layout: Layout, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        imported(log, layout)
    assert message in str(caught.value) and "run.log" in str(caught.value)


def test_a_message_that_would_come_before_itself() -> None:
    log = [
        line("Receive", 1, 0, type="a", to=1),
        line("Send", 1, 0, type="b", to=2),
        line("Receive", 2, 0, type="b", to=2),
        line("Send", 2, 0, type="a", to=1),
    ]
    with pytest.raises(TraceError, match="come before itself"):
        imported(log, RAFT)


def test_layouts_that_make_no_sense() -> None:
    with pytest.raises(UsageError, match="--message"):
        Layout(process="p", sends=(("a", "b"),))
    with pytest.raises(UsageError, match="not from both"):
        Layout(process="p", clock="c", message=("m",))


def test_random_bytes_end_in_a_sentence_or_a_trace() -> None:
    chance = random.Random(5)
    whole = line("SendVote", 1, 2, type="vote", to=2)
    for _ in range(300):
        text = list(whole)
        for _ in range(chance.randrange(1, 6)):
            text[chance.randrange(len(text))] = chance.choice('{}[]",:0e-\\\x00ü')
        try:
            imported(["".join(text), whole], RAFT)
        except PossiblyError as error:
            assert str(error)
