"""Formulas about few tasks: what is found without the lattice is what the definition says."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.tasks.cells import Stretch, stretches
from possibly.detection.tasks.check import check_tasks
from possibly.detection.tasks.cuts import NotCoveredError
from possibly.detection.tasks.fibers import Fibers
from possibly.detection.tasks.local import LocalFormulas
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.tasks.parser import parse_tasks
from possibly.order.knowledge import Knowledge
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.detection.tasks.reference import F, Tasks, known_names, random_lsl, random_net
from tests.sampling import sampled

UNARY = ("next", "sometime", "always")
BINARY = ("until", "before")


def says(random: Random, names: list[str]) -> F:
    return F("says", (random_lsl(random, names, 1),), (random.choice(names_of(random)),))


def names_of(random: Random) -> tuple[str, ...]:
    """Mostly two task variables, seldom a third."""
    return ("t1", "t2", "t3") if random.random() < 0.1 else ("t1", "t2")


def plain(random: Random, names: list[str], depth: int) -> F:
    """A formula of one task variable without time."""
    if depth == 0 or random.random() < 0.5:
        return says(random, names)
    if random.random() < 0.3:
        return F("not", (plain(random, names, depth - 1),))
    word = random.choice(("and", "or", "implies"))
    return F(word, (plain(random, names, depth - 1), plain(random, names, depth - 1)))


def timed(random: Random, names: list[str], depth: int) -> F:
    """One in which no temporal operator stands inside another."""
    if depth == 0 or random.random() < 0.4:
        if random.random() < 0.4:
            return F(random.choice(UNARY), (plain(random, names, 1),))
        return F(random.choice(BINARY), (plain(random, names, 1), plain(random, names, 1)))
    if random.random() < 0.2:
        return F("not", (timed(random, names, depth - 1),))
    word = random.choice(("and", "or", "implies", "implies"))
    return F(word, (plain(random, names, 1), timed(random, names, depth - 1)))


def around(random: Random, formula: F) -> F:
    """Conditions and quantifiers before it."""
    if random.random() < 0.3:
        formula = F("if", (formula,), ("t1", random.choice(["==", "!="]), "t2"))
    elif random.random() < 0.1:
        formula = F("caller", (formula,), ("t1", "t2"))
    if random.random() < 0.2:
        formula = F("forall", (formula,), (random.choice(("t1", "t2")),))
    return formula


@pytest.mark.parametrize("batch", range(4))
def test_the_failing_slices_are_nearest_and_those_of_the_definition(batch: int) -> None:
    for seed in range(batch * 1_000_000, batch * 1_000_000 + sampled(30)):
        random = Random(seed)
        trace = random_net(random, random.randint(2, 8))
        formula = around(random, timed(random, known_names(trace), 2))
        net, tasks = Net(trace), Tasks(trace)
        node = bind_tasks(parse_tasks(formula.text), vocabulary(trace)).formula
        found = check_tasks(net, Lattice(net.computation), node, Budget(), "fibers")
        failing = tasks.failing(formula)
        assert found.value == (not failing), (seed, formula.text)
        if failing:
            assert found.path is not None
            steps = min(len({net.computation.step(event) for event in cut}) for cut, _ in failing)
            assert len(found.path) == steps, (seed, formula.text)


def calm_net(random: Random, events: int) -> Trace:
    """Tasks whose variable changes seldom, with messages and joint events: regions of many cells."""
    builder, names = TraceBuilder(), ["P1", "P2", "P3"]
    builder.header(processes=[(name, {"x": 0}) for name in names])
    sent: list[str] = []
    for count in range(events):
        name, kind = random.choice(names), random.choice(["send", "receive", "meet", *["internal"] * 6])
        fields: dict[str, Any] = {"set": {"x": random.randint(0, 1)}} if random.random() < 0.25 else {}
        if kind == "send":
            builder.add(name, kind="send", msg=f"m{count}", **fields)
            sent.append(f"m{count}")
        elif kind == "receive" and sent:
            builder.add(name, kind="receive", msg=sent.pop(), **fields)
        elif kind == "meet":
            for each in random.sample(names, 2):
                builder.add(each, meet=f"M{count}", **fields)
        else:
            builder.add(name, **fields)
    return builder.finish()


@pytest.mark.parametrize("batch", range(3))
def test_a_few_cells_tell_for_a_region(batch: int) -> None:
    """With one temporal operator, on runs in which little changes; every assignment, every slice."""
    for seed in range(batch * 1_000_000, batch * 1_000_000 + sampled(30)):
        random = Random(seed)
        trace = calm_net(random, random.randint(3, 11))
        names = ["x"]
        operator = random.choice((*UNARY, *BINARY))
        operands = tuple(plain(random, names, 1) for _ in range(1 + (operator in BINARY)))
        formula = F(operator, operands)
        if random.random() < 0.7:
            formula = F(random.choice(("implies", "or")), (plain(random, names, 1), formula))
        if random.random() < 0.5:
            formula = F("not", (formula,))
        net, tasks = Net(trace), Tasks(trace)
        node = bind_tasks(parse_tasks(formula.text), vocabulary(trace)).formula
        found = check_tasks(net, Lattice(net.computation), node, Budget(), "fibers")
        failing = {cut for cut, _ in tasks.failing(formula)}
        assert found.value == (not failing), (seed, formula.text)
        if failing:
            steps = min(len({net.computation.step(event) for event in cut}) for cut in failing)
            assert found.path is not None and len(found.path) == steps, (seed, formula.text)
            passed = {frozenset(range(count)) for count in range(len(trace) + 1)} & set(tasks.cuts)
            assert found.observed == failing.isdisjoint(passed), (seed, formula.text)


@pytest.mark.parametrize(
    "text",
    [
        "t:(in.f) implies (sometime next t:(in.f))",
        "exists t (next t:(in.f))",
        "next (t1:(in.f) and t2:(in.f) and t3:(in.f) and t4:(in.f))",
        "(forall t1 (next t1:(in.f))) if t1 != t2",
    ],
)
def test_other_formulas_are_left_to_other_engines(text: str) -> None:
    trace = random_net(Random(5), 6)
    net = Net(trace)
    names = vocabulary(trace)
    if "f" not in names.functions:
        text = text.replace("in.f", "1 == 1")
    node = bind_tasks(parse_tasks(text), names).formula
    with pytest.raises(NotCoveredError):
        Fibers(net, LocalFormulas(net, Budget()), node, Budget())


def test_stretches_begin_where_something_that_is_read_changes() -> None:
    tables = [bytes((0, 0, 1, 1, 2, 2)), bytes((1, 1, 1, 0, 0, 0))]
    assert stretches(tables, 5) == [Stretch(0, 1), Stretch(2, 2), Stretch(3, 3), Stretch(4, 5)]
    assert stretches([], 3) == [Stretch(0, 3)]


def test_a_joint_event_is_a_step_only_where_all_its_parts_are_next() -> None:
    builder = TraceBuilder()
    builder.header(processes=[("P1", {"x": 0}), ("P2", {"x": 0})])
    builder.add("P1")
    for name in ("P1", "P2"):
        builder.add(name, meet="M", set={"x": 1})
    net = Net(builder.finish())
    node = bind_tasks(parse_tasks("next (t1:(x == 1) and t2:(x == 1)) if t1 != t2"), vocabulary(net.trace))
    found = check_tasks(net, Lattice(net.computation), node.formula, Budget(), "fibers")
    assert found.value is False and found.path == ()


def test_limits_are_kept_between_regions() -> None:
    trace = calm_net(Random(1), 600)
    net = Net(trace)
    text = "t1:(x == 0) implies (t1:(x == 0) until t2:(x == 1)) if t1 != t2"
    node = bind_tasks(parse_tasks(text), vocabulary(trace)).formula

    class Spent(Budget):
        def look(self) -> None:
            raise LimitReachedError("no time is left")

    answer = check_tasks(net, Lattice(net.computation), node, Spent(), "fibers")
    assert answer.value is None and answer.reason == "no time is left"


def test_what_tasks_know_of_each_other_is_their_clocks() -> None:
    for seed in range(40):
        net = Net(random_net(Random(seed), 9))
        computation = net.computation
        knowledge = Knowledge(computation)
        for event in range(len(net.trace)):
            process, count = computation.place(event)
            assert knowledge.past(process, count) == computation.clock(event)
            for other, length in enumerate(computation.lengths):
                if other != process:
                    without = computation.greatest_without(event)[other]
                    assert knowledge.ignorant(other, process, count - 1) == without <= length
            assert tuple(knowledge.all_ignorant(process, count - 1)) == computation.greatest_without(event)
