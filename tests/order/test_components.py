"""Components of slices: mutual need, by closing the relation step by step; and the twins."""

from __future__ import annotations

import os
from itertools import product
from random import Random

from possibly.order.components import components, last_of_several_steps
from possibly.order.slice import Slice
from tests.order.test_kernels import random_slice
from tests.twins import needs_kernels, plain

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 500 * MANY if MANY > 1 else 150

Place = tuple[int, int]


def places(part: Slice) -> list[Place]:
    return [(p, x) for p, length in enumerate(part.computation.lengths) for x in range(1, length + 1)]


def needs(part: Slice) -> set[tuple[Place, Place]]:
    """(f, e): a cut with f has e, as the definitions say, closed."""
    computation = part.computation
    found = {(place, place) for place in places(part)} | {(f, e) for e, f in part.edges}
    for place in places(part):
        event = computation.at(*place)
        found |= {(place, computation.place(other)) for other in computation.predecessors(event)}
        if place[1] > 1:
            found.add((place, (place[0], place[1] - 1)))
        states = part.allowed.get(place[0])
        if states is not None and not states[place[1]] and place[1] < computation.lengths[place[0]]:
            found.add((place, (place[0], place[1] + 1)))
    while True:
        more = {(a, d) for (a, b), (c, d) in product(found, found) if b == c} - found
        if not more:
            return found
        found |= more


def test_events_of_one_component_need_each_other() -> None:
    several = 0
    for seed in range(CASES):
        part = random_slice(Random(seed), 7)
        number = dict(zip(places(part), components(part).number, strict=True))
        closed = needs(part)
        for one, other in product(number, number):
            assert (number[one] == number[other]) == ({(one, other), (other, one)} <= closed), seed
        computation = part.computation
        last = [0] * len(computation.lengths)
        for one, other in product(number, number):
            same = computation.step(computation.at(*one)) == computation.step(computation.at(*other))
            if number[one] == number[other] and not same:
                last[one[0]] = max(last[one[0]], one[1])
        assert list(last_of_several_steps(part)) == last, seed
        several += any(last)
    assert several > CASES // 4


@needs_kernels
def test_the_twins_find_the_same_components() -> None:
    for seed in range(CASES):
        part = random_slice(Random(seed), 40)
        compiled = components(part)
        with plain():
            found = components(part)
        assert _renumbered(found.number) == _renumbered(compiled.number), seed
        assert (found.total, list(found.last)) == (compiled.total, list(compiled.last)), seed


def _renumbered(numbers: object) -> list[int]:
    known: dict[int, int] = {}
    return [known.setdefault(number, len(known)) for number in numbers]  # type: ignore[attr-defined]
