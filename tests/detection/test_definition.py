"""Every engine against the definition, executed literally on generated traces.

The plain engines are compared with the enumeration of all paths, the sweep with the plain engine.
`POSSIBLY_CASES` multiplies the number of cases (`make soak`).
"""

from __future__ import annotations

import os
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from possibly.detection.branching import Engine, decide
from possibly.detection.explicit.compiled import algebra
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.explicit.linear import Linear
from possibly.detection.explicit.rowsets import PlainRows
from possibly.detection.explicit.sweep import Sweep
from possibly.detection.finding import Path
from possibly.detection.limits import Budget
from possibly.detection.observed import Observed, observed_path
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Node
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.model import Trace
from tests.generate import CTL, LTL, Formula, random_formula, random_trace
from tests.reference import Cut, Reference
from tests.sampling import sampled

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
BATCHES = range(20)


class Case:
    """A generated trace and formula, prepared for the engines and for the definition."""

    def __init__(self, seed: int, operators: list[str], language: str, depth: int, events: int = 6) -> None:
        random = Random(seed)
        self.trace: Trace = random_trace(random, events=random.randint(0, events))
        self.formula: Formula = random_formula(random, self.trace, operators, depth)
        self.node: Node = bind(parse(self.formula.text, language), vocabulary(self.trace)).formula
        computation = Computation(self.trace)
        computation.self_check()
        self.lattice = Lattice(computation)
        self.predicates = CutPredicates(self.lattice, Readings(computation))
        self.reference = Reference(self.trace)

    def cuts(self, path: Path) -> list[Cut]:
        """The path as sets of events, each checked to be a successor of the one before."""
        found = [frozenset[int]()]
        for move in path:
            following = found[-1] | set(self.lattice.computation.events(move.step))
            assert following in self.reference.successors(found[-1])
            found.append(following)
        return found

    def describe(self) -> str:
        lines = "\n".join(str(self.trace.event(e)) for e in range(len(self.trace)))
        return f"{self.formula.text}\n{lines}"


def _cases(batch: int, count: int, operators: list[str], language: str, depth: int) -> list[Case]:
    first = batch * 1_000_000
    return [Case(seed, operators, language, depth) for seed in range(first, first + count * MANY)]


@pytest.mark.parametrize("batch", BATCHES)
def test_plain_ctl_equals_the_enumeration_of_paths(batch: int) -> None:
    for case in _cases(batch, 110, CTL, "ctl", depth=3):
        expected = case.reference.satisfies(frozenset(), case.formula)
        engine = Exhaustive(case.lattice, case.predicates, Budget())
        assert engine.at(case.node, case.lattice.initial) == expected, case.describe()
        found = decide(Exhaustive(case.lattice, case.predicates, Budget()), case.node)
        assert found.value == expected, case.describe()


@pytest.mark.parametrize("make", [PlainRows, algebra])
@pytest.mark.parametrize("batch", BATCHES)
def test_sweep_equals_the_plain_engine_at_every_cut(batch: int, make: Any) -> None:
    for case in _cases(batch, 60, CTL, "ctl", depth=3):
        plain = Exhaustive(case.lattice, case.predicates, Budget())
        sweep = Sweep(case.lattice, case.predicates, Budget(), make)
        holds = sweep.function(case.node)
        seen = 0
        for cut in case.lattice.depth_first():
            assert holds(cut) == plain.at(case.node, cut), case.describe()
            seen += 1
        assert seen == len(case.reference.cuts) == sweep.sets.cuts
        assert decide(sweep, case.node).value == plain.at(case.node, case.lattice.initial)


@pytest.mark.parametrize("batch", BATCHES)
def test_plain_ltl_equals_the_clauses_on_every_observation(batch: int) -> None:
    for case in _cases(batch, 60, LTL, "ltl", depth=3):
        paths = list(case.reference.paths(frozenset()))
        if len(paths) > 200:
            continue
        expected = all(case.reference.on_path(path, case.formula) for path in paths)
        found = Linear(case.lattice, case.predicates, case.node, Budget()).decide()
        assert found.value == expected, case.describe()
        if found.path is not None:
            broken = tuple(case.cuts(found.path))
            assert len(broken) == len(case.lattice.computation) + 1
            assert not case.reference.on_path(broken, case.formula), case.describe()


