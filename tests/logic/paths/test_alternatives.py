"""Families of readings as one: the answers are those of each by itself, and they do not become more."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.logic.paths.alternatives import ANY, merged, numbers, one_of, options, renamed
from possibly.logic.paths.classes import SUBCLASSES
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.run import Run
from possibly.logic.paths.syntax import Control, path_text
from possibly.logic.source import Source
from tests.logic.paths.languages import Pomset, immediate, linearised, random_path, random_pomset
from tests.logic.paths.test_machine import expression_of

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))


def fed(machine: Machine, pomset: Pomset) -> tuple[int, bool]:
    """How many events fit, one after the other, and whether the run is complete then."""
    names = [a.event.name if isinstance(a.event, Control) else "" for a in machine.expression.symbols]
    run = Run(machine)
    for event, label in enumerate(pomset.labels):
        symbols = tuple([number for number, name in enumerate(names) if name == label])
        if not run.feed(event, symbols, immediate(pomset, event)):
            return event, False
    return len(pomset), run.is_complete


def chain(text: str, length: int) -> Run:
    """A run of one event after the other."""
    machine = Machine(compiled(parse_path(Source(text))))
    run = Run(machine)
    for event in range(length):
        assert run.feed(event, (0,), [event - 1] if event else [])
    return run


@pytest.mark.parametrize("kind", SUBCLASSES)
def test_the_answers_are_those_of_each_reading_by_itself(kind: str) -> None:
    random = Random(f"plain {kind}")
    fitted = 0
    for _ in range(80 * CASES):
        tree = compiled(expression_of(random_path(random, kind, 3, "ab")))
        if sum(part.kind == 6 for part in tree.parts) > 2:
            continue
        fast, plain = Machine(tree), Machine(tree, tells=True)
        for _ in range(4):
            pomset = linearised(random, random_pomset(random, random.randint(2, 7), "ab"))
            found = fed(fast, pomset)
            assert found == fed(plain, pomset), (path_text(tree.expression.root), pomset)
            fitted += found[1]
    assert fitted


@pytest.mark.parametrize("text", ["(a* & b*)*", "a*; (c & a*)", "((a & d*)* & b*)*", "(a*; b*)* & c*"])
def test_readings_do_not_grow_with_the_run(text: str) -> None:
    short, long = chain(text, 40), chain(text, 120)
    assert short.state is not None and long.state is not None
    assert len(short.state.readings) < 10 and len(long.state.readings) < 10


@pytest.mark.parametrize("after", [0, 7, 30, 59])
def test_each_of_many_events_may_still_be_asked_for(after: int) -> None:
    """60 a in a chain, then a b after one of them: a round began there; after two of them there is none."""
    run = chain("(a* & b*)*", 60)
    two = run.copy()
    assert run.feed(60, (1,), [after]) and run.is_complete
    assert not two.feed(60, (1,), [after, 60])


def test_counts_that_nothing_shares_count_nothing() -> None:
    run = chain("(a*n)*", 50)
    assert run.state is not None and len(run.state.readings) == 1


def test_options() -> None:
    some = one_of([(3,), (1, 2), (3,)])
    assert some == (ANY, (1, 2), (3,)) and options(some) == ((1, 2), (3,)) and options((4,)) == ((4,),)
    assert one_of([some, (5,)]) == (ANY, (1, 2), (3,), (5,)) and one_of([(7,)]) == (7,)
    assert sorted(numbers(some)) == [1, 2, 3]
    assert renamed(some, {1: 0, 2: 5, 3: 1}) == (ANY, (0, 5), (1,)) and renamed(some, {}) == ()
    one, two = (5, 1, (0, 2, (1,)), (0, 3, (4,))), (5, 1, (0, 2, (6,)), (0, 3, (4,)))
    assert merged({one: "x", two: "y"}) == {(5, 1, (0, 2, (ANY, (1,), (6,))), (0, 3, (4,))): "x"}
