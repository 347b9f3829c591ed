"""ShiViz logs: exact text, and a log that is imported again has the same order."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.order.computation import Computation
from possibly.trace import Trace, TraceBuilder
from possibly.trace.importers.shiviz import import_shiviz
from possibly.trace.notation import trace
from possibly.views.export.shiviz import host_names, render_shiviz
from tests.views.samples import mutex_trace

MUTEX = """\
send m1
P1 {"P1": 1}
enter internal cs=true
P1 {"P1": 2}
internal cs=false
P1 {"P1": 3}
receive m1
P2 {"P1": 1, "P2": 1}
enter internal cs=true
P2 {"P1": 1, "P2": 2}
"""


def again(computation: Computation) -> Computation:
    ((_, found),) = import_shiviz(render_shiviz(computation).split("\n"))
    return Computation(found)


def test_the_log_of_the_sample() -> None:
    assert render_shiviz(Computation(mutex_trace())) == MUTEX


@st.composite
def runs(draw: st.DrawFn) -> Trace:
    """Runs of up to three processes with messages, `after` edges and shared variables."""
    builder = TraceBuilder()
    builder.header([(name, {}) for name in "pqr"], {"v": 0})
    events: list[str] = []
    sent: list[str] = []
    counts = dict.fromkeys("pqr", 0)
    for _ in range(draw(st.integers(1, 12))):
        process = draw(st.sampled_from("pqr"))
        counts[process] += 1
        after = draw(st.lists(st.sampled_from(events), max_size=2, unique=True)) if events else []
        match draw(st.sampled_from(["internal", "send", "receive", "write"])):
            case "send":
                sent.append(f"m{len(events)}")
                builder.add(process, kind="send", msg=sent[-1], after=after)
            case "receive" if sent:
                builder.add(process, kind="receive", msg=sent.pop(), after=after)
            case "write":
                builder.add(process, kind="write", write={"v": len(events)}, after=after)
            case _:
                builder.add(process, after=after)
        events.append(f"{process}:{counts[process]}")
    return builder.finish()


@given(runs(), st.sampled_from(["causal", "sync"]))
def test_a_log_that_is_imported_again_has_the_same_order(run: Trace, order: str) -> None:
    before = Computation(run, order)
    after = again(before)
    names = [run.name(event) for event in range(len(run))]
    assert sorted(names) == sorted(after.trace.name(event) for event in range(len(run)))
    for first, name in enumerate(names):
        for second, other in enumerate(names):
            there, elsewhere = after.trace.find(name), after.trace.find(other)
            assert there is not None
            assert elsewhere is not None
            assert before.happened_before(first, second) == after.happened_before(there, elsewhere)


@given(runs())
def test_clocks_are_those_of_the_computation(run: Trace) -> None:
    computation = Computation(run)
    stamps = [line.split(" ", 1) for line in render_shiviz(computation).splitlines()[1::2]]
    assert len(stamps) == len(run)
    for event, (host, stamp) in enumerate(stamps):
        expected = {name: n for name, n in zip("pqr", computation.clock(event), strict=True) if n}
        assert json.loads(stamp) == expected
        assert host == run.processes[run.process[event]].name


def test_joint_events_arrive_and_leave() -> None:
    found = again(Computation(trace("p: a x%m b | q: y%m c | r: d")))
    labels = [found.trace.text(found.trace.label, event) or "" for event in range(len(found.trace))]
    assert sum(label.startswith("arrives: ") for label in labels) == 2
    assert sum(label.startswith("leaves: ") for label in labels) == 2
    before, after = found.trace.find("p:1"), found.trace.find("q:3")
    aside = found.trace.find("r:1")
    assert before is not None
    assert after is not None
    assert aside is not None
    assert found.happened_before(before, after)
    assert found.concurrent(before, aside)


@pytest.mark.parametrize(
    ("names", "hosts"),
    [
        (["P1", "P2"], ["P1", "P2"]),
        (["a b", "a_b", "a  b"], ["a_b_", "a_b", "a_b__"]),
        (["\n", " ", "_"], ["\\n", "__", "_"]),
    ],
)
def test_hosts_are_different_words(names: list[str], hosts: list[str]) -> None:
    assert host_names(names) == hosts


def test_odd_names_survive_the_way_there_and_back() -> None:
    found = again(Computation(trace('"worker 1{}": a{x="two\\nlines"} | "é": b')))
    assert {process.name for process in found.trace.processes} == {"worker_1{}", "é"}
