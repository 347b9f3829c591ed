"""Linear formulas in branching time: the translation against both plain engines, and the paths."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from possibly.detection.branching import decide
from possibly.detection.choose import answer
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.explicit.linear import Linear
from possibly.detection.limits import Budget
from possibly.detection.linear_time.as_branching import as_branching, positive
from possibly.detection.linear_time.via_branching import Ask, ViaBranching
from possibly.detection.slices.sliced import Sliced
from possibly.detection.slices.slicing import Slicing
from possibly.detection.solver.engine import Solver
from possibly.detection.sums.relational import Relational
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.printer import unparse
from possibly.logic.syntax import Node
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.generate import random_atom, random_formula, random_trace
from tests.sampling import sampled

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
FUTURE = ["X", "N", "F", "G", "U", "R", "W"]


class Case:
    def __init__(self, trace: Trace, text: str) -> None:
        self.lattice = Lattice(Computation(trace))
        self.predicates = CutPredicates(self.lattice, Readings(self.lattice.computation))
        self.formula: Node = bind(parse(text, "ltl"), vocabulary(trace)).formula

    @property
    def slicing(self) -> Slicing:
        return Slicing(self.lattice, self.predicates)

    def linear(self) -> Linear:
        return Linear(self.lattice, self.predicates, self.formula, Budget())

    def plain(self) -> Exhaustive:
        return Exhaustive(self.lattice, self.predicates, Budget())


def shaped(random: Random, trace: Trace) -> str:
    """A formula of a shape that is answered, often enough."""

    def s() -> str:
        atoms = [f"({random_atom(random, trace)[0]})" for _ in range(random.randint(1, 2))]
        return random.choice([" & ", " | "]).join(atoms) if random.random() < 0.7 else f"!{atoms[0]}"

    shapes = [
        f"G({s()})",
        f"F({s()})",
        f"({s()}) U ({s()})",
        f"({s()}) R ({s()})",
        f"({s()}) W ({s()})",
        f"G(({s()}) -> O({s()}))",
        f"G(({s()}) -> F({s()}))",
        f"N({s()})",
        f"X({s()})",
        f"G F({s()})",
        f"F G({s()})",
        f"!(F({s()}))",
        f"!(({s()}) U ({s()}))",
        f"({s()}) -> G({s()})",
        f"G({s()}) & F({s()})",
        f"G({s()} & ({s()} -> N({s()})))",
    ]
    return random.choice(shapes)


@pytest.mark.parametrize("batch", range(8))
def test_the_translation_says_the_same(batch: int) -> None:
    """Whatever is translated holds at the initial cut iff every observation satisfies the formula."""
    seen: Counter[bool | None] = Counter()
    for seed in range(batch * 100_000, batch * 100_000 + sampled(120)):
        random = Random(seed)
        trace = random_trace(random, events=random.randint(0, 6))
        text = shaped(random, trace)
        if random.random() < 0.5:
            text = random_formula(random, trace, [*FUTURE, "O"], random.randint(1, 3)).text
        case = Case(trace, text)
        translated = as_branching(case.formula)
        seen[None] += translated is None
        if translated is None:
            continue
        value = case.linear().decide().value
        assert decide(case.plain(), translated).value == value, (seed, text, unparse(translated))
        seen[value] += 1
    assert min(seen[True], seen[False]) > sampled(15), seen


@pytest.mark.parametrize("batch", range(4))
def test_pushing_negations_down_changes_nothing(batch: int) -> None:
    for seed in range(batch * 100_000, batch * 100_000 + sampled(60)):
        random = Random(seed)
        trace = random_trace(random, events=random.randint(0, 5))
        case = Case(trace, f"!({random_formula(random, trace, [*FUTURE, 'O', 'S'], 2).text})")
        other = Linear(case.lattice, case.predicates, positive(case.formula), Budget())
        assert other.decide().value == case.linear().decide().value, (seed, unparse(case.formula))


def asks(case: Case) -> dict[str, Ask]:
    return {
        "slice": Sliced(case.slicing).decide,
        "relational": Relational(case.slicing, Budget()).decide,
        "solver": Solver(case.slicing, Budget()).decide,
        "plain": lambda formula: decide(case.plain(), formula),
    }


@pytest.mark.parametrize("batch", range(8))
@pytest.mark.parametrize("name", ["slice", "relational", "solver", "plain"])
def test_answers_and_paths_are_those_of_the_plain_engine(name: str, batch: int) -> None:
    seen: Counter[bool | None] = Counter()
    count = {"slice": 60, "relational": 20, "solver": 6, "plain": 60}[name] * MANY
    for seed in range(batch * 100_000, batch * 100_000 + count):
        random = Random(seed)
        trace = random_trace(random, events=random.randint(0, 7))
        case = Case(trace, shaped(random, trace))
        found = ViaBranching(case.lattice, case.predicates, asks(case)[name]).decide(case.formula)
        seen[None if found is None else found.value] += 1
        if found is None:
            continue
        linear = case.linear()
        assert found.value == linear.decide().value, (seed, unparse(case.formula))
        assert (found.path is None) == found.value, seed
        if found.path is not None:
            assert case.lattice.initial + sum(move.delta for move in found.path) == case.lattice.final
            assert not linear.holds_on(found.path), (seed, unparse(case.formula))
    assert seen[False] and (seen[True] or name == "solver"), seen


# ---- large runs -------------------------------------------------------------------------------------


def counters(processes: int, events: int) -> Trace:
    """Independent counters: the lattice has (events + 1) ** processes cuts."""
    builder = TraceBuilder()
    builder.header([(f"P{number}", {"x": 0}) for number in range(processes)])
    for position in range(1, events + 1):
        for number in range(processes):
            builder.add(f"P{number}", set={"x": position})
    return builder.finish()


@pytest.mark.parametrize(
    ("text", "engine", "value"),
    [
        ("G(P0.x + P1.x + P2.x + P3.x <= 800)", "relational", True),
        ("G(P0.x + P1.x + P2.x + P3.x <= 799)", "relational", False),
        ("!F(P0.x + P1.x + P2.x + P3.x > 800)", "relational", True),
        ("G(P0.x * P1.x <= 40000) & G(P0.x + P1.x <= 400)", "values", True),
        ("G(P0.x * P1.x <= 20000 | P2.x >= 0)", "solver", True),
        ("(P0.x <= 3) U (P1.x == 200)", "slice", False),
        ("(P1.x == 3) R (P0.x <= 4)", "slice", False),
        ("G(P0.x == 7 -> O(P1.x == 2))", "slice", False),
        ("G(P0.x == 7 -> O(P0.x == 2))", "slice", True),
        ("G F(P0.x == 200)", "slice", True),
        ("F G(P0.x == 200 & P1.x == 3)", "slice", False),
    ],
)
def test_large_runs_need_no_cuts(text: str, engine: str, value: bool) -> None:
    case = Case(counters(4, 200), text)
    found = answer("ltl", case.formula, case.lattice, case.predicates, Budget(max_cuts=5_000), "auto")
    assert found.finding is not None and (found.engine, found.finding.value, found.cuts) == (engine, value, 0)
    if found.finding.path is not None:
        assert len(found.finding.path) == 800 and not case.linear().holds_on(found.finding.path)
