"""Expressions from runs: what comes out of small runs, and that every run fits what comes out of it."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.paths.expected import fitting
from possibly.detection.paths.inferred import inferred, names_of
from possibly.detection.paths.meaning import Meaning
from possibly.errors import PossiblyError
from possibly.logic.paths.classes import SUBCLASSES, subclass
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.source import Source
from possibly.order.computation import Computation
from possibly.trace.build import TraceBuilder
from tests.detection.paths.test_definition import labelled_trace


def run(*lines: str) -> Computation:
    """`P a` is an event a of process P; `P a < Q:1` comes after that one too."""
    builder = TraceBuilder()
    builder.header([(name, {}) for name in dict.fromkeys(line.split()[0] for line in lines)])
    for line in lines:
        own, _, before = line.partition(" < ")
        process, label = own.split()
        builder.add(process, label=label, after=before.split())
    return Computation(builder.finish())


@pytest.mark.parametrize(
    ("lines", "kind", "expected"),
    [
        (("P a",), "general", "a"),
        (("P a", "P b", "P a", "P b"), "general", "(a; b)*"),
        (("P a", "P a", "P b", "P a", "P b"), "general", "a*; b; a; b"),
        (("P a", "P a", "P b", "P a", "P a", "P a", "P b"), "sequential", "(a*; b)*"),
        (("P a", "Q a", "Q b", "P b"), "general", "(a; b)@"),
        (("P a", "Q a", "P b", "Q b", "P a", "P b"), "general", "(a; b)*@"),
        (("P a", "Q a"), "safe", "a^ & a^"),
        (("P a", "Q b"), "safe", "a & b"),
        (("P a", "Q b < P:1", "R c < P:1", "P d < Q:1 R:1"), "safe", "a; b & c; d"),
    ],
)
def test_small_runs(lines: tuple[str, ...], kind: str, expected: str) -> None:
    computation = run(*lines)
    found = inferred(computation, names_of(computation.trace), kind)
    assert found.replace("(b & c)", "b & c") == expected


def test_every_run_fits_what_is_found_in_the_class_that_was_asked_for() -> None:
    random, found_some = Random("inferred"), 0
    for number in range(400):
        computation = Computation(labelled_trace(random, random.randint(1, 8), joint=0.3))
        kind = ("sequential", "safe", "general", "extended")[number % 4]
        names = names_of(computation.trace)
        try:
            text = inferred(computation, names, kind)
        except PossiblyError:
            continue
        tree = compiled(parse_path(Source(text), {}))
        assert fitting(Meaning(tree, computation), Machine(tree)).fits
        assert SUBCLASSES.index(subclass(tree.expression).name) <= SUBCLASSES.index(kind)
        found_some += 1
    assert found_some > 100


def test_what_has_no_such_expression_is_refused_with_the_reason() -> None:
    with pytest.raises(PossiblyError, match="nothing orders an event a and an event b"):
        inferred(run("P a", "Q b"), ["a", "b"], "sequential")
    zigzag = run("P a", "Q b", "P c < Q:1", "Q d")
    with pytest.raises(PossiblyError, match="cannot be written"):
        inferred(zigzag, ["a", "b", "c", "d"])
    with pytest.raises(PossiblyError, match="no event of the run"):
        inferred(run("P a"), ["z"])
