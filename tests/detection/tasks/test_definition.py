"""Both engines of the task logic against its definition, executed literally on generated nets.

`POSSIBLY_CASES` multiplies the number of cases.
"""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.limits import Budget
from possibly.detection.tasks.check import TaskAnswer, check_tasks
from possibly.detection.tasks.cuts import Evaluation, NotCoveredError
from possibly.detection.tasks.local import LocalFormulas
from possibly.detection.tasks.slices import SliceSets
from possibly.detection.tasks.terms import TermSets, holds_at
from possibly.logic.syntax import Node
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.tasks.formulas import task_text
from possibly.logic.tasks.parser import parse_tasks
from possibly.logic.tasks.tree import formula_tree, negated
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.order.vocabulary import vocabulary
from possibly.trace.model import Trace
from tests.detection.tasks.reference import (
    OPERATORS,
    F,
    Tasks,
    U,
    all_parts,
    random_net,
    random_task_formula,
    variables,
)
from tests.sampling import sampled

BATCHES = range(20)
WITHOUT_BETWEEN = ("not", "and", "or", "implies", "next", "sometime", "always")


class Case:
    def __init__(self, seed: int, operators: tuple[str, ...] = OPERATORS) -> None:
        random = Random(seed)
        self.trace: Trace = random_net(random, random.randint(0, 7))
        self.formula: F = random_task_formula(random, self.trace, operators=operators)
        surface = parse_tasks(self.formula.text)
        assert parse_tasks(task_text(surface)) == surface
        self.node: Node = bind_tasks(surface, vocabulary(self.trace)).formula
        self.net = Net(self.trace)
        self.lattice = Lattice(self.net.computation)
        self.tasks = Tasks(self.trace)

    def describe(self) -> str:
        lines = "\n".join(str(self.trace.event(e)) for e in range(len(self.trace)))
        return f"{self.formula.text}\n{lines}"

    def steps_to(self, cut: tuple[int, ...]) -> int:
        events = {e for task, count in enumerate(cut) for e in self.trace.events_of[task][:count]}
        return len({self.net.computation.step(event) for event in events})

    def check_witness(self, found: TaskAnswer, distance: int) -> None:
        """The way is one of the net, as short as possible, to a slice that fails as the failure says."""
        assert found.failure is not None and found.path is not None
        assert len(found.path) == distance, self.describe()
        cut = frozenset[int]()
        for move in found.path:
            cut = self.move_in(cut, move.step)
        assert self.tasks.value(cut, found.failure.tasks, self.formula) == U, self.describe()
        values = {part.text: part.value for part in found.failure.parts}
        for part in all_parts(self.formula):
            text = task_text(bind_tasks(parse_tasks(part.text), vocabulary(self.trace)).formula)
            if variables(part) <= found.failure.tasks.keys() and text in values:
                assert values.pop(text) == self.tasks.value(cut, found.failure.tasks, part), self.describe()
        assert not values

    def move_in(self, cut: frozenset[int], step: int) -> frozenset[int]:
        following = cut | set(self.net.computation.events(step))
        assert following in self.tasks.next(cut)
        return following

    def check(self, engine: str) -> TaskAnswer:
        return check_tasks(self.net, self.lattice, self.node, Budget(), engine)


@pytest.mark.parametrize("batch", BATCHES)
def test_the_failing_cuts_are_those_of_the_definition(batch: int) -> None:
    first = batch * 1_000_000
    for seed in range(first, first + sampled(40)):
        case = Case(seed)
        expected = case.tasks.failing(case.formula)
        found = case.check("slices")
        assert found.value == (not expected), case.describe()
        path = [case.net.computation.initial]
        for step in case.net.computation.steps:
            path.append(case.net.computation.after(path[-1], step))
        failing = {case.tasks.reference.counts(cut) for cut, _ in expected}
        assert found.observed == failing.isdisjoint(path)
        if not expected:
            assert found.failure is None and found.path is None
            continue
        assert found.failure is not None and found.path is not None
        assert found.failure.failing == len(expected), case.describe()
        assert found.failure.slices == len({cut for cut, _ in expected})
        assert found.failure.all_slices == len(case.tasks.cuts)
        case.check_witness(found, min(map(case.steps_to, failing)))


@pytest.mark.parametrize("batch", BATCHES)
def test_terms_hold_the_same_slices(batch: int) -> None:
    """Assignment by assignment, slice by slice, where the terms cover the formula."""
    covered = 0
    first = batch * 1_000_000 + 500_000
    for seed in range(first, first + sampled(25)):
        case = Case(seed, WITHOUT_BETWEEN)
        budget = Budget()
        local = LocalFormulas(case.net, budget)
        root = formula_tree(negated(case.node))
        slices = SliceSets(case.lattice, budget)
        terms = TermSets(case.net.computation, budget)
        plain = Evaluation(case.net, local, slices, budget)
        sparse = Evaluation(case.net, local, terms, budget)
        for assignment in plain.assignments(root, root.variables):
            expected = plain.cuts(root, assignment)
            try:
                found = sparse.cuts(root, assignment)
            except NotCoveredError:
                continue
            covered += 1
            for cut in case.lattice.lexical():
                assert holds_at(found, cut) == slices.contains(expected, cut), case.describe()
        answer, exact = case.check("auto"), case.check("slices")
        assert answer.value == exact.value and answer.observed == exact.observed, case.describe()
    assert covered > 10


@pytest.mark.parametrize("batch", range(4))
def test_what_lies_between_is_that_of_the_definition(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`until` and `before` alone, where slips in the rules of what lies between two slices show.

    In every second batch only the slices that can matter are looked at, small though the nets are.
    """
    if batch % 2:
        monkeypatch.setattr("possibly.detection.tasks.check.WORTH_BETWEEN", 0)
    first = 9_000_000 + 100 * batch
    for seed in range(first, first + sampled(100)):
        case = Case(seed, ("until", "before", "not"))
        expected, found = case.tasks.failing(case.formula), case.check("slices").failure
        assert (0 if found is None else found.failing) == len(expected), case.describe()
