"""`expect`, `never` and `watch` on generated traces against the definitions, executed literally."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations, product
from random import Random

import pytest

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.paths.expected import fitting
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.occurrences import (
    Occurrences,
    compiled_occurrences,
    occurrences,
    plain_occurrences,
)
from possibly.detection.paths.projection import compiled_predecessors, kernels, plain_predecessors, projection
from possibly.logic.paths.classes import SUBCLASSES
from possibly.logic.paths.compiled import compiled, occurring
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.run import kernels as feeding
from possibly.logic.paths.syntax import Control, Expression, path_text
from possibly.order.computation import Computation
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.logic.paths.languages import Pomset, canonical, language, plain, random_path
from tests.logic.paths.test_machine import expression_of

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))


def labelled_trace(random: Random, events: int, joint: float = 0.4) -> Trace:
    """Up to four processes whose events carry labels a, b, c or none; messages, `after`, joint events."""
    names = [f"P{number}" for number in range(random.randint(1, 4))]
    has_joint = len(names) > 1 and random.random() < joint
    builder = TraceBuilder()
    builder.header([(name, {}) for name in names])
    pending: list[str] = []
    for number in range(events):
        label = random.choice(["a", "b", "c", None])
        process = random.choice(names)
        if has_joint and random.random() < 0.3:
            add_joint(builder, random, names, number)
        elif pending and random.random() < 0.5:
            builder.add(process, id=f"E{number}", kind="receive", msg=pending.pop(0), label=label)
        elif random.random() < 0.3:
            builder.add(process, id=f"E{number}", kind="send", msg=f"m{number}", label=label)
            pending.append(f"m{number}")
        elif number and random.random() < 0.3:
            builder.add(process, id=f"E{number}", after=[f"E{random.randrange(number)}"], label=label)
        else:
            builder.add(process, id=f"E{number}", label=label)
    return builder.finish()


def add_joint(builder: TraceBuilder, random: Random, names: list[str], number: int) -> None:
    """One event of any number of processes; each may give it a label, and the first to come the name."""
    parties = random.sample(names, random.randint(2, len(names)))
    for place, name in enumerate(parties):
        label = random.choice(["a", "b", "c", None, None])
        builder.add(name, id=f"E{number}" + f"-{place}" * bool(place), meet=f"j{number}", label=label)


class Literal:
    """The order among the labelled steps of a trace, from `happened_before` alone."""

    def __init__(self, found: Expression, computation: Computation) -> None:
        names = {atom.event.name for atom in found.atoms if isinstance(atom.event, Control)}
        trace = computation.trace
        self.computation = computation
        self.labels: dict[int, list[str]] = {}
        """Of a joint event those of all its lines: it is any one of them."""
        for step in computation.steps:
            texts = [trace.text(trace.label, line) for line in computation.events(step)]
            if own := [text for text in dict.fromkeys(texts) if text in names]:
                self.labels[step] = [text or "" for text in own]
        self.events = list(self.labels)
        self.before = {(a, b) for a in self.events for b in self.events if computation.happened_before(a, b)}
        self.members = {plain(pomset) for pomset in language(found.root, len(self.events))}

    def is_member(self, chosen: tuple[int, ...]) -> bool:
        place = {event: number for number, event in enumerate(chosen)}
        order = frozenset((place[a], place[b]) for a, b in self.before if a in place and b in place)
        labellings = product(*(self.labels[event] for event in chosen))
        return any(canonical(Pomset(labels, order)) in self.members for labels in labellings)

    def is_convex(self, chosen: tuple[int, ...]) -> bool:
        others = [event for event in self.events if event not in chosen]
        return not any(
            (a, x) in self.before and (x, b) in self.before for x in others for a in chosen for b in chosen
        )

    def occurrences(self) -> set[tuple[int, ...]]:
        return {
            chosen
            for count in range(1, len(self.events) + 1)
            for chosen in combinations(sorted(self.events), count)
            if self.is_convex(chosen) and self.is_member(chosen)
        }


def test_a_joint_event_bars_all_its_processes() -> None:
    """P does a, a and meets Q, whose part is labelled a; then Q does c: the meeting orders all of them."""
    builder = TraceBuilder()
    builder.header([("P", {}), ("Q", {})])
    builder.add("P", label="a")
    builder.add("P", label="a")
    builder.add("Q", label="a", meet="m")
    builder.add("P", meet="m")
    builder.add("Q", label="c")
    tree = compiled(parse("a & c"))
    assert not list(occurrences(Meaning(tree, Computation(builder.finish())), Machine(tree)))


def test_occurrences_around_joint_events_agree_with_the_definition() -> None:
    random = Random(23)
    found_some = 0
    for _ in range(400 * CASES):
        found = parse(random.choice(["a & b", "(a; b) & c", "a; b", "(a + b) & c", "a@; b"]))
        computation = Computation(labelled_trace(random, random.randint(4, 8), joint=1))
        literal = Literal(found, computation)
        if not computation.joint or len(literal.events) > 6:
            continue
        tree = compiled(found)
        listed = set(occurrences(Meaning(tree, computation), Machine(tree)))
        assert listed == literal.occurrences(), path_text(found.root)
        found_some += bool(listed)
    assert found_some > 50


@pytest.mark.parametrize("kind", SUBCLASSES)
def test_recognition_agrees_with_the_definition(kind: str) -> None:
    random = Random(f"trace {kind}")
    compared = fitted = found_some = 0
    while compared < 60 * CASES:
        found = expression_of(random_path(random, kind, 2))
        if len(found.atoms) > 4:
            continue
        computation = Computation(labelled_trace(random, random.randint(1, 6)))
        literal = Literal(found, computation)
        if len(literal.events) > 5:
            continue
        tree = compiled(found)
        meaning, machine = Meaning(tree, computation), Machine(tree)
        expected = literal.is_member(tuple(literal.events))
        assert fitting(meaning, machine).fits == expected, path_text(found.root)
        listed = list(occurrences(meaning, machine))
        assert len(listed) == len(set(listed))
        assert set(listed) == literal.occurrences(), path_text(found.root)
        assert sorted(plain_occurrences(meaning, machine)) == sorted(listed), path_text(found.root)
        come = {symbol for played in meaning.all_symbols for symbol in played}
        assert sorted(occurrences(meaning, Machine(occurring(tree, come)))) == sorted(listed)
        compared += 1
        fitted += expected
        found_some += bool(listed)
    assert fitted and found_some


def test_what_needs_an_event_that_never_comes_is_not_begun() -> None:
    """Any of forty concurrent a may belong to a set that waits for d."""
    builder = TraceBuilder()
    builder.header([(f"P{number}", {}) for number in range(40)])
    for number in range(40):
        builder.add(f"P{number}", label="a")
    computation = Computation(builder.finish())
    for text, listed in (("a@; d", 0), ("(a@; d) + a", 40), ("a; (a@; d)*", 40)):
        tree = compiled(parse(text))
        meaning = Meaning(tree, computation)
        come = {symbol for played in meaning.all_symbols for symbol in played}
        budget = Budget(max_cuts=2_000)
        assert len(list(occurrences(meaning, Machine(occurring(tree, come)), budget))) == listed, text


def outcome(found: Iterator[tuple[int, ...]], budget: Budget) -> tuple[list[tuple[int, ...]], str, int]:
    listed: list[tuple[int, ...]] = []
    try:
        listed.extend(found)
    except LimitReachedError as limit:
        return sorted(listed), str(limit), budget.visited
    return sorted(listed), "", budget.visited


@pytest.mark.skipif(feeding() is None, reason="no C compiler was there at installation")
@pytest.mark.parametrize("kind", SUBCLASSES)
def test_the_compiled_search_goes_as_the_plain_one(kind: str) -> None:
    """On longer traces, with limits too: the same occurrences, the same count of sets, the same words."""
    random = Random(f"growth {kind}")
    kernel = feeding()
    assert kernel is not None
    some = limited = 0
    for _ in range(60 * CASES):
        tree = compiled(expression_of(random_path(random, kind, 2)))
        computation = Computation(labelled_trace(random, random.randint(5, 30)))
        if computation.joint:
            continue
        meaning = Meaning(tree, computation)
        most = random.choice([None, None, random.randint(1, 60)])
        budgets = Budget(max_cuts=most), Budget(max_cuts=most)
        fast = outcome(compiled_occurrences(kernel, meaning, Machine(tree), budgets[0]), budgets[0])
        slow = outcome(plain_occurrences(meaning, Machine(tree), budgets[1]), budgets[1])
        assert fast == slow, path_text(tree.expression.root)
        some, limited = some + bool(fast[0]), limited + bool(fast[1])
    assert some and limited


@pytest.mark.skipif(feeding() is None, reason="no C compiler was there at installation")
def test_more_predecessors_than_the_compiled_search_holds() -> None:
    """One event after 63 others: the plain search takes over, and nothing is told twice."""
    names = [f"P{number}" for number in range(63)]
    builder = TraceBuilder()
    builder.header([(name, {}) for name in names])
    for name in names[:2]:
        builder.add(name, id=f"C{name}", label="c")
    for name in names:
        builder.add(name, id=f"E{name}", label="a")
    builder.add("P62", id="B", label="b", after=[f"E{name}" for name in names[:62]])
    tree = compiled(parse("c; a + b"))
    meaning = Meaning(tree, Computation(builder.finish()))
    listed = list(occurrences(meaning, Machine(tree)))
    assert len(listed) == 3
    assert sorted(listed) == sorted(plain_occurrences(meaning, Machine(tree)))


def test_predecessors_are_the_latest_events_before() -> None:
    random = Random(5)
    found = expression_of(random_path(Random(1), "safe", 3))
    tree = compiled(found)
    for _ in range(200 * CASES):
        computation = Computation(labelled_trace(random, 10))
        literal = Literal(found, computation)
        meaning = Meaning(tree, computation)
        if not computation.joint:
            plain = list(plain_predecessors(computation, meaning.all_symbols))
            assert [event[:3] for event in projection(meaning)] == plain
            if (kernel := kernels()) is not None:
                assert list(compiled_predecessors(kernel, computation, meaning.all_symbols)) == plain
        for event in projection(meaning):
            before = [a for a, b in literal.before if b == event.step]
            latest = {a for a in before if not any((a, c) in literal.before for c in before)}
            assert set(event.predecessors) == latest


def test_sets_that_cannot_grow_are_dropped() -> None:
    # Every a is received by the other process before the next: no a stays concurrent with a later b.
    builder = TraceBuilder()
    builder.header([("P", {}), ("Q", {})])
    for number in range(1_000):
        builder.add("P", kind="send", msg=f"x{number}", label="a")
        builder.add("Q", kind="receive", msg=f"x{number}", label="b")
        builder.add("Q", kind="send", msg=f"y{number}")
        builder.add("P", kind="receive", msg=f"y{number}")
    tree = compiled(parse("a & b"))
    all_sets = Occurrences(Meaning(tree, Computation(builder.finish())), Machine(tree))
    assert not [partial for _, partial in all_sets if partial.is_complete]
    assert len(all_sets.open) < 4


def parse(text: str) -> Expression:
    from possibly.logic.paths.parser import parse_path
    from possibly.logic.source import Source

    return parse_path(Source(text))
