"""Occurrences found value by value: those that are found among all events at once."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.detection.limits import Budget
from possibly.detection.paths.by_value import bears_one_variable, occurrences_by_value
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.occurrences import plain_occurrences
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.source import Source
from possibly.order.computation import Computation
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

CASES = 60 * int(os.environ.get("POSSIBLY_CASES", "1"))
TEXTS = (
    "a(M); b(M)",
    "a(M) & b(M)",
    "(a(M) + b(M)); c(M)",
    "a(M); (b(M) & c(M))",
    "(a(M); b(M)) & (a(M); c(M))",
    "a(M); b(M); a(M)^",
)


def tagged_trace(random: Random, events: int) -> Trace:
    builder = TraceBuilder()
    builder.header(processes=[(f"P{number}", {}) for number in range(3)])
    for number in range(events):
        after = [f"e{random.randrange(number)}"] if number and random.random() < 0.7 else []
        label, tag = random.choice("abc"), random.choice("xxy")
        builder.add(f"P{random.randrange(3)}", id=f"e{number}", label=label, tag=tag, after=after)
    return builder.finish()


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_as_among_all_events(text: str) -> None:
    expression = parse_path(Source(text))
    assert bears_one_variable(expression)
    seen = 0
    for seed in range(CASES):
        trace = tagged_trace(Random(seed), 3 + seed % 14)
        meaning = Meaning(compiled(expression), Computation(trace))
        machine = Machine(compiled(expression), tells=False)
        by_value = occurrences_by_value(meaning, machine, Budget())
        assert by_value is not None
        found, expected = list(by_value), list(plain_occurrences(meaning, machine))
        assert sorted(found) == sorted(expected), seed
        assert [each[-1] for each in found] == [each[-1] for each in expected]
        seen += len(found)
    assert seen > 2


@pytest.mark.parametrize(
    "text",
    ["a(M); b", "a(M); b(N)", "(a(M); b(M))*", "(a(M); b(M))@", 'a("x"); b("x")', "a(M, N); b(M, N)", "a(_)"],
)
def test_other_expressions_are_left_alone(text: str) -> None:
    assert not bears_one_variable(parse_path(Source(text)))


def test_messages_that_stay_under_way_cost_nothing() -> None:
    """Among all events each of the messages begins a set that every later event meets."""
    builder = TraceBuilder()
    builder.header(processes=[(f"P{number}", {}) for number in range(100)])
    for turn in range(2_000):
        builder.add(f"P{turn * 7 % 100}", kind="send", msg=f"m{turn}", to=f"P{turn * 13 % 100}")
        if turn >= 50:
            builder.add(f"P{(turn - 50) * 13 % 100}", kind="receive", msg=f"m{turn - 50}")
    expression = parse_path(Source("send(M); receive(M)"))
    meaning = Meaning(compiled(expression), Computation(builder.finish()))
    budget = Budget(max_cuts=10_000)
    found = occurrences_by_value(meaning, Machine(compiled(expression), tells=False), budget)
    assert found is not None and sum(1 for _ in found) > 1_000
