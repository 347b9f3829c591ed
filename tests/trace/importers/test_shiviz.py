"""ShiViz logs: the order of the clocks, exactly, and clocks that make no sense."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from possibly.errors import TraceError, UsageError
from possibly.trace import Trace
from possibly.trace.importers import importer
from possibly.trace.importers.shiviz import import_shiviz

LOG = """start
A {"A": 1}
got it
B {"B": 1, "A": 1}
alone
C {"C": 1}
both
A {"A": 2, "B": 1, "C": 1}"""


def only(text: str, parser: str | None = None) -> Trace:
    ((name, trace),) = import_shiviz(text.split("\n"), parser)
    assert name == ""
    return trace


def after(trace: Trace) -> dict[str, tuple[str, ...]]:
    return {trace.name(event): trace.event(event).after for event in range(len(trace))}


def test_clocks_become_direct_edges() -> None:
    trace = only(LOG)
    assert after(trace) == {"A:1": (), "B:1": ("A:1",), "C:1": (), "A:2": ("B:1", "C:1")}
    assert trace.event(1).label == "got it"
    assert [trace.line(event) for event in range(4)] == [2, 4, 6, 8]


def test_what_another_new_event_knew_is_left_out() -> None:
    text = 'a\nA {"A":1}\nb\nB {"B":1,"A":1}\nc\nC {"C":1,"A":1,"B":1}'
    assert after(only(text))["C:1"] == ("B:1",)


def test_lines_are_sorted_but_stay_near_the_file() -> None:
    text = 'd\nB {"B":2,"A":2}\nx\nC {"C":1}\nb\nB {"B":1}\nc\nA {"A":2}\na\nA {"A":1}'
    trace = only(text)
    assert [trace.event(event).label for event in range(5)] == ["x", "b", "a", "c", "d"]


def test_other_groups_are_kept_and_become_variables() -> None:
    parser = r"^(?<date>\d+) (?<host>\w+) (?<clock>\{.*?\}) (?<kind>\w+)(?: (?<n>\S+))? (?P<event>.*)$"
    trace = only('17 A {"A":1} INFO 1.5 one\nskipped\n018 A {"A":2} WARN two', parser)
    assert trace.event(0).set == {"date": 17, "kind": "INFO", "n": 1.5}
    assert trace.event(1).set == {"date": "018", "kind": "WARN"}
    assert dict(trace.extra) == {0: {"date": 17, "n": 1.5}, 1: {"date": "018"}}
    assert trace.event(0).kind == "internal"


def test_numbers_out_of_range_stay_text() -> None:
    trace = only('A {"A":1} 1e999', r"(?<host>\w) (?<clock>{.*}) (?<n>.*)")
    assert trace.event(0).set == {"n": "1e999"}


def test_executions_are_split_and_named() -> None:
    text = (
        'e\nA {"A":1}\n== one ==\ne\nA {"A":1}\ne\nA {"A":2}\n== one ==\ne\nB {"B":1}\n==  ==\ne\nC {"C":1}'
    )
    found = import_shiviz(text.split("\n"), None, r"^== (?<trace>\S*) ==$")
    assert [(name, len(trace)) for name, trace in found] == [
        ("execution 1", 1), ("one", 2), ("one (3)", 1), ("execution 4", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a\nA {"A":2}', "2: event 2 of A, but there is no event 1"),
        ('a\nA {"A":1}\nb\nA {"A":1}', "4: a second event number 1 of A"),
        ('a\nA {"B":1}', "2: the clock of an event of A has no entry for A"),
        ('a\nA {"A":0}', "2: the clock of an event of A has no entry for A"),
        ('a\nA {"A":1,"B":1}', "2: the clock refers to event 1 of B, which does not exist"),
        ('a\nA {"A":1}\nb\nB {"B":1,"A":2}', "4: the clock refers to event 2 of A, which does not exist"),
        ('a\nA {"A":1,"B":1}\nb\nB {"B":1}\nc\nA {"A":2}', "6: the clock of A forgets event 1 of B"),
        ('a\nA {"A":1,"B":1}\nb\nB {"B":1,"A":1}', "2: event 1 of B and this one claim to know each other"),
        ('a\nA {"A":1}\nb\nB {"B":1,"A":1}\nc\nC {"C":1,"B":1}',
         "6: the clock knows event 1 of B, but not event 1 of A before it"),
        ('a\nA {"A":"1"}', '2: the clock entry of A must be a number from 0 on, found the string "1"'),
        ('a\nA {"A":-1}', "2: the clock entry of A must be a number from 0 on, found the number -1"),
        ('a\nA {"A":true}', "2: the clock entry of A must be a number from 0 on, found true"),
        ("a\nA {A}", "2: broken JSON, expecting property name enclosed in double quotes"),
        ('a\n {"A":1}', "2: an event without a host"),
        ("nothing", "the parser expression matches nothing in this log"),
        ("", "the parser expression matches nothing in this log"),
    ],
)  # fmt: skip
def test_clocks_that_make_no_sense(text: str, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        import_shiviz(text.split("\n"), file="log")
    assert str(caught.value) == f"log:{message}" if message[0].isdigit() else f"log: {message}"


@pytest.mark.parametrize(
    ("parser", "delimiter", "message"),
    [
        ("(", None, "the parser expression is no regular expression"),
        ("(?<host>x)", None, r"the parser expression needs a group \(\?<clock>"),
        (None, "[", "the delimiter expression is no regular expression"),
    ],
)
def test_expressions_that_are_none(parser: str | None, delimiter: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        import_shiviz([], parser, delimiter)


@pytest.mark.parametrize("seed", range(30))
def test_the_order_is_that_of_the_clocks(seed: int) -> None:
    """The closure of host order and `after` is the order of the clocks, no more and no less."""
    dice = random.Random(seed)
    hosts = "ABCD"
    now: dict[str, dict[str, int]] = {host: {} for host in hosts}
    sent: list[dict[str, int]] = []
    events: dict[str, dict[str, int]] = {}
    for _ in range(25):
        host = dice.choice(hosts)
        clock = dict(now[host])
        for message in dice.sample(sent, min(len(sent), dice.randrange(3))):
            clock = {key: max(clock.get(key, 0), message.get(key, 0)) for key in clock | message}
        clock[host] = now[host].get(host, 0) + 1
        now[host] = clock
        sent.append(clock)
        events[f"{host}:{clock[host]}"] = clock
    lines = [f"e\n{name[0]} {json.dumps(clock)}" for name, clock in events.items()]
    dice.shuffle(lines)
    trace = only("\n".join(lines))
    known: dict[str, set[str]] = {}
    for number in range(len(trace)):
        event = trace.event(number)
        before = [*event.after, *([f"{event.process}:{event.position - 1}"] if event.position > 1 else [])]
        known[event.name] = set(before).union(*(known[name] for name in before))
    for one, other in itertools.permutations(events, 2):
        is_before = events[other].get(one[0], 0) >= events[one][one[0]]
        assert (one in known[other]) == is_before


def test_the_table_of_importers() -> None:
    assert importer("shiviz") is import_shiviz
    with pytest.raises(UsageError, match="there are: jaeger, lines, otf2, otlp, shiviz"):
        importer("other")


def test_a_clock_inside_a_text() -> None:
    log = ["/\\ Host = n1", '/\\ Clock = "{\\"n1\\":1,\\"n2\\":0}"']
    parser = r'Host = (?<host>.*)\n.. Clock = "(?<clock>.*)"'
    [(_, trace)] = import_shiviz(log, parser)
    assert trace.event(0).name == "n1:1"
