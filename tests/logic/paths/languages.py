"""The language of an expression, straight from the definitions: every pomset up to a size.

A pomset is a tuple of (symbol, bindings of the event) with a set of pairs, the whole strict order. Nothing
of the machine is used: sequences are products, `&` tries every way to pair synchronising events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from random import Random

from possibly.logic.paths.syntax import Atom, Choice, Control, Many, Path, Repeat, Sequence, Together


@dataclass(frozen=True)
class Pomset:
    labels: tuple[str, ...]
    order: frozenset[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.labels)


EMPTY = Pomset((), frozenset())


def symbols(path: Path) -> set[str]:
    match path:
        case Atom():
            return {path.symbol}
        case Repeat(body) | Many(body):
            return symbols(body)
        case Sequence(left, right) | Choice(left, right) | Together(left, right):
            return symbols(left) | symbols(right)


def language(path: Path, size: int) -> set[Pomset]:
    """All pomsets with at most that many events (labels are symbols), up to isomorphism."""
    return {canonical(pomset) for pomset in _language(path, size)}


def _language(path: Path, size: int) -> set[Pomset]:
    match path:
        case Atom():
            return {Pomset((path.symbol,), frozenset())} if size else set()
        case Choice(left, right):
            return _language(left, size) | _language(right, size)
        case Sequence(left, right):
            return _products(_language(left, size), _language(right, size), size, after)
        case Together(left, right):
            # A synchronising event counts on both sides.
            shared = symbols(left) & symbols(right)
            return {
                canonical(pomset)
                for one in _language(left, size)
                for two in _language(right, size)
                for pomset in synchronised(one, two, shared)
                if len(pomset) <= size
            }
        case Repeat(body):
            return _closure(_language(body, size), size, after)
        case Many(body):
            return _closure(_language(body, size), size, beside)


def _products(first: set[Pomset], second: set[Pomset], size: int, join) -> set[Pomset]:  # type: ignore[no-untyped-def]
    return {canonical(join(one, two)) for one in first for two in second if len(one) + len(two) <= size}


def _closure(bodies: set[Pomset], size: int, join) -> set[Pomset]:  # type: ignore[no-untyped-def]
    found = {EMPTY}
    bodies = {body for body in bodies if len(body)}
    while True:
        more = found | _products(found, bodies, size, join)
        if more == found:
            return found
        found = more


def beside(one: Pomset, two: Pomset) -> Pomset:
    shift = len(one)
    moved = {(a + shift, b + shift) for a, b in two.order}
    return Pomset((*one.labels, *two.labels), one.order | moved)


def after(one: Pomset, two: Pomset) -> Pomset:
    found = beside(one, two)
    between = {(a, b) for a in range(len(one)) for b in range(len(one), len(found))}
    return Pomset(found.labels, found.order | between)


def synchronised(one: Pomset, two: Pomset, shared: set[str]) -> Iterator[Pomset]:
    """Every way to make each shared event of one side the same as one of the other."""
    left = [number for number, label in enumerate(one.labels) if label in shared]
    right = [number for number, label in enumerate(two.labels) if label in shared]
    if len(left) != len(right):
        return
    for chosen in permutations(right):
        if any(one.labels[a] != two.labels[b] for a, b in zip(left, chosen, strict=True)):
            continue
        place = dict(zip(chosen, left, strict=True))
        labels = list(one.labels)
        for number, label in enumerate(two.labels):
            if number not in place:
                place[number] = len(labels)
                labels.append(label)
        order = closure(set(one.order) | {(place[a], place[b]) for a, b in two.order})
        if not any((a, a) in order for a in range(len(labels))):
            yield Pomset(tuple(labels), frozenset(order))


def closure(order: set[tuple[int, int]]) -> set[tuple[int, int]]:
    while True:
        more = {(a, d) for a, b in order for c, d in order if b == c} - order
        if not more:
            return order
        order |= more


@cache
def canonical(pomset: Pomset) -> Pomset:
    """One representative of all that are the same up to the names of the events."""
    count = len(pomset)
    # Events that look alike from outside are permuted, the others sorted by how they look.
    look = [
        (
            pomset.labels[e],
            sum(b == e for _, b in pomset.order),
            sum(a == e for a, _ in pomset.order),
            sorted(pomset.labels[a] for a, b in pomset.order if b == e),
            sorted(pomset.labels[b] for a, b in pomset.order if a == e),
        )
        for e in range(count)
    ]
    groups: list[list[int]] = []
    for event in sorted(range(count), key=look.__getitem__):
        if groups and look[groups[-1][0]] == look[event]:
            groups[-1].append(event)
        else:
            groups.append([event])
    best: tuple[tuple[int, int], ...] | None = None
    for arrangement in _arrangements(groups):
        place = {event: number for number, event in enumerate(arrangement)}
        order = tuple(sorted((place[a], place[b]) for a, b in pomset.order))
        if best is None or order < best:
            best = order
    labels = tuple(pomset.labels[e] for group in groups for e in group)
    return Pomset(labels, frozenset(best or ()))


def _arrangements(groups: list[list[int]]) -> Iterator[list[int]]:
    if not groups:
        yield []
        return
    for first in permutations(groups[0]):
        for rest in _arrangements(groups[1:]):
            yield [*first, *rest]


# ---- random expressions -------------------------------------------------------------------------

CLASSES = ("sequential", "multiple", "safe", "general", "extended")


def random_path(random: Random, kind: str, depth: int, names: str = "abc") -> Path:
    """An expression that the grammar of that subclass yields."""
    if kind == "multiple":
        found = random_path(random, "sequential", depth - 1, names)
        for _ in range(random.randint(1, 2)):
            found = Together(found, random_path(random, "sequential", depth - 1, names))
        return found
    if kind == "general" and depth > 1 and random.random() < 0.6:
        match random.randrange(3):
            case 0:
                return Choice(
                    random_path(random, kind, depth - 1, names), random_path(random, kind, depth - 1, names)
                )
            case 1:
                return Together(
                    random_path(random, kind, depth - 1, names), random_path(random, kind, depth - 1, names)
                )
            case _:
                return Many(random_path(random, kind, depth - 1, names))
    if kind == "general":
        kind = "safe"
    if depth <= 0 or random.random() < 0.15:
        return Atom(Control(random.choice(names)), distinct=random.random() < 0.15)
    operators = {"sequential": ";+*", "safe": ";+*&&", "extended": ";;+*&@@"}[kind]
    left = random_path(random, kind, depth - 1, names)
    match random.choice(operators):
        case ";":
            return Sequence(left, random_path(random, kind, depth - 1, names))
        case "+":
            return Choice(left, random_path(random, kind, depth - 1, names))
        case "&":
            return Together(left, random_path(random, kind, depth - 1, names))
        case "*":
            return Repeat(left)
        case _:
            return Many(left)


def random_pomset(random: Random, size: int, names: str = "abc") -> Pomset:
    """Any labelled order."""
    labels = tuple(random.choice(names) for _ in range(size))
    density = random.choice([0.0, 0.2, 0.5, 1.0])
    pairs = {(a, b) for a in range(size) for b in range(a + 1, size) if random.random() < density}
    return Pomset(labels, frozenset(closure(pairs)))


def plain(pomset: Pomset) -> Pomset:
    """The same with the names that a run shows: the symbol of a distinct event is its name there."""
    return canonical(Pomset(tuple(label.split("^")[0] for label in pomset.labels), pomset.order))


def linearised(random: Random, pomset: Pomset) -> Pomset:
    """The same pomset with its events numbered in a random order in which they could happen."""
    left = set(range(len(pomset)))
    order: list[int] = []
    while left:
        ready = [e for e in left if not any(b == e and a in left for a, b in pomset.order)]
        event = random.choice(sorted(ready))
        left.remove(event)
        order.append(event)
    place = {event: number for number, event in enumerate(order)}
    labels = tuple(pomset.labels[event] for event in order)
    return Pomset(labels, frozenset((place[a], place[b]) for a, b in pomset.order))


def immediate(pomset: Pomset, event: int) -> list[int]:
    """The latest events before that one."""
    before = [a for a, b in pomset.order if b == event]
    return [a for a in before if not any((a, c) in pomset.order for c in before)]
