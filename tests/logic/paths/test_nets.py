"""Nets against the definitions, both ways, and N(R)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from possibly.errors import UsageError
from possibly.logic.paths.classes import SUBCLASSES, subclass
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.conversion import converted, never_empty
from possibly.logic.paths.nets.from_nets import expression_of as expression_from
from possibly.logic.paths.nets.net import Marking, Net, NetTransition, net
from possibly.logic.paths.parser import can_be_empty
from possibly.logic.paths.syntax import Repeat, path_text
from tests.logic.paths.languages import Pomset, canonical, closure, language, plain, random_path
from tests.logic.paths.test_machine import expression, expression_of

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))


def firing_sequences(found: Net, length: int) -> set[tuple[str, ...]]:
    """The labels of every run from the initial to the final marking with at most that many events."""
    results: set[tuple[str, ...]] = set()
    seen: set[tuple[Marking, tuple[str, ...]]] = set()
    pending: list[tuple[Marking, tuple[str, ...]]] = [(found.initial, ())]
    while pending:
        marking, word = pending.pop()
        # A copy that is spawned has to do something: more tokens than events cannot help.
        if (marking, word) in seen or max(marking) > length + 1:
            continue
        seen.add((marking, word))
        if marking == found.final:
            results.add(word)
        for each in found.enabled(marking):
            longer = word if each.label is None else (*word, each.label.rstrip("^"))
            if len(longer) <= length:
                pending.append((found.fired(marking, each), longer))
    return results


def orders(pomset: Pomset) -> Iterator[tuple[str, ...]]:
    """Every order in which the events of a pomset can happen."""

    def extend(done: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
        if len(done) == len(pomset):
            yield tuple(pomset.labels[event] for event in done)
        for event in range(len(pomset)):
            if event not in done and all(a in done for a, b in pomset.order if b == event):
                yield from extend((*done, event))

    yield from extend(())


@pytest.mark.parametrize("kind", SUBCLASSES)
def test_a_net_runs_through_the_orders_of_the_language(kind: str) -> None:
    random = Random(f"net {kind}")
    compared = 0
    while compared < 25 * CASES:
        found = expression_of(random_path(random, kind, 2))
        size = 2 if "@" in path_text(found.root) else 3
        if len(found.atoms) > 4:
            continue
        expected = {word for pomset in language(found.root, size) for word in orders(plain(pomset))}
        made = net(compiled(found))
        assert firing_sequences(made, size) == expected, path_text(found.root)
        assert not made.has_zero_tests or subclass(found).name == "extended"
        compared += 1


def test_safe_expressions_have_safe_nets() -> None:
    random = Random(4)
    for _ in range(60 * CASES):
        found = expression_of(random_path(random, "safe", 3))
        assert net(compiled(found)).bound() == 1


def test_unbounded_parallelism_has_no_bound() -> None:
    made = net(compiled(expression("(fork;parent)* & (fork;child)@")))
    assert made.bound(500) is None
    assert not made.has_zero_tests
    assert net(compiled(expression("(enq;update)@; deq; display"))).has_zero_tests


# ---- and back -----------------------------------------------------------------------------------


def random_net(random: Random) -> Net:
    places = random.randint(1, 4)

    def some() -> tuple[int, ...]:
        return tuple(sorted(random.sample(range(places), random.randint(1, min(2, places)))))

    transitions = tuple(NetTransition(name, some(), some()) for name in "abc"[: random.randint(1, 3)])
    initial = tuple(random.randint(0, 1) for _ in range(places))
    markings = sorted(reachable(Net(places, transitions, initial, initial)))
    return Net(places, transitions, initial, random.choice(markings))


def reachable(found: Net) -> set[Marking]:
    seen, pending = {found.initial}, [found.initial]
    while pending and len(seen) < 50:
        marking = pending.pop()
        for each in found.enabled(marking):
            following = found.fired(marking, each)
            if following not in seen:
                seen.add(following)
                pending.append(following)
    return seen


def processes_of(found: Net, length: int) -> set[Pomset]:
    """The runs of a one-safe net as pomsets: an event follows those that made its tokens."""
    results = set()
    pending: list[tuple[Marking, tuple[str, ...], dict[int, int], set[tuple[int, int]]]]
    pending = [(found.initial, (), {}, set())]
    while pending:
        marking, labels, maker, order = pending.pop()
        if marking == found.final:
            results.add(canonical(Pomset(labels, frozenset(closure(set(order))))))
        if len(labels) == length:
            continue
        for each in found.enabled(marking):
            event = len(labels)
            before = {(maker[place], event) for place in each.inputs if place in maker}
            made = {**maker, **dict.fromkeys(each.outputs, event)}
            following = found.fired(marking, each)
            pending.append((following, (*labels, each.label or ""), made, order | before))
    return results


def test_one_safe_nets_become_multiple_expressions_of_the_same_language() -> None:
    random = Random(6)
    compared = 0
    while compared < 30 * CASES:
        found = random_net(random)
        if found.bound(200) != 1:
            continue
        try:
            back = expression_from(found)
        except UsageError:
            continue
        assert subclass(back).name in ("sequential", "multiple")
        assert language(back.root, 3) == processes_of(found, 3), (found, path_text(back.root))
        compared += 1


def random_wide_net(random: Random) -> Net:
    """One token at the start, transitions that split and join: places may hold several tokens."""
    places = random.randint(3, 5)

    def some() -> tuple[int, ...]:
        return tuple(sorted(random.sample(range(places), random.choice([1, 1, 2]))))

    transitions = tuple(NetTransition(name, some(), some()) for name in "abcd"[: random.randint(2, 4)])
    initial = (1, *[0] * (places - 1))
    markings = sorted(reachable(Net(places, transitions, initial, initial)))
    return Net(places, transitions, initial, random.choice(markings))


def wide_processes_of(found: Net, length: int) -> set[Pomset]:
    """The same for nets of any width: tokens are told apart by their makers, and any of them may be taken."""
    results = set()
    start = tuple(tuple([-1] * tokens) for tokens in found.initial)
    pending: list[tuple[tuple[tuple[int, ...], ...], tuple[str, ...], frozenset[tuple[int, int]]]]
    pending = [(start, (), frozenset())]
    while pending:
        tokens, labels, order = pending.pop()
        if tuple(map(len, tokens)) == found.final:
            results.add(canonical(Pomset(labels, frozenset(closure(set(order))))))
        if len(labels) == length:
            continue
        for each in found.enabled(tuple(map(len, tokens))):
            event = len(labels)
            for taken in product(*[sorted(set(tokens[place])) for place in each.inputs]):
                left = [list(makers) for makers in tokens]
                pairs = list(zip(each.inputs, taken, strict=True))
                if any(left[place].count(maker) < pairs.count((place, maker)) for place, maker in pairs):
                    continue
                for place, maker in pairs:
                    left[place].remove(maker)
                for place in each.outputs:
                    left[place].append(event)
                before = {(maker, event) for maker in taken if maker >= 0}
                following = tuple(tuple(sorted(makers)) for makers in left)
                pending.append((following, (*labels, each.label or ""), order | before))
    return results


def test_safe_nets_with_several_tokens_become_expressions_of_the_same_language() -> None:
    random = Random(11)
    compared = some = 0
    while compared < 15 * CASES:
        found = random_wide_net(random)
        bounds = found.bounds(200)
        if bounds is None or max(bounds) < 2:
            continue
        try:
            back = expression_from(found)
        except UsageError:
            continue
        if len(back.atoms) > 14:
            continue
        expected = wide_processes_of(found, 4)
        members = {plain(each) for each in language(back.root, 4)}
        assert members == expected, (found, path_text(back.root))
        compared += 1
        some += bool(expected)
    assert some > 3


def test_two_tokens_in_one_place() -> None:
    """a splits, both halves meet in one place, each is taken by d: the two d are concurrent."""
    found = Net(
        6,
        (
            NetTransition("a", (0,), (1, 2)),
            NetTransition("b", (1,), (3,)),
            NetTransition("c", (2,), (3,)),
            NetTransition("d", (3,), (4,)),
            NetTransition("e", (4,), (5,)),
        ),
        (1, 0, 0, 0, 0, 0),
        (0, 0, 0, 0, 0, 2),
    )
    back = expression_from(found)
    assert path_text(back.root) == "a^; (b^; d^; e^ & c^; d^; e^)"
    assert {plain(each) for each in language(back.root, 7)} == wide_processes_of(found, 7)
    ending = Net(5, (*found.transitions[:3], NetTransition("d", (3,), ())), (1, 0, 0, 0, 0), (0, 0, 0, 0, 0))
    text = path_text(expression_from(ending).root)
    assert "@" in text and language(expression(text).root, 5) == wide_processes_of(ending, 5)


def random_finite_net(random: Random) -> Net:
    """Arcs lead from lower places to higher ones; any marking at the start, two arcs to one transition."""
    places = random.randint(2, 4)

    def arcs(low: int, high: int) -> tuple[int, ...]:
        return tuple(sorted(random.choices(range(low, high), k=random.choice([1, 1, 2]))))

    transitions = []
    for name in "abcd"[: random.randint(2, 4)]:
        middle = random.randint(1, places - 1)
        transitions.append(NetTransition(name, arcs(0, middle), arcs(middle, places)))
    initial = (random.randint(1, 2), *(random.randint(0, 1) for _ in range(places - 1)))
    markings = sorted(reachable(Net(places, tuple(transitions), initial, initial)) - {initial})
    return Net(places, tuple(transitions), initial, random.choice(markings or [initial]))


def test_nets_with_any_marking_become_a_choice_of_their_runs() -> None:
    random = Random(12)
    compared = wide = 0
    while compared < 25 * CASES:
        found = random_finite_net(random)
        bounds = found.bounds(100)
        if bounds is None or max(bounds) < 2:
            continue
        try:
            back = expression_from(found)
        except UsageError:
            continue
        expected = wide_processes_of(found, 5)
        if len(back.atoms) > 16 or len(expected) > 30:
            continue
        assert {plain(each) for each in language(back.root, 5)} == expected, (found, path_text(back.root))
        compared += 1
        wide += len(expected) > 1
    assert wide > 3


def test_a_semaphore_for_ever_is_refused_with_the_reason() -> None:
    """Two tokens that come back: which of them an event takes, no name can tell for all rounds."""
    turns = (NetTransition("acquire", (0,), (1,)), NetTransition("release", (1,), (0,)))
    with pytest.raises(UsageError, match="holds several tokens at once, and some at the start"):
        expression_from(Net(2, turns, (2, 0), (2, 0)))


def test_an_order_that_is_no_series_and_no_parallel_is_written_by_what_synchronises() -> None:
    """a before c and d, b before d: the letter N, with two tokens left at the end."""
    turns = (
        NetTransition("a", (0,), (2, 3)),
        NetTransition("b", (1,), (4,)),
        NetTransition("c", (2,), (5,)),
        NetTransition("d", (3, 4), (5,)),
    )
    found = Net(6, turns, (1, 1, 0, 0, 0, 0), (0, 0, 0, 0, 0, 2))
    back = expression_from(found)
    assert path_text(back.root) == "a; c & (a; d & b; d)"
    assert language(back.root, 4) == wide_processes_of(found, 4)


def test_nets_that_are_not_safe_are_refused() -> None:
    growing = Net(2, (NetTransition("a", (0,), (0, 1)),), (1, 0), (1, 1))
    with pytest.raises(UsageError, match="not safe"):
        expression_from(growing)
    silent = Net(2, (NetTransition(None, (0,), (1,)),), (1, 0), (0, 1))
    with pytest.raises(UsageError, match="a name of its own"):
        expression_from(silent)


# ---- N(R) ---------------------------------------------------------------------------------------


def test_conversion_keeps_the_language_and_empties_no_body() -> None:
    random = Random(8)
    changed = 0
    for _ in range(150 * CASES):
        found = expression_of(random_path(random, random.choice(SUBCLASSES), 3))
        if len(found.atoms) > 5:
            continue
        result = converted(found.root)
        changed += result != found.root
        assert language(result, 3) == language(found.root, 3), path_text(found.root)
    assert changed


@pytest.mark.parametrize(
    ("text", "result"),
    [("(e*)*", "e*"),
     ("(a*; b*)*", "(a + b)*"), ("(a* + b)*", "(a + b)*"), ("(a* & b*)*", "(b & a + b + a)*"),
     ("(a* & (a; b)*)*", "(a* & (a; b)*)*"), ("(a; b)*", "(a; b)*")],
)  # fmt: skip
def test_conversion(text: str, result: str) -> None:
    found = converted(expression(text).root)
    assert path_text(found) == result
    assert isinstance(found, Repeat)
    inner = never_empty(found.body)
    assert inner is None or not can_be_empty(inner)
