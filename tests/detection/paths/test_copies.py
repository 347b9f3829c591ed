"""The copies of an `@` apart: the same verdict and first misfit as with all of them in one reading."""

from __future__ import annotations

import os
from itertools import count
from random import Random

import pytest

from possibly.detection.limits import LimitReachedError
from possibly.detection.paths import expected
from possibly.detection.paths.expected import fitting
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.occurrences import occurrences
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.copies import copied
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.syntax import path_text
from possibly.logic.source import Source
from possibly.order.computation import Computation
from possibly.trace.build import TraceBuilder
from tests.detection.paths.test_definition import labelled_trace
from tests.logic.paths.languages import random_path

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))


def meaning_of(text: str, computation: Computation) -> tuple[Meaning, Machine]:
    tree = compiled(parse_path(Source(text), {}))
    return Meaning(tree, computation), Machine(tree)


@pytest.mark.parametrize("kind", ["sequential", "safe"])
def test_copies_apart_fit_as_copies_together(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"copies {kind}")
    compared = fitted = 0
    while compared < 150 * CASES:
        text = f"({path_text(random_path(random, kind, 2))})@"
        computation = Computation(labelled_trace(random, random.randint(1, 7)))
        meaning, machine = meaning_of(text, computation)
        if copied(machine.expression) is None:
            continue
        compared += 1
        with monkeypatch.context() as patch:
            patch.setattr(expected, "copied", lambda _: None)
            together = fitting(meaning, machine)
        assert fitting(meaning, machine) == together, text
        with monkeypatch.context() as patch:
            patch.setattr(expected, "TOLD_WHOLE", 0)
            apart = fitting(meaning, machine)
        assert (apart.fits, apart.misfit) == (together.fits, together.misfit), text
        fitted += apart.fits
    assert fitted


@pytest.mark.parametrize("text", ["(a & b)@", "((a; c) & b)@", "((a & b)*)@", "(a* & b)@", "a@; b"])
def test_copies_that_may_fall_apart_stay_together(text: str) -> None:
    assert copied(compiled(parse_path(Source(text), {}))) is None


@pytest.mark.parametrize(
    "text", ["((a; b)*)@", "(a@; b)@", "(a; (b & c); d)@", "(a + b; c)@", "(send(M); receive(M))@"]
)
def test_a_hundred_copies_take_the_memory_of_one(text: str) -> None:
    assert copied(compiled(parse_path(Source(text), {}))) is not None


def test_alternating_processes_by_the_hundred() -> None:
    builder = TraceBuilder()
    builder.header([(f"P{number}", {}) for number in range(100)])
    for turn in range(20):
        for number in range(100):
            builder.add(f"P{number}", label="ab"[turn % 2])
    computation = Computation(builder.finish())
    assert fitting(*meaning_of("((a; b)*)@", computation)).fits
    found = fitting(*meaning_of("((a; b; b)*)@", computation))
    assert not found.fits and found.misfit is not None and found.misfit.step == 200


def test_partitions_are_not_enumerated() -> None:
    """Fourteen concurrent events have 190,899,322 partitions."""
    builder = TraceBuilder()
    builder.header([(f"P{number}", {}) for number in range(14)])
    for number in range(14):
        builder.add(f"P{number}", label="a")
    found = fitting(*meaning_of("(a@; b)@", Computation(builder.finish())))
    assert not found.fits and found.misfit is None
    assert {each.symbol for each in found.expected} == {"a", "b"}


def test_what_was_found_before_a_limit_is_not_lost() -> None:
    builder = TraceBuilder()
    builder.header(processes=[(f"P{number}", {}) for number in range(12)])
    for number in range(12):
        builder.add(f"P{number}", label="abc"[number % 3])
    meaning, machine = meaning_of("((a + b)@; c@)@", Computation(builder.finish()))
    looks = count()

    def look() -> None:
        if next(looks) > 100:
            raise LimitReachedError("that is enough")

    machine.look = look
    found = occurrences(meaning, machine)
    assert len(next(found)) == 1
    with pytest.raises(LimitReachedError):
        list(found)
