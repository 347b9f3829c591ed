from __future__ import annotations

from random import Random

import pytest

from possibly.errors import TraceError, UsageError
from possibly.order.computation import Computation, join, meet
from possibly.order.lattice import Lattice
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from tests.generate import random_trace
from tests.reference import Reference

FIGURE_2_4 = "P1: e1!recv(m) e2 e3 | P2: f1!send(m) f2 f3"


def numbers(run: Trace, *names: str) -> list[int]:
    found = [run.find(name) for name in names]
    assert None not in found
    return [number for number in found if number is not None]


def test_message_orders_send_before_receive_and_nothing_else() -> None:
    run = trace(FIGURE_2_4)
    order = Computation(run)
    e1, e2, f1, f2 = numbers(run, "e1", "e2", "f1", "f2")
    assert order.happened_before(f1, e1) and order.happened_before(f1, e2)
    assert not order.happened_before(e1, f1) and not order.happened_before(e1, e1)
    assert order.concurrent(e1, f2) and not order.concurrent(e2, f1) and not order.concurrent(e1, e1)


def test_after_orders_and_transitivity_follows() -> None:
    run = trace("P: a b | Q: c<b d | R: e<d")
    order = Computation(run)
    a, b, c, e = numbers(run, "a", "b", "c", "e")
    assert order.happened_before(b, c) and order.happened_before(a, e)
    assert order.clock(e) == (2, 2, 1)


@pytest.mark.parametrize(
    ("accesses", "ordered"),
    [
        ("P: a&w(s=1) | Q: b&w(s=2)", True),
        ("P: a&w(s=1) | Q: b&r(s)", True),
        ("P: a&r(s) | Q: b&w(s=1)", True),
        ("P: a&r(s) | Q: b&r(s)", False),
        ("P: a&w(s=1) | Q: b&w(t=1)", False),
    ],
)
def test_conflicting_accesses_are_ordered_in_causal_order_only(accesses: str, ordered: bool) -> None:
    run = trace(f"shared(s=0, t=0) {accesses}")
    a, b = numbers(run, "a", "b")
    assert Computation(run, "causal").happened_before(a, b) == ordered
    assert Computation(run, "sync").concurrent(a, b)


def test_write_comes_after_every_read_since_the_last_write() -> None:
    run = trace("shared(s=0) P: a&r(s) | Q: b&r(s) | R: c&w(s=1) d | T: e&r(s)", order="a b c e d")
    order = Computation(run)
    a, b, c, e = numbers(run, "a", "b", "c", "e")
    assert order.happened_before(a, c) and order.happened_before(b, c) and order.happened_before(c, e)
    assert order.concurrent(a, b)


def test_joint_event_is_one_step_of_all_its_processes() -> None:
    run = trace("P: a m%1 b | Q: n%1 c")
    order = Computation(run)
    order.self_check()
    a, m, b, n, c = numbers(run, "a", "m", "b", "n", "c")
    assert order.step(n) == order.step(m) and not order.concurrent(m, n)
    assert order.happened_before(a, n) and order.happened_before(n, b) and order.concurrent(b, c)
    assert order.is_consistent((2, 1)) and not order.is_consistent((2, 0)) and not order.is_consistent((0, 1))
    assert len(order) == 4 and Lattice(order).count_observations() == 2


def test_joint_events_that_wait_for_each_other_are_a_cycle() -> None:
    builder = TraceBuilder(file="run.jsonl")
    builder.header(processes=[("P", {}), ("Q", {})])
    for process, meeting in (("P", "1"), ("Q", "2"), ("P", "2"), ("Q", "1")):
        builder.add(process, meet=meeting)
    with pytest.raises(
        TraceError, match="the order has a cycle through joint events: Q:1 before P:1 before Q:1"
    ) as caught:
        Computation(builder.finish())
    assert caught.value.file == "run.jsonl" and caught.value.line == 3


