"""Laws of branching and of finite linear time, over generated traces and formulas, in the book's letters.

Each law is checked as an equality of the sets of cuts that satisfy its two sides.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.explicit.linear import Linear
from possibly.detection.explicit.sweep import Sweep
from possibly.detection.limits import Budget
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Node
from possibly.order.computation import Computation, join, meet
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.model import Trace
from tests.generate import CTL, LTL, random_formula, random_trace

DUALITIES = [
    ("AG(p)", "!EF(!p)"),
    ("AF(p)", "!EG(!p)"),
    ("AX(p)", "!EX(!p)"),
    ("EF(p)", "E[true U p]"),
    ("AF(p)", "A[true U p]"),
    ("A[p U q]", "!(E[!q U (!p & !q)] | EG(!q))"),
]
FIXPOINTS = [
    ("EF(p)", "p | EX(EF(p))"),
    ("AG(p)", "p & AX(AG(p))"),
    ("EG(p)", "p & (EX(EG(p)) | !EX(true))"),
    ("AF(p)", "p | (AX(AF(p)) & EX(true))"),
    ("E[p U q]", "q | (p & EX(E[p U q]))"),
    ("A[p U q]", "q | (p & AX(A[p U q]) & EX(true))"),
]
CLOSURES = [
    ("EF(EF(p))", "EF(p)"),
    ("AG(AG(p))", "AG(p)"),
    ("EG(EG(p))", "EG(p)"),
    ("AF(AF(p))", "AF(p)"),
    ("EF(p | q)", "EF(p) | EF(q)"),
    ("AG(p & q)", "AG(p) & AG(q)"),
    ("EX(p | q)", "EX(p) | EX(q)"),
]
LINEAR = [
    ("G(p)", "!F(!p)"),
    ("N(p)", "!X(!p)"),
    ("Z(p)", "!Y(!p)"),
    ("H(p)", "!O(!p)"),
    ("p R q", "!((!p) U (!q))"),
    ("p W q", "(p U q) | G(p)"),
    ("F(p)", "p | X(F(p))"),
    ("G(p)", "p & N(G(p))"),
    ("p U q", "q | (p & X(p U q))"),
    ("p R q", "q & (p | N(p R q))"),
    ("p S q", "q | (p & Y(p S q))"),
    ("O(p)", "p | Y(O(p))"),
    ("H(p)", "p & Z(H(p))"),
    ("F(F(p))", "F(p)"),
    ("X(p & q)", "X(p) & X(q)"),
    ("F(N(false))", "true"),
    ("G(X(true))", "false"),
    ("G(p -> Z(O(p) | !p))", "true"),
    ("(p U p) & N(p U p)", "p & N(p)"),
]


FEW = settings(max_examples=25 * int(os.environ.get("POSSIBLY_CASES", "1")))
SEEDS = st.integers(0, 10**6)


class Ground:
    """A generated trace and two generated formulas for p and q."""

    def __init__(self, seed: int, operators: list[str]) -> None:
        random = Random(seed)
        self.trace: Trace = random_trace(random, events=random.randint(0, 7))
        self.p = random_formula(random, self.trace, operators, random.randint(0, 1)).text
        self.q = random_formula(random, self.trace, operators, random.randint(0, 1)).text
        self.lattice = Lattice(Computation(self.trace))
        self.predicates = CutPredicates(self.lattice, Readings(self.lattice.computation))

    def node(self, text: str, language: str) -> Node:
        pieces = ("(" + self.p + ")" if c == "p" else "(" + self.q + ")" if c == "q" else c for c in text)
        return bind(parse("".join(pieces), language), vocabulary(self.trace)).formula

    def cuts(self, text: str) -> set[int]:
        engine = Exhaustive(self.lattice, self.predicates, Budget())
        node = self.node(text, "ctl")
        return {cut for cut in self.lattice.depth_first() if engine.at(node, cut)}


@pytest.mark.parametrize(("left", "right"), [*DUALITIES, *FIXPOINTS, *CLOSURES])
@FEW
@given(seed=SEEDS)
def test_both_sides_hold_at_the_same_cuts(left: str, right: str, seed: int) -> None:
    ground = Ground(seed, CTL)
    assert ground.cuts(left) == ground.cuts(right), (ground.p, ground.q)


@pytest.mark.parametrize("operator", ["EF", "AF", "EG", "AG", "EX", "AX"])
@FEW
@given(seed=SEEDS)
def test_operators_are_monotone(operator: str, seed: int) -> None:
    ground = Ground(seed, CTL)
    assert ground.cuts(f"{operator}(p & q)") <= ground.cuts(f"{operator}(p)")


@FEW
@given(seed=SEEDS)
def test_ex_is_the_disjunction_over_processes(seed: int) -> None:
    """Lemma 3.26 of the thesis."""
    ground = Ground(seed, CTL)
    each = [ground.cuts(f"EX[{process.name}](p)") for process in ground.trace.processes]
    assert ground.cuts("EX(p)") == set().union(*each)


@FEW
@given(seed=SEEDS)
def test_temporal_operators_keep_regular_predicates_regular(seed: int) -> None:
    """Lemmas 3.23 to 3.27: EF, AG, EG and EX[j] of a regular predicate are closed under meet and join."""
    random = Random(seed)
    trace = random_trace(random, events=random.randint(0, 7))
    lattice = Lattice(Computation(trace))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    parts = [f"transit({p.name}, {q.name}) <= 1" for p in trace.processes for q in trace.processes]
    known = vocabulary(trace)
    parts += [f"{name}.x >= 1" for name in known.processes if "x" in known.locals[name]]
    regular = " & ".join(random.sample(parts, min(3, len(parts))))
    first = trace.processes[0].name
    for text in (regular, *(f"{o}({regular})" for o in ("EF", "AG", "EG", f"EX[{first}]"))):
        node = bind(parse(text, "ctl"), known).formula
        engine = Exhaustive(lattice, predicates, Budget())
        cuts = {lattice.unpack(cut) for cut in lattice.depth_first() if engine.at(node, cut)}
        assert all(meet(c, d) in cuts and join(c, d) in cuts for c in cuts for d in cuts), text


@pytest.mark.parametrize(("left", "right"), LINEAR)
@FEW
@given(seed=SEEDS)
def test_both_sides_hold_on_the_same_observations(left: str, right: str, seed: int) -> None:
    """The equivalence itself is checked as a property: it holds at every place of every observation."""
    ground = Ground(seed, LTL)
    node = ground.node(f"G(({left}) <-> ({right}))", "ltl")
    assert Linear(ground.lattice, ground.predicates, node, Budget()).decide().value, (ground.p, ground.q)


@pytest.mark.parametrize(
    ("linear", "branching"), [("G(p)", "AG(p)"), ("F(p)", "AF(p)"), ("p U q", "A[p U q]")]
)
@FEW
@given(seed=SEEDS)
def test_linear_and_branching_time_agree_on_state_formulas(linear: str, branching: str, seed: int) -> None:
    ground = Ground(seed, ["&"])
    node = ground.node(linear, "ltl")
    expected = ground.lattice.initial in ground.cuts(branching)
    assert Linear(ground.lattice, ground.predicates, node, Budget()).decide().value == expected
    sweep = Sweep(ground.lattice, ground.predicates, Budget())
    assert sweep.at(ground.node(branching, "ctl"), ground.lattice.initial) == expected