@pytest.mark.parametrize("engine_type", [Exhaustive, Sweep])
@pytest.mark.parametrize("operator", ["EF", "AF", "EG", "AG", "EX", "AX", "EX[]", "EU", "AU"])
def test_witness_shows_what_the_contract_says(operator: str, engine_type: type[Exhaustive | Sweep]) -> None:
    shown = 0
    for seed in range(sampled(60)):
        random = Random(f"{operator} {seed}")
        case = Case(random.randrange(10**9), CTL, "ctl", depth=1)
        case.formula = _outermost(random, case.trace, operator)
        case.node = bind(parse(case.formula.text, "ctl"), vocabulary(case.trace)).formula
        engine: Engine = engine_type(case.lattice, case.predicates, Budget())
        found = decide(engine, case.node)
        existential = operator[0] == "E"
        assert (found.path is not None) == (found.value == existential), case.describe()
        if found.path is not None:
            _check_witness(case, case.cuts(found.path), case.formula, found.value)
            shown += 1
    assert shown


def _outermost(random: Random, trace: Trace, operator: str) -> Formula:
    process = None
    if operator == "EX[]":
        operator, process = "EX", random.choice(trace.processes).name
    count = 2 if operator in ("EU", "AU") else 1
    operands = tuple(random_formula(random, trace, CTL, random.randint(0, 1)) for _ in range(count))
    return Formula(operator, operands, process=process)


def _check_witness(case: Case, cuts: list[Cut], formula: Formula, value: bool) -> None:
    final = frozenset(range(len(case.trace)))
    first = [case.reference.satisfies(cut, formula.operands[0]) for cut in cuts]
    second = [case.reference.satisfies(cut, formula.operands[-1]) for cut in cuts]
    match formula.operator:
        case "EF":
            assert first[-1] and not any(first[:-1])
            assert len(cuts) == 1 + _distance(case, formula.operands[0], True)
        case "AG":
            assert not first[-1] and all(first[:-1])
            assert len(cuts) == 1 + _distance(case, formula.operands[0], False)
        case "EG":
            assert all(first) and cuts[-1] == final
        case "AF":
            assert not any(first) and cuts[-1] == final
        case "EU":
            assert second[-1] and all(first[:-1])
        case "AU":
            assert not any(second)
            assert cuts[-1] == final or not first[-1]
        case "EX" | "AX":
            assert len(cuts) == 2 and first[-1] == value


def _distance(case: Case, operand: Formula, value: bool) -> int:
    """How many steps the nearest cut with that value of the operand is away, by brute force."""
    level, steps = {frozenset[int]()}, 0
    while not any(case.reference.satisfies(cut, operand) == value for cut in level):
        level = {following for cut in level for following in case.reference.successors(cut)}
        steps += 1
    return steps


@pytest.mark.parametrize("batch", range(4))
def test_observed_equals_the_definition_on_the_one_path(batch: int) -> None:
    for case in _cases(batch, 60, CTL, "ctl", depth=3):
        path = observed_path(case.lattice)
        cuts = case.cuts(path)
        single = Reference(case.trace)
        after = dict(pairwise(cuts))
        single.successors = lambda cut, after=after: {after[cut]} if cut in after else set()  # type: ignore[method-assign,misc]
        expected = single.satisfies(frozenset(), case.formula)
        assert Observed(case.lattice, case.predicates).holds(case.node) == expected, case.describe()


@pytest.mark.parametrize("batch", range(4))
def test_observed_ltl_equals_the_clauses(batch: int) -> None:
    for case in _cases(batch, 60, LTL, "ltl", depth=3):
        path = observed_path(case.lattice)
        expected = case.reference.on_path(tuple(case.cuts(path)), case.formula)
        linear = Linear(case.lattice, case.predicates, case.node, Budget())
        assert linear.holds_on(path) == expected, case.describe()
