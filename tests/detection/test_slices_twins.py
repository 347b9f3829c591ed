"""Answers from slices and along the recorded order, with and without the compiled kernels."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.detection.observed import Observed, implied
from possibly.detection.slices.sliced import Sliced
from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Node
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.columns.form import read_columns, write_columns
from possibly.trace.model import Trace
from tests.generate import CTL, random_formula, random_trace
from tests.twins import needs_kernels, plain

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 500 * MANY if MANY > 1 else 125


def predicates_of(trace: Trace) -> CutPredicates:
    lattice = Lattice(Computation(trace))
    return CutPredicates(lattice, Readings(lattice.computation))


def answers(trace: Trace, node: Node) -> tuple[bool | None, bool, tuple[str, ...]]:
    """From slices, along the recorded order, and what could not be evaluated."""
    predicates = predicates_of(trace)
    found = Sliced(Slicing(predicates.lattice, predicates)).decide(node)
    observed = Observed(predicates.lattice, predicates).holds(node)
    return None if found is None else found.value, observed, tuple(sorted(predicates.faults))


def cases(count: int) -> list[tuple[Trace, Node, str]]:
    found = []
    for seed in range(count):
        random = Random(seed)
        trace = random_trace(random, random.randint(0, 9))
        formula = random_formula(random, trace, CTL, random.randint(1, 3))
        node = bind(parse(formula.text, "ctl"), vocabulary(trace)).formula
        found.append((trace, node, formula.text))
    return found


@needs_kernels
def test_the_twins_answer_alike_and_as_the_plain_engine() -> None:
    known = 0
    for trace, node, text in cases(CASES):
        compiled = answers(trace, node)
        with plain():
            assert answers(trace, node) == compiled, text
        if compiled[0] is not None:
            predicates = predicates_of(trace)
            engine = Exhaustive(predicates.lattice, predicates, Budget())
            assert engine.at(node, 0) == compiled[0], text
            known += 1
    assert known > CASES // 3


def test_a_mapped_trace_gives_the_same_answers(tmp_path: Path) -> None:
    for trace, node, text in cases(CASES // 2):
        write_columns(trace, tmp_path / "run.columns")
        assert answers(read_columns(tmp_path / "run.columns"), node) == answers(trace, node), text


def test_what_the_answer_implies_for_the_recorded_order() -> None:
    told: Counter[bool | None] = Counter()
    for trace, node, text in cases(2 * CASES):
        predicates = predicates_of(trace)
        value = Exhaustive(predicates.lattice, predicates, Budget()).at(node, 0)
        found = implied(node, value)
        told[found] += 1
        assert found in (None, Observed(predicates.lattice, predicates).holds(node)), text
    assert min(told[True], told[False]) > CASES // 10


def test_truths_by_value_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula with as many constants as processes does not keep a table of all values for each."""
    from possibly.order import predicate

    monkeypatch.setattr(predicate, "KEPT_TRUTHS", 8)
    for trace, node, text in cases(CASES // 2):
        few = answers(trace, node)
        monkeypatch.setattr(predicate, "KEPT_TRUTHS", 1 << 26)
        assert answers(trace, node) == few, text
        monkeypatch.setattr(predicate, "KEPT_TRUTHS", 8)


def test_a_fault_names_its_process() -> None:
    """One table of truths serves all processes, except where a value cannot be compared."""
    from possibly.trace.notation import trace

    run = trace('P(x=0): a{x=1} | Q(x=0): b{x="s"} | R(x=0): c{x="s"}')
    node = bind(parse("EF(P.x < 1 & Q.x < 1 & R.x < 1)", "ctl"), vocabulary(run)).formula
    faults = answers(run, node)[2]
    assert [fault.split(":")[0] for fault in faults] == ["Q.x < 1", "R.x < 1"]
