"""The whole way, from the text of a formula to the verdict, against the definition executed literally.

Whatever engine `auto` picks, the answer is that of the enumeration of paths, the observed order is judged as
it is, and the witness is a path of the trace that ends in its cut.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking.check import Options, check_trace
from possibly.verdict.model import Truth, Verdict
from tests.generate import CTL, LTL, Formula, random_formula, random_trace
from tests.reference import Reference

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
PATHS = 300
"""Observations up to which linear formulas are evaluated on all of them."""


def answered(random: Random, language: str) -> tuple[Reference, Formula, Verdict]:
    run = random_trace(random, events=random.randint(0, 7))
    operators = CTL if language == "ctl" else LTL
    formula = random_formula(random, run, operators, random.randint(1, 3))
    specification = Specification(properties=(property_from_text(language, formula.text, "it"),))
    return Reference(run), formula, check_trace(run, specification, Options()).verdicts[0]


def check_path(reference: Reference, verdict: Verdict) -> None:
    if verdict.witness is None:
        return
    trace, cut = reference.trace, frozenset[int]()
    numbers = [number for name in verdict.witness.path if (number := trace.find(name)) is not None]
    assert len(numbers) == len(verdict.witness.path)
    while numbers:
        following = next(f for f in reference.successors(cut) if f - cut == set(numbers[: len(f - cut)]))
        numbers = numbers[len(following - cut) :]
        cut = following
    assert tuple(verdict.witness.cut.values()) == reference.counts(cut)


@pytest.mark.parametrize("batch", range(8))
def test_branching_time(batch: int) -> None:
    for seed in range(batch * 100_000, batch * 100_000 + 40 * MANY):
        reference, formula, verdict = answered(Random(seed), "ctl")
        expected = reference.satisfies(frozenset(), formula)
        assert verdict.truth is (Truth.HOLDS if expected else Truth.VIOLATED), (seed, formula.text)
        check_path(reference, verdict)


@pytest.mark.parametrize("batch", range(8))
def test_linear_time(batch: int) -> None:
    for seed in range(batch * 100_000, batch * 100_000 + 25 * MANY):
        reference, formula, verdict = answered(Random(seed), "ltl")
        paths = [path for _, path in zip(range(PATHS + 1), reference.paths(frozenset()), strict=False)]
        if len(paths) <= PATHS:
            expected = all(reference.on_path(path, formula) for path in paths)
            assert verdict.truth is (Truth.HOLDS if expected else Truth.VIOLATED), (seed, formula.text)
            check_path(reference, verdict)
