"""Which events an atom means: names, arguments, conditions, synchronisation rules, the stabiliser."""

from __future__ import annotations

import pytest

from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.occurrences import occurrences
from possibly.detection.paths.synchronise import pairs_of
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.rules import parse_rule
from possibly.logic.source import Source
from possibly.order.computation import Computation
from possibly.trace.build import TraceBuilder
from possibly.trace.notation import trace
from tests.detection.paths.stabiliser import Key, Message, Stabiliser


def matches(run: str, text: str, order: str = "causal") -> list[list[str]]:
    """The occurrences of an expression in a run in the notation, by names."""
    tree = compiled(parse_path(Source(text)))
    computation = Computation(trace(run), order)
    found = occurrences(Meaning(tree, computation), Machine(tree))
    return [[computation.trace.name(event) for event in events] for events in found]


def test_a_name_is_a_label_else_a_function_else_a_kind() -> None:
    assert matches("p: a#go enter(go) go(x)", "go") == [["a"]]
    assert matches("p: enter(go) exit(go) go(x)", "go") == [["p:1"]]
    assert matches("p: a go(x)", "go") == [["p:2"]]


def test_phases() -> None:
    assert matches("p: enter(f) exit(f)", "f.exit") == [["p:2"]]
    assert matches("p: enter(f) exit(f)", "f.enter; f.exit") == [["p:1", "p:2"]]


def test_arguments_are_messages_or_variables() -> None:
    run = "p: send(m) send(n) | q: recv(n) recv(m)"
    assert sorted(matches(run, "send(M)")) == [["p:1"], ["p:2"]]
    assert matches(run, 'send("n")') == [["p:2"]]
    assert matches("p: w(turn=1) | q: r(turn)", "write(X); read(X)") == [["p:1", "q:1"]]
    assert matches("p: w(turn=1) | q: r(turn)", 'read("other")') == []


def test_an_event_without_the_arguments_is_none_of_the_expression() -> None:
    assert matches("p: send() send(m)", "send(M)") == [["p:2"]]
    assert sorted(matches("p: send() send(m)", "send")) == [["p:1"], ["p:2"]]
    assert matches("p: acquire(a) acquire() release(a)", "acquire(X); release(X)") == [["p:1", "p:3"]]


def test_variables_tie_events_together() -> None:
    run = "p: acquire(a) release(a) acquire(b) release(a)"
    assert matches(run, "acquire(X); release(X)") == [["p:1", "p:2"]]


def test_an_event_between_belongs_to_the_expression_whatever_it_carries() -> None:
    assert matches("p: acquire(a) acquire(b) release(a)", "acquire(X); release(X)") == []


def test_a_data_event_occurs_when_its_condition_becomes_true() -> None:
    run = "p(x=0): a{x=1} b{x=2} c{x=2} d{x=1} e"
    assert matches(run, "[x == 2]") == [["b"]]
    assert sorted(matches(run, "[x == x' + 1]")) == [["a"], ["b"]]
    assert sorted(matches(run, "[x']")) == [["a"], ["b"], ["c"], ["d"]]
    assert matches(run, "[p.x < x']") == [["d"]]


def test_references_are_reads() -> None:
    assert matches("shared(s=0) | p: a&w(s=1) b&r(s) | q: c", "[s]") == [["b"]]
    assert matches("shared(s=0) | p: a&w(s=1) b&r(s) | q: c", "[s']") == [["a"]]


def test_a_condition_is_true_before_its_event() -> None:
    run = "shared(lock=0) | p: a&w(lock=1) read(x) b&w(lock=0) read(y)"
    assert matches(run, "read [lock == 1]") == [["p:2"]]


def test_conditions_that_cannot_be_evaluated_are_faults() -> None:
    tree = compiled(parse_path(Source("[x + 1 == 2]")))
    meaning = Meaning(tree, Computation(trace('p(x=0): a{x="s"}')))
    assert list(meaning.played())
    assert meaning.faults


