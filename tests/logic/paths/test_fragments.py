"""Copies as fragments: one reading where there were as many as partitions, and the same answers."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.fragments import told_apart
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.run import Run
from possibly.logic.paths.syntax import Atom, Choice, Many, Path, Repeat, Sequence, Together, path_text
from possibly.logic.source import Source
from tests.logic.paths.languages import EMPTY, Pomset, after, beside, closure, linearised, random_path
from tests.logic.paths.test_alternatives import fed
from tests.logic.paths.test_machine import expression_of

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
MOST_EVENTS = 8


def machine(text: str, tells: bool = False) -> Machine:
    return Machine(compiled(parse_path(Source(text))), tells)


def a_run(random: Random, path: Path) -> Pomset:
    """Some run of an expression in which nothing synchronises."""
    match path:
        case Atom():
            return Pomset((path.text.rstrip("^"),), frozenset())
        case Sequence(left, right):
            return after(a_run(random, left), a_run(random, right))
        case Together(left, right):
            return beside(a_run(random, left), a_run(random, right))
        case Choice(left, right):
            return a_run(random, random.choice((left, right)))
        case Repeat(body) | Many(body):
            join = after if isinstance(path, Repeat) else beside
            found = EMPTY
            for _ in range(random.choice((0, 1, 2, 2, 3))):
                found = join(found, a_run(random, body))
            return found


def changed(random: Random, pomset: Pomset) -> Pomset:
    """The same, or with an event less, an order more or less, or another name."""
    labels, order = list(pomset.labels), set(pomset.order)
    match random.randrange(4):
        case 0 if order:
            order.discard(random.choice(sorted(order)))
        case 1 if len(labels) > 1:
            order.add((0, len(labels) - 1))
        case 2 if labels:
            labels[random.randrange(len(labels))] = random.choice("abcd")
    return Pomset(tuple(labels), frozenset(closure(order)))


def test_the_answers_are_those_of_each_reading_by_itself() -> None:
    random = Random("fragments")
    compared = fitted = joined = 0
    while compared < 400 * CASES:
        tree = compiled(expression_of(Many(random_path(random, "extended", 3, "abcd"))))
        if random.random() < 0.7:
            path = random_path(random, "extended", 2, "abcd")
            tree = compiled(expression_of(random.choice((Sequence, Together))(path, tree.expression.root)))
        if not told_apart(tree):
            continue
        fast, plain = Machine(tree), Machine(tree, tells=True)
        for _ in range(6):
            pomset = linearised(random, changed(random, a_run(random, tree.expression.root)))
            if len(pomset) > MOST_EVENTS:
                continue
            found = fed(fast, pomset)
            assert found == fed(plain, pomset), (path_text(tree.expression.root), pomset)
            compared, fitted = compared + 1, fitted + found[1]
            joined += any(len(before) > 1 for before in preceding(pomset))
    assert fitted > compared // 4 and joined > compared // 10


def preceding(pomset: Pomset) -> list[set[int]]:
    return [{a for a, b in pomset.order if b == event} for event in range(len(pomset))]


@pytest.mark.parametrize("text", ["c; (a@; b)@", "(c; (a@; b)@)*", "c; ((a; d)@; b)@; e", "c; (a@; b@; d)@"])
def test_four_hundred_concurrent_events_have_one_reading(text: str) -> None:
    made = machine(text)
    names = [atom.text for atom in made.expression.symbols]
    run = Run(made)
    assert run.feed(0, (names.index("c"),))
    for event in range(1, 401):
        assert run.feed(event, (names.index("a"),), [0])
    assert run.state is not None and len(run.state.readings) == 1


def test_whatever_comes_together_is_one_copy() -> None:
    run = Run(machine("c; (a@; b)@; d"))
    c, a, b, d = (0,), (1,), (2,), (3,)
    assert run.feed(0, c)
    for event in range(1, 6):
        assert run.feed(event, a, [0])
    assert run.feed(6, b, [1, 3]) and run.feed(7, b, [2])
    assert not run.copy().feed(8, b, [3, 4]), "an event of a copy that is done"
    assert not run.copy().feed(8, d, [6, 7]), "two events still wait for a b"
    assert run.feed(8, b, [4, 5]) and not run.copy().feed(9, d, [6, 7])
    assert run.feed(9, d, [6, 7, 8]) and run.is_complete


@pytest.mark.parametrize(
    "text", ["(a & b)@", "a; (b & (a; b))@", "(a; b*n; c*n)@", "(send(M); receive(M))@", "((a & b)@; c)@"]
)
def test_other_copies_are_kept_as_they_were(text: str) -> None:
    assert not told_apart(machine(text).expression)
