"""Assignments in the order of their bounds: the same verdict, and a way as short, as by all of them."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.detection.limits import Budget
from possibly.detection.tasks.check import check_tasks
from possibly.detection.tasks.cuts import Evaluation
from possibly.detection.tasks.local import LocalFormulas
from possibly.detection.tasks.ranked import Ranked
from possibly.detection.tasks.terms import TermSets
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.tasks.parser import parse_tasks
from possibly.logic.tasks.tree import formula_tree, negated
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))


def run_of(random: Random, tasks: int, events: int) -> Trace:
    """Tasks that count x up and down, send to each other, and meet now and then."""
    names = [f"T{number}" for number in range(tasks)]
    builder = TraceBuilder()
    builder.header([(name, {"x": 0}) for name in names])
    pending: list[str] = []
    for number in range(events):
        name = random.choice(names)
        match random.randrange(5):
            case 0:
                builder.add(name, kind="send", msg=f"m{number}")
                pending.append(f"m{number}")
            case 1 if pending:
                builder.add(name, kind="receive", msg=pending.pop(0))
            case 2:
                for party in random.sample(names, 2):
                    builder.add(party, meet=f"j{number}", set={"x": random.randrange(4)})
            case _:
                builder.add(name, set={"x": random.randrange(4)})
    return builder.finish()


FORMULAS = [
    "not (t:(x == 3) and u:(x == 2)) if t != u",
    "not (t:(x == 3) and u:(x == 2) and sometime v:(x == 1))",
    "t:(x == 1) implies u:(x <= 2)",
    "not (t:(x == 1) and u:(x == 1)) if t != u",
    "t:(x == 2) or u:(x < 2)",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_the_way_is_as_short_as_by_all_slices(text: str) -> None:
    random = Random(text)
    violated = 0
    for _ in range(12 * CASES):
        net = Net(run_of(random, random.randint(2, 5), random.randint(3, 14)))
        formula = bind_tasks(parse_tasks(text), net.names).formula
        lattice = Lattice(net.computation)
        fast = check_tasks(net, lattice, formula, Budget(), "terms")
        plain = check_tasks(net, lattice, formula, Budget(), "slices")
        assert fast.value == plain.value
        assert (fast.path is None) == (plain.path is None)
        if fast.path is not None and plain.path is not None:
            assert len(fast.path) == len(plain.path)
            violated += 1
    assert violated


def test_no_bound_is_beyond_the_failing_slice() -> None:
    random = Random(10)
    compared = 0
    for _ in range(10 * CASES):
        net = Net(run_of(random, 5, 12))
        formula = bind_tasks(parse_tasks(FORMULAS[0]), net.names).formula
        tree, sets = formula_tree(negated(formula)), TermSets(net.computation, Budget())
        evaluation = Evaluation(net, LocalFormulas(net, Budget()), sets, Budget())
        bounds = []
        for bound, assignment in Ranked(evaluation, sets, tree, ("t", "u")):
            bounds.append(bound)
            for term in evaluation.cuts(tree, assignment):
                least = sets.least(term)
                assert least is not None
                followers = [e for e in net.computation.joint if net.computation.step(e) != e]
                places = map(net.computation.place, followers)
                steps = sum(least) - sum(count <= least[task] for task, count in places)
                assert bound <= steps
                compared += 1
        assert bounds == sorted(bounds)
    assert compared