def test_a_joint_event_plays_what_any_of_its_lines_plays() -> None:
    assert matches("p: a%m#hi c#ho | q: b%m", "hi; ho") == [["a", "c"]]


def test_names_that_no_event_bears() -> None:
    tree = compiled(parse_path(Source("go; gone")))
    assert list(Meaning(tree, Computation(trace("p: a#go"))).unmatched()) == ["gone"]


def test_order_of_shared_variables_is_left_out_in_sync_order() -> None:
    run = "p: a#x&w(s=1) | q: b#y&w(s=2)"
    assert matches(run, "x & y") == []
    assert matches(run, "x & y", "sync") == [["a", "b"]]


# ---- synchronisation ----------------------------------------------------------------------------


def test_a_rule_pairs_the_events_of_section_3_1() -> None:
    """P1.enter, P1.exit, P2.enter, V1.enter, V1.exit, P2.exit, V2.enter, V2.exit: (V1.exit, P2.exit)."""
    builder = TraceBuilder()
    builder.header([("one", {}), ("two", {})])
    for process, kind, function in [
        ("one", "enter", "P"), ("one", "exit", "P"), ("two", "enter", "P"), ("one", "enter", "V"),
        ("one", "exit", "V"), ("two", "exit", "P"), ("two", "enter", "V"), ("two", "exit", "V"),
    ]:  # fmt: skip
        builder.add(process, kind=kind, fn=function, msg="x")
    rule = parse_rule(Source("SYNC(X): V(X).exit; P(X).exit { sync_event($1, $2); }"))
    assert list(pairs_of(Computation(builder.finish()), rule)) == [(4, 5)]


def test_rules_keep_resources_apart() -> None:
    rule = parse_rule(Source("lock(L): release(L); acquire(L)"))
    run = trace("p: release(a) release(b) | q: acquire(b) acquire(a)", order="p:1 p:2 q:1 q:2")
    assert list(pairs_of(Computation(run), rule)) == [(1, 2), (0, 3)]


def on(name: str) -> Key:
    """Only that event synchronises."""
    return lambda event: "m" if event == name else None


def test_the_stabiliser_example_of_section_4_2() -> None:
    """e2 is a send, e4 a receive; the synchronisation stands at the event after the receive."""
    stabiliser = Stabiliser(on("e2"), on("e4"), late=True)
    arriving = [("e1", ()), ("e2", ("e3",)), ("e3", ("e1",)), ("e4", ("e1",)), ("e5", ("e4",))]
    passed = [out for event, before in arriving for out in stabiliser.feed(Message(event, before))]
    assert [(out.event, out.predecessors) for out in passed] == [
        ("e1", ()), ("e3", ("e1",)), ("e2", ("e3",)), ("e4", ("e1",)), ("e5", ("e4", "e2")),
    ]  # fmt: skip
    assert stabiliser.held == 0


def test_by_default_the_receive_itself_follows_the_send() -> None:
    stabiliser = Stabiliser(on("s"), on("r"))
    assert list(stabiliser.feed(Message("s"))) == [Message("s")]
    assert list(stabiliser.feed(Message("r"))) == [Message("r", ("s",))]


@pytest.mark.parametrize("reverse", [False, True])
def test_the_figure_4_7_messages_are_reordered(reverse: bool) -> None:
    arriving = [("a", ()), ("b", ("a",)), ("d", ("c",)), ("c", ("a",)), ("e", ("b", "d"))]
    stabiliser = Stabiliser()
    ordered = reversed(arriving) if reverse else arriving
    passed = [out.event for event, before in ordered for out in stabiliser.feed(Message(event, before))]
    assert len(passed) == 5
    assert all(passed.index(one) < passed.index(event) for event, before in arriving for one in before)
    if not reverse:
        assert passed == ["a", "b", "c", "d", "e"]
