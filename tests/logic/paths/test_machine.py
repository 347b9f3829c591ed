"""The machine against the definitions: membership of generated pomsets, class by class."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest

from possibly.logic.paths.classes import SUBCLASSES, subclass
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import number_atoms, parse_path
from possibly.logic.paths.run import Run, kernels
from possibly.logic.paths.syntax import Control, Expression, Path, path_text
from possibly.logic.source import Source
from tests.logic.paths.languages import (
    Pomset,
    canonical,
    closure,
    immediate,
    language,
    linearised,
    plain,
    random_path,
    random_pomset,
)

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))


def expression_of(path: Path) -> Expression:
    root, atoms = number_atoms(path, Source(""))
    return Expression(root, tuple(atoms))


def expression(text: str) -> Expression:
    return parse_path(Source(text))


def fed(found: Expression, pomset: Pomset) -> tuple[bool, int | None]:
    """Whether the pomset is accepted, and the first event that does not fit."""
    tree = compiled(found)
    run = Run(Machine(tree))
    names = [atom.event.name if isinstance(atom.event, Control) else "" for atom in tree.symbols]
    for event, label in enumerate(pomset.labels):
        symbols = tuple(number for number, name in enumerate(names) if name == label)
        if not run.feed(event, symbols, immediate(pomset, event)):
            return False, event
    return run.is_complete, None


def fed_at_once(machine: Machine, pomset: Pomset) -> tuple[bool, bool]:
    """The same by the loop for many events, compiled if there is a compiler, and by its plain twin."""
    names = [a.event.name if isinstance(a.event, Control) else "" for a in machine.expression.symbols]
    played = {label: tuple(k for k, name in enumerate(names) if name == label) for label in pomset.labels}
    events = [(e, played[label], tuple(immediate(pomset, e))) for e, label in enumerate(pomset.labels)]
    fast, slow = Run(machine), Run(machine)
    fits = fast.feed_many(events) == len(events) and fast.is_complete
    return fits, slow._plain_feed(events) == len(events) and slow.is_complete


def near_misses(random: Random, members: list[Pomset]) -> Pomset:
    """A member, a member with one order less, or anything."""
    if not members or random.random() < 0.4:
        return linearised(random, random_pomset(random, random.randint(0, 4)))
    pomset = random.choice(members)
    if pomset.order and random.random() < 0.4:
        order = set(pomset.order)
        order.discard(random.choice(sorted(order)))
        pomset = Pomset(pomset.labels, frozenset(closure(order)))
    return linearised(random, pomset)


@pytest.mark.parametrize("kind", SUBCLASSES)
@pytest.mark.large("general")
def test_membership_agrees_with_the_definition(kind: str) -> None:
    random = Random(kind)
    compared = accepted = 0
    while compared < 600 * CASES:
        found = expression_of(random_path(random, kind, 3))
        if len(found.atoms) > 6:
            continue
        # Every grammar includes the smaller ones.
        assert SUBCLASSES.index(subclass(found).name) <= SUBCLASSES.index(kind)
        machine = Machine(compiled(found))
        members = {plain(pomset) for pomset in language(found.root, 4)}
        choices = sorted(members, key=repr)
        for _ in range(8):
            pomset = near_misses(random, choices)
            expected = canonical(pomset) in members
            assert fed(found, pomset)[0] == expected, (path_text(found.root), pomset)
            assert fed_at_once(machine, pomset) == (expected, expected), (path_text(found.root), pomset)
            compared += 1
            accepted += expected
    assert compared // 4 < accepted < compared


def test_the_first_misfit_is_where_no_member_can_go_on() -> None:
    random = Random(9)
    compared = 0
    while compared < 400 * CASES:
        found = expression_of(random_path(random, "safe", 3))
        if len(found.atoms) > 5 or any(sign in path_text(found.root) for sign in "*@"):
            continue
        members = {plain(pomset) for pomset in language(found.root, 5)}
        for _ in range(4):
            pomset = near_misses(random, sorted(members, key=repr))
            _, at = fed(found, pomset)
            stuck = [k for k in range(1, len(pomset) + 1) if not is_prefix(pomset, k, members)]
            assert at == (stuck[0] - 1 if stuck else None), (path_text(found.root), pomset)
            compared += 1


def is_prefix(pomset: Pomset, count: int, members: set[Pomset]) -> bool:
    """Whether the first events are a beginning of some member: a set closed downwards of the same shape."""
    part = canonical(
        Pomset(pomset.labels[:count], frozenset((a, b) for a, b in pomset.order if max(a, b) < count))
    )
    return any(part in beginnings(member, count) for member in members)


def beginnings(member: Pomset, count: int) -> set[Pomset]:
    from itertools import combinations

    found = set()
    for chosen in combinations(range(len(member)), count):
        if all(a in chosen for a, b in member.order if b in chosen):
            place = {event: number for number, event in enumerate(chosen)}
            labels = tuple(member.labels[event] for event in chosen)
            order = frozenset((place[a], place[b]) for a, b in member.order if b in place and a in place)
            found.add(canonical(Pomset(labels, order)))
    return found


def word(text: str) -> Pomset:
    """A chain of events."""
    labels = tuple(text.split())
    return Pomset(labels, frozenset((a, b) for a in range(len(labels)) for b in range(a + 1, len(labels))))


@pytest.mark.parametrize(
    ("text", "run", "fits"),
    [
        ("E*n; X*n", "", True),
        ("E*n; X*n", "E E X X", True),
        ("E*n; X*n", "E E X", False),
        ("E*n; X*n", "E X X", False),
        ("(E*n; X*n)*", "E X E E X X", True),
        ("E*n; X*n; Y*m", "E X Y Y Y", True),
        ("(E + F)*n; X*n", "E F X X", True),
        ("E*n; (X; Y)*n", "E E X Y X Y", True),
        ("E*n; (X; Y)*n", "E E X Y X", False),
    ],
)
def test_control_variables_count(text: str, run: str, fits: bool) -> None:
    assert fed(expression(text), word(run))[0] == fits


def test_counts_relate_concurrent_parts_too() -> None:
    found = expression("E*n & X*n")
    both = Pomset(("E", "X", "E", "X"), frozenset({(0, 2), (1, 3)}))
    assert fed(found, both)[0]
    assert not fed(found, Pomset(("E", "X", "E"), frozenset({(0, 2)})))[0]


def carrying(text: str, *events: tuple[str, str]) -> bool:
    """A chain of events with arguments."""
    tree = compiled(expression(text))
    run = Run(Machine(tree))
    names = [atom.event.name if isinstance(atom.event, Control) else "" for atom in tree.symbols]
    for event, (name, value) in enumerate(events):
        symbols = tuple(number for number, other in enumerate(names) if other == name)
        if not run.feed(event, symbols, [event - 1] if event else [], (value,)):
            return False
    return run.is_complete


def test_a_variable_is_bound_by_the_first_event() -> None:
    assert carrying("send(M); receive(M)", ("send", "m1"), ("receive", "m1"))
    assert not carrying("send(M); receive(M)", ("send", "m1"), ("receive", "m2"))
    assert carrying("send(M); receive(N)", ("send", "m1"), ("receive", "m2"))
    assert carrying("send(_); receive(_)", ("send", "m1"), ("receive", "m2"))


def test_each_round_binds_afresh_what_occurs_in_it_alone() -> None:
    events = [("send", "m1"), ("receive", "m1"), ("send", "m2"), ("receive", "m2")]
    assert carrying("(send(M); receive(M))*", *events)
    assert not carrying("send(M); receive(M); (send(M); receive(M))*", *events)


def test_memory_of_a_safe_expression_is_bounded() -> None:
    tree = compiled(expression("open; (read & write)*; close"))
    run = Run(Machine(tree))
    assert run.feed(0, (0,))
    last = [0]
    for event in range(1, 20_001, 2):
        assert run.feed(event, (1,), last)
        assert run.feed(event + 1, (2,), last)
        last = [event, event + 1]
        assert len(run.slots) <= 3
    assert run.feed(20_001, (3,), last)
    assert run.is_complete
    assert len(run.machine._states) < 10


def test_copies_that_nothing_follows_are_forgotten() -> None:
    run = Run(Machine(compiled(expression("(fork; child)@"))))
    for event in range(0, 2_000, 2):
        assert run.feed(event, (0,))
        assert run.feed(event + 1, (1,), [event])
        assert len(run.slots) <= 1
    assert run.is_complete


def test_all_copies_must_be_done_before_something_follows() -> None:
    found = expression("(A;B)@; C")
    done = Pomset(("A", "A", "B", "B", "C"), frozenset(closure({(0, 2), (1, 3), (2, 4), (3, 4)})))
    assert fed(found, done) == (True, None)
    early = Pomset(("A", "A", "B", "C"), frozenset(closure({(0, 2), (2, 3)})))
    assert fed(found, early) == (False, 3)


# ---- feeding many at once -------------------------------------------------------------------------


def stream(random: Random, symbols: int, length: int) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """Events with predecessors that mostly could be: some of the last ones, or one that nobody knows."""
    found = []
    for event in range(length):
        recent = [event - back for back in range(1, 4) if event - back >= 0]
        before = tuple(sorted(random.sample(recent, random.randint(0, min(2, len(recent))))))
        chosen = tuple(sorted({random.randrange(symbols) for _ in range(random.choice([1, 1, 2]))}))
        found.append((event, chosen, before if random.random() < 0.97 else (event + 1000,)))
    return found


@pytest.mark.skipif(kernels() is None, reason="no C compiler was there at installation")
@pytest.mark.parametrize("kind", SUBCLASSES)
def test_the_compiled_loop_goes_as_the_plain_one(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"feed {kind}")
    far = 0
    for _ in range(150 * CASES):
        found = expression_of(random_path(random, kind, 3))
        machine = Machine(compiled(found))
        events = stream(random, len(machine.expression.symbols), random.randint(1, 12))
        fast, slow = Run(machine), Run(machine)
        count = fast.feed_many(events)
        with monkeypatch.context() as patch:
            patch.setattr("possibly.logic.paths.run.kernels", lambda: None)
            assert slow.feed_many(events) == count
        assert fast.state is slow.state and (fast.state is None or fast.slots == slow.slots)
        far += count > 1
    assert far > 3


@pytest.mark.skipif(kernels() is None, reason="no C compiler was there at installation")
def test_more_slots_than_the_compiled_loop_holds() -> None:
    run = Run(Machine(compiled(parse_path(Source("(a; b)@; c")))))
    events = [(number, (0,), ()) for number in range(100)]
    assert run.feed_many(events) == 100 and len(run.slots) == 100
    assert run.feed_many([(100 + n, (1,), (n,)) for n in range(100)]) == 100
    assert run.feed_many([(200, (2,), tuple(range(100, 200)))]) == 1 and run.is_complete


def test_what_the_events_raise_comes_through() -> None:
    def broken() -> Iterator[tuple[int, tuple[int, ...], tuple[int, ...]]]:
        yield 0, (0,), ()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Run(Machine(compiled(parse_path(Source("a*"))))).feed_many(broken())
