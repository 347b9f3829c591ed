"""Formulas about one task: what is found without the lattice is what the definition says."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.detection.limits import Budget
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
from tests.detection.tasks.reference import F, Tasks, known_names, random_lsl, random_net

MANY = int(os.environ.get("POSSIBLY_CASES", "100")) // 100 or 1
UNARY = ("next", "sometime", "always")
BINARY = ("until", "before")


def says(random: Random, names: list[str]) -> F:
    return F("says", (random_lsl(random, names, 1),), ("t",))


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


@pytest.mark.parametrize("batch", range(4))
def test_the_failing_slices_are_nearest_and_those_of_the_definition(batch: int) -> None:
    for seed in range(batch * 1_000_000, batch * 1_000_000 + 60 * MANY):
        random = Random(seed)
        trace = random_net(random, random.randint(2, 8))
        formula = timed(random, known_names(trace), 2)
        if random.random() < 0.2:
            formula = F("forall", (formula,), ("t",))
        net, tasks = Net(trace), Tasks(trace)
        node = bind_tasks(parse_tasks(formula.text), vocabulary(trace)).formula
        found = check_tasks(net, Lattice(net.computation), node, Budget(), "fibers")
        failing = tasks.failing(formula)
        assert found.value == (not failing), (seed, formula.text)
        if failing:
            assert found.path is not None
            steps = min(len({net.computation.step(event) for event in cut}) for cut, _ in failing)
            assert len(found.path) == steps, (seed, formula.text)


def test_every_fiber_is_judged_as_the_definition_judges_its_slices() -> None:
    """Place by place: a fiber has a failing place iff it has a failing slice, and the place's slice fails."""
    for seed in range(60 * MANY):
        random = Random(seed)
        trace = random_net(random, random.randint(2, 7))
        formula = timed(random, known_names(trace), 2)
        net, tasks = Net(trace), Tasks(trace)
        node = bind_tasks(parse_tasks(formula.text), vocabulary(trace)).formula
        fibers = Fibers(net, LocalFormulas(net, Budget()), node, Budget())
        failing = tasks.failing(formula)
        counted = {(dict(given)["t"], tasks.reference.counts(cut)) for cut, given in failing}
        found = {(net.tasks[each.task], fibers.slice(each)) for each in fibers.failing()}
        assert found <= counted, (seed, formula.text)
        fiber_of = {(task, cut[net.tasks.index(task)]) for task, cut in counted}
        assert {(task, cut[net.tasks.index(task)]) for task, cut in found} == fiber_of, (seed, formula.text)


@pytest.mark.parametrize(
    "text",
    [
        "t1:(in.f) implies next t2:(in.f)",
        "t:(in.f) implies (sometime next t:(in.f))",
        "exists t (next t:(in.f))",
        "next t1:(in.f) if t1 != t2",
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
