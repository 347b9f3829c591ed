"""Every shape of path expressions ends soon: a verdict within two seconds of the processor, or unknown.

The shapes are all trees of up to four of the operators `; + & *`, 2,656 of them; beside these, random
expressions with `*n` and `@`. As a rule some of them are tried; `make soak` tries all, on runs of up to 400
events.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from itertools import chain
from random import Random
from time import process_time

import pytest

from possibly.errors import FormulaError
from possibly.logic.paths.parser import parse_path
from possibly.logic.specification import Property, Specification, property_from_text
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.verdict.model import Truth

IS_SOAK = int(os.environ.get("POSSIBLY_CASES", "1")) > 1
EVERY = 1 if IS_SOAK else 60
"""Of so many shapes one is tried."""
RANDOM = 5_000 if IS_SOAK else 60
SECONDS = 2.0
SIZES = (3, 6, 12, 40, 100, 400)

Shape = tuple["str | Shape", ...] | str


@cache
def shapes(operators: int) -> tuple[Shape, ...]:
    """All expressions with so many operators; a dot stands for an event."""
    if operators == 0:
        return (".",)
    found: list[Shape] = [("*", inner) for inner in shapes(operators - 1)]
    for operator in ";+&":
        for left in range(operators):
            rights = shapes(operators - 1 - left)
            found += [(operator, one, other) for one in shapes(left) for other in rights]
    return tuple(found)


def random_shape(random: Random, depth: int) -> Shape:
    if not depth or random.random() < 0.15:
        return "."
    operator = random.choice(("*", "*", "*n", "@", ";", ";", ";", "+", "+", "&", "&"))
    parts = 1 if operator in ("*", "*n", "@") else 2
    return (operator, *(random_shape(random, depth - 1) for _ in range(parts)))


def text_of(shape: Shape, names: Iterator[str]) -> str:
    match shape:
        case (str() as operator, inner):
            return f"({text_of(inner, names)}){operator}"
        case (str() as operator, left, right):
            return f"({text_of(left, names)}{operator} {text_of(right, names)})"
    return next(names)


def labelled_run(random: Random) -> Trace:
    """Events of up to eight processes, ordered a little or much."""
    size, processes, share = random.choice(SIZES), random.choice((1, 2, 3, 8)), random.choice((0.02, 0.3))
    builder = TraceBuilder()
    builder.header([(f"P{number}", {}) for number in range(processes)])
    for number in range(size):
        earlier = [f"e{random.randrange(max(0, number - 5), number)}"] if number else []
        after = earlier if random.random() < share else []
        name = f"P{random.randrange(processes)}"
        builder.add(name, id=f"e{number}", label=random.choice("abc"), after=after)
    return builder.finish()


def question(shape: Shape, random: Random) -> Property | None:
    """An expression of that shape with names put in; None if it is refused: `*n` of what may be empty."""
    letters = random.choice(("ab", "abc", "abcd"))
    names = iter(lambda: random.choice(letters), None)
    try:
        found = property_from_text(random.choice(("expect", "never")), text_of(shape, names), "it")
        parse_path(found.source)
    except FormulaError:
        return None
    return found


def ends_soon(asked: Property, run: Trace) -> Truth:
    begin = process_time()
    options = Options(timeout=SECONDS, explain=False)
    verdict = check_trace(run, Specification(properties=(asked,)), options).verdicts[0]
    assert process_time() - begin < SECONDS * 1.2, f"{asked.language} {asked.text} on {len(run)} events"
    assert verdict.truth is not Truth.UNKNOWN or verdict.reason
    return verdict.truth


def test_there_are_2656_shapes() -> None:
    assert sum(len(shapes(operators)) for operators in range(1, 5)) == 2_656


@pytest.mark.parametrize("start", range(4))
def test_all_shapes_of_up_to_four_operators_end(start: int) -> None:
    every = list(chain.from_iterable(shapes(operators) for operators in range(1, 5)))
    found = set()
    for number in range(start, len(every), 4 * EVERY):
        random = Random(f"shape {number}")
        asked = question(every[number], random)
        assert asked is not None
        found.add(ends_soon(asked, labelled_run(random)))
    assert {Truth.HOLDS, Truth.VIOLATED} <= found


@pytest.mark.parametrize("part", range(4))
def test_random_expressions_end(part: int) -> None:
    random = Random(f"random {part}")
    found = set()
    for _ in range(RANDOM // 4):
        asked = None
        while asked is None:
            asked = question(random_shape(random, random.choice((2, 3, 3, 4))), random)
        found.add(ends_soon(asked, labelled_run(random)))
    assert {Truth.HOLDS, Truth.VIOLATED} <= found
