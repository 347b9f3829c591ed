"""What a set of runs has shown, beside the explicit lattice and relinearised runs."""

from __future__ import annotations

import os
from itertools import islice
from random import Random
from typing import Any

import pytest

from possibly.logic.specification import Specification, property_from_text
from possibly.order.computation import Computation
from possibly.session.checking.check import Options
from possibly.session.checking.coverage import Coverage, Seen, Turn, Use, class_of, cover, turns_of
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from possibly.verdict.model import Truth
from tests.generate import random_trace
from tests.reference import Reference

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


def covered(*runs: Trace, ctl: str = "") -> Coverage:
    found = Coverage()
    properties = (property_from_text("ctl", ctl, "it"),) if ctl else ()
    for number, run in enumerate(runs):
        cover(found, f"run{number}", run, Specification(properties=properties), Options(explain=False))
    return found


def in_another_order(run: Trace, random: Random) -> Trace:
    """The same partial order with its events in another possible order of the lines, and other names."""
    computation = Computation(run)
    builder = TraceBuilder()
    builder.header([(each.name, dict(each.init)) for each in run.processes], shared=dict(run.shared))
    cut, names = computation.initial, dict[int, str]()
    while cut != computation.final:
        step, cut = random.choice(list(computation.successors(cut)))
        for number in computation.events(step):
            event, names[number] = run.event(number), f"N{len(names)}"
            fields: dict[str, Any] = {
                "set": dict(event.set),
                "write": dict(event.write),
                "read": list(event.read),
            }
            fields |= {"msg": event.msg, "tag": event.tag, "meet": event.meet}
            fields |= {"to": list(event.to)} if event.to else {}
            after = [names[other] for other in run.after(number)]
            builder.add(event.process, id=names[number], kind=event.kind, after=after, **fields)
    return builder.finish()


@pytest.mark.parametrize("seed", range(20 * MANY))
def test_the_recorded_order_makes_no_class(seed: int) -> None:
    random = Random(seed)
    run = random_trace(random)
    assert class_of(Computation(in_another_order(run, random))) == class_of(Computation(run))


def test_runs_that_differ_are_of_different_classes() -> None:
    texts = ("p: a b | q: c", "p: a b<c | q: c", "p: a<c b | q: c", "p: a b | q: c d", "p: a x=1 | q: c")
    runs = [trace(text) for text in texts]
    found = covered(*runs, runs[0])
    assert list(found.classes.values()) == [["run0", "run5"], ["run1"], ["run2"], ["run3"], ["run4"]]
    assert found.chance_of_new == 4 / 6


@pytest.mark.parametrize("seed", range(20 * MANY))
def test_states_are_those_of_the_lattice(seed: int) -> None:
    random = Random(seed)
    drawn = (random_trace(random) for _ in range(100))
    runs = list(islice((run for run in drawn if None not in _worlds(run)[0]), 2))
    states = covered(*runs, ctl="AG(P1.x == 1 -> P2.x == 2)").properties["it"].states
    for text, one, two in (("P1.x == 1 & P2.x == 2", True, True), ("P1.x == 1 & !(P2.x == 2)", True, False)):
        worlds = [world for run in runs for world in _worlds(run)]
        expected = any((x == 1) is one and (y == 2) is two for x, y in worlds)
        assert (states[text].seen > Seen.UNKNOWN) is expected


def _worlds(run: Trace) -> list[tuple[object, object]]:
    reference = Reference(run)
    found = []
    for cut in sorted(reference.cuts, key=len, reverse=True):
        local = reference.world(cut).local
        found.append((local.get(("P1", "x")), local.get(("P2", "x"))))
    return found


def test_recorded_and_only_possible_states_and_verdicts() -> None:
    free = trace("p(cs=false): cs=true cs=false | q(cs=false): cs=true cs=false", order="p:1 p:2 q:1 q:2")
    ordered = trace("p(cs=false): cs=true a{cs=false} | q(cs=false): b{cs=true}<a cs=false")
    found = covered(ordered, free, ctl="AG(!(p.cs & q.cs))").properties["it"]
    assert {state.text: (state.seen, state.run) for state in found.states.values()} == {
        "p.cs & q.cs": (Seen.POSSIBLE, "run1"),
        "p.cs & !q.cs": (Seen.RECORDED, "run0"),
        "!p.cs & q.cs": (Seen.RECORDED, "run0"),
        "!p.cs & !q.cs": (Seen.RECORDED, "run0"),
    }
    assert (found.verdicts[Truth.HOLDS], found.verdicts[Truth.VIOLATED], found.violated_by) == (1, 1, "run1")


def test_turns_at_locks_variables_and_mailboxes() -> None:
    text = "shared(s=0) p: w(s=1) send(m>r) | q: r(s) send(n>r) | r: recv(m) recv(n)"
    run = trace(text, order="p:1 q:1 p:2 q:2 r:1 r:2")
    p, q = Use("p", None), Use("q", None)
    assert {turn for turn, _, _ in turns_of(run)} == {Turn("s", p, q), Turn("messages to r", p, q)}


def test_a_turn_is_one_sided_until_the_other_way_was_recorded() -> None:
    first = trace("shared(s=0) p: w(s=1) | q: w(s=2)", order="p:1 q:1")
    second = trace("shared(s=0) p: w(s=1) | q: w(s=2)", order="q:1 p:1")
    assert covered(first, first).one_sided == [Turn("s", Use("p", None), Use("q", None))]
    assert covered(first, second).one_sided == []


def test_the_other_way_round_is_possible_where_nothing_orders_the_two() -> None:
    found = Coverage()
    run = trace("shared(s=0) p: w(s=1) | q: w(s=2)")
    cover(found, "run", run, Specification(), Options(order="sync", explain=False))
    assert found.possible == {Turn("s", Use("q", None), Use("p", None)): "run"}


def test_many_atoms_are_asked_for_one_by_one() -> None:
    run = trace("p(a=1,b=1,c=1,d=1,e=1): a=2")
    states = covered(run, ctl="AG(p.a > 0 & p.b > 0 & p.c > 0 & p.d > 0 & p.e > 0)").properties["it"].states
    assert len(states) == 10
    assert states["p.a > 0"].seen is Seen.RECORDED and states["!(p.a > 0)"].seen is Seen.NEVER