def test_event_between_the_lines_of_a_joint_event_is_a_cycle_if_it_depends_on_one() -> None:
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {})])
    builder.add("P", id="a", meet="m")
    builder.add("Q", id="b", after=["a"])
    builder.add("Q", id="c", meet="m")
    with pytest.raises(TraceError, match="cycle"):
        Computation(builder.finish())


def test_lines_of_a_joint_event_need_not_stand_together() -> None:
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {})])
    builder.add("P", id="a", meet="m")
    builder.add("P", id="b")
    builder.add("Q", id="x")
    builder.add("Q", id="c", meet="m")
    order = Computation(builder.finish())
    order.self_check()
    assert [order.trace.name(step) for step in order.steps] == ["x", "a", "b"]


def test_unknown_order_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown order 'total': choose one of causal, sync"):
        Computation(trace("P: a"), "total")


def test_frontier_and_enabled_of_the_figure() -> None:
    run = trace(FIGURE_2_4)
    order = Computation(run)
    assert [run.name(e) for e in order.frontier((3, 2))] == ["e3", "f2"]
    assert [run.name(e) for e in order.enabled((0, 0))] == ["f1"]
    assert [run.name(e) for e in order.enabled((0, 1))] == ["e1", "f2"]
    assert [run.name(e) for e in order.enabled((1, 1))] == ["e2", "f2"]
    assert list(order.enabled(order.final)) == []


def test_extra_order_closes_cuts() -> None:
    run = trace("P: a | Q: b")
    a, b = numbers(run, "a", "b")
    assert Lattice(Computation(run)).count_cuts() == 4
    assert Lattice(Computation(run, extra=[(a, b)])).count_cuts() == 3


# ---- laws, on generated traces, in the letters of the book ------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_order_equals_the_definition(seed: int) -> None:
    run = random_trace(Random(seed), events=7)
    order = Computation(run)
    order.self_check()
    reference = Reference(run)
    by_counts = {reference.counts(cut) for cut in reference.cuts}
    assert set(Lattice(order).lexical()) == by_counts
    for event in range(len(run)):
        containing = [cut for cut in reference.cuts if event in cut]
        least = min(containing, key=len)
        assert order.clock(event) == reference.counts(least)
        without = max((cut for cut in reference.cuts if event not in cut), key=len)
        assert order.greatest_without(event) == reference.counts(without)
        assert order.closure(dict([order.place(event)])) == order.clock(event)


@pytest.mark.parametrize("seed", range(40))
def test_cuts_form_a_distributive_lattice(seed: int) -> None:
    order = Computation(random_trace(Random(seed), events=5))
    cuts = set(Lattice(order).lexical())
    for C in cuts:
        assert meet(C, C) == join(C, C) == C
        for D in cuts:
            assert meet(C, D) in cuts and join(C, D) in cuts
            assert meet(C, D) == meet(D, C) and join(C, meet(C, D)) == C
            for F in list(cuts)[:8]:
                assert meet(C, join(D, F)) == join(meet(C, D), meet(C, F))


@pytest.mark.parametrize("seed", range(40))
def test_irreducible_cuts_generate_the_lattice(seed: int) -> None:
    """Birkhoff: every cut is the join of the join-irreducible cuts below it, and dually."""
    order = Computation(random_trace(Random(seed), events=6))
    cuts = set(Lattice(order).lexical())
    below = {cut for _, cut in order.join_irreducible()}
    above = {cut for _, cut in order.meet_irreducible()}
    assert len(below) == len(above) == len(order)
    for C in cuts:
        joined, met = order.initial, order.final
        for J in below:
            joined = join(joined, J) if join(J, C) == C else joined
        for M in above:
            met = meet(met, M) if meet(M, C) == C else met
        assert joined == met == C


@pytest.mark.parametrize("seed", range(30))
def test_clocks_by_closure_equal_the_table(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run = random_trace(Random(seed), events=9)
    table = Computation(run)
    monkeypatch.setattr("possibly.order.computation.CLOCK_TABLE_LIMIT", 0)
    sparse = Computation(run)
    assert [sparse.clock(e) for e in range(len(run))] == [table.clock(e) for e in range(len(run))]
