"""The notation for tests is itself tested."""

from __future__ import annotations

import pytest

from possibly.errors import TraceError
from possibly.trace import Trace, notation


def names(trace: Trace) -> str:
    return " ".join(map(trace.name, range(len(trace))))


def test_a_message() -> None:
    trace = notation.trace("p: a send(m) x=1 | q: recv(m) b")
    assert names(trace) == "a p:2 q:1 p:3 b"
    assert [trace.event(event).kind for event in range(4)] == ["internal", "send", "receive", "internal"]
    assert trace.event(3).set == {"x": 1}
    assert list(trace.delivery_receive) == [2]


def test_initial_values_and_shared_variables() -> None:
    trace = notation.trace('shared(turn=0, q=[1]) P1(x=0, y="a b", z=word): a | "worker 1": b')
    assert dict(trace.shared) == {"turn": 0, "q": [1]}
    assert [process.name for process in trace.processes] == ["P1", "worker 1"]
    assert dict(trace.processes[0].init) == {"x": 0, "y": "a b", "z": "word"}


def test_all_that_an_event_can_carry() -> None:
    trace = notation.trace(
        'p: b a{x=1,y={"k": [true]}}{z=-1.5}<b,q:1%m@"file.py:3"#here&w(turn=1)&r(turn,u) | q: _'
    )
    event = trace.event(2)
    assert event.name == "a"
    assert event.kind == "internal"
    assert event.set == {"x": 1, "y": {"k": [True]}, "z": -1.5}
    assert event.after == ("b", "q:1")
    assert (event.meet, event.at, event.label) == ("m", "file.py:3", "here")
    assert (event.write, event.read) == ({"turn": 1}, ("turn", "u"))


def test_kinds() -> None:
    text = (
        "p: send(m>q,r) send(>q) enter(f) exit(f) w(t=1) r(t) acquire(lock) a!send(n) send() recv() | q: | r:"
    )
    events = [notation.trace(text).event(number) for number in range(10)]
    assert [event.kind for event in events] == [
        "send", "send", "enter", "exit", "write", "read", "acquire", "send", "send", "receive",
    ]  # fmt: skip
    assert events[0].to == ("q", "r")
    assert (events[1].msg, events[1].to) == (None, ("q",))
    assert events[2].fn == "f"
    assert events[6].msg == "lock"
    assert (events[7].name, events[7].msg) == ("a", "n")


def test_lines_and_semicolons_separate_too() -> None:
    one = notation.trace("p: a; b\n\n  q: c<b ;d\n")
    other = notation.trace("p: a b | q: c<b d")
    assert names(one) == names(other) == "a b c d"


def test_processes_take_turns_and_wait() -> None:
    assert names(notation.trace("p: a b c | q: d e")) == "a d b e c"
    assert names(notation.trace("p: a<d b | q: c d | r: e")) == "c e d a b"
    assert names(notation.trace("p: recv(m) a | q: b send(m)")) == "b q:2 p:1 a"


def test_the_lines_of_a_joint_event_stand_together() -> None:
    assert names(notation.trace("p: a%m b | q: c d e%m | r: f%m<c")) == "c d a e f b"


def test_joint_events_that_wait_for_each_other_are_left_to_others() -> None:
    assert sorted(names(notation.trace("p: a%m b%k | q: c%k d%m")).split()) == ["a", "b", "c", "d"]


def test_the_order_can_be_given() -> None:
    assert names(notation.trace("p: a b | q: c _", order="c q:2 a b")) == "c q:2 a b"
    assert names(notation.trace("p: a b | q: c", order=["a", "c", "b"])) == "a c b"


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("b a c", '1: the order names "b", which is not the next event of a process'),
        ("a z", '1: the order names "z", which is not the next event of a process'),
        ("a c", '1: the order leaves out "b"'),
    ],
)
def test_an_order_that_is_none(order: str, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        notation.trace("p: a b | q: c", order=order)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p a", '2: expected ":" after the name of the process, found " "'),
        ("p: a | : b", '8: expected the name of a process, found ":"'),
        ("p: a | p: b", '8: process "p" stands here twice'),
        ("p: a{x}", '7: expected "=", found "}"'),
        ("p: a{x=}", '8: expected a value, found "}"'),
        ("p: a{x=1 y=2}", '10: expected "," or "}", found "y"'),
        ("p: a{x=1", '9: expected "," or "}", found the end'),
        ("p: send(m", '10: expected ")", found the end'),
        ("p: a?b", '5: expected a blank after the event, found "?"'),
        ("p: ?", '4: expected an event, found "?"'),
        ("p: a< b", '6: expected the name of an event, found " "'),
        ("p: a!b", '7: expected "(", found the end'),
        ('p: "a', '4: expected an event, found """'),
        ("p: b a<z", '6: "after" names "z", but no earlier event has that name'),
        ("p: a | q: a", '11: two events have the name "a"'),
        ("p: recv(m)", '4: message "m" is received before it is sent'),
        ("p: a<b | q: b<a", '4: "after" names "b", but no earlier event has that name'),
        ("p: a\nq: b\n   exit(f)", '3:10: expected "=", found ")"'),
        ("p: a\nq: b exit(f)", '2:6: exit of "f", but no function is open'),
        ("p: send(m>z)", '1: "to" names the unknown process "z"'),
    ],
)
def test_an_error_points_at_its_column(text: str, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        notation.trace(text)
    assert str(caught.value) == message


def test_no_process_at_all() -> None:
    assert len(notation.trace("")) == 0
