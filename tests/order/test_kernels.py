"""Least and greatest cuts of random slices: the twins against each other and against the cuts themselves."""

from __future__ import annotations

import os
from array import array
from random import Random
from typing import Any

import pytest

from possibly.errors import TraceError
from possibly.order.bitmaps import Bits
from possibly.order.computation import Computation, Cut
from possibly.order.kernels import raised_row
from possibly.order.lattice import Lattice
from possibly.order.slice import Slice, conjunction, unimplied, whole
from possibly.records import replace
from possibly.trace.index import Links
from tests.generate import random_trace
from tests.order.wide import wide_trace
from tests.twins import needs_kernels, plain

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 500 * MANY if MANY > 1 else 400


def random_slice(random: Random, events: int) -> Slice:
    """Bounds, bitmaps and edges at random, over traces with all that orders events."""
    return slice_over(random, Computation(random_trace(random, events), random.choice(["causal", "sync"])))


def slice_over(random: Random, computation: Computation) -> Slice:
    lengths = computation.lengths
    allowed = {
        process: Bits.of(bytes(random.random() < 0.7 for _ in range(length + 1)))
        for process, length in enumerate(lengths)
        if random.random() < 0.6
    }
    places = [(process, count) for process, length in enumerate(lengths) for count in range(1, length + 1)]
    edges = tuple(
        (random.choice(places), random.choice(places)) for _ in range(random.randint(0, 3)) if places
    )
    low = tuple(random.randint(0, length // 3) for length in lengths)
    high = tuple(length - random.randint(0, length // 3) for length in lengths)
    return Slice(computation, low, high, allowed, edges)


def ends(part: Slice, start: Cut) -> list[Any]:
    fresh = Slice(part.computation, part.low, part.high, part.allowed, part.edges)
    return [
        fresh.least,
        fresh.greatest,
        fresh.least_from(start),
        fresh.greatest_from(start),
        [list(fresh.irreducible(process)) for process in range(len(start))],
        part.computation.closure(dict(enumerate(start))),
    ]


def test_they_are_the_least_and_greatest_of_the_cuts() -> None:
    found = 0
    for seed in range(CASES):
        random = Random(seed)
        part = random_slice(random, random.randint(0, 9))
        lattice = Lattice(part.computation)
        cuts = [cut for cut in map(lattice.unpack, lattice.depth_first()) if part.contains(cut)]
        start = tuple(random.randint(0, length) for length in part.computation.lengths)
        above = [cut for cut in cuts if all(map(int.__ge__, cut, start))]
        below = [cut for cut in cuts if all(map(int.__le__, cut, start))]
        assert part.least == min(cuts, key=sum, default=None), seed
        assert part.greatest == max(cuts, key=sum, default=None), seed
        assert part.least_from(start) == min(above, key=sum, default=None), seed
        assert part.greatest_from(start) == max(below, key=sum, default=None), seed
        found += bool(cuts)
    assert found > CASES // 4


@needs_kernels
def test_the_twins_find_the_same_cuts() -> None:
    for seed in range(CASES):
        random = Random(seed)
        part = random_slice(random, random.randint(0, 60))
        start = tuple(random.randint(0, length) for length in part.computation.lengths)
        compiled = ends(part, start)
        with plain():
            assert ends(part, start) == compiled, seed


@needs_kernels
def test_the_twins_find_the_same_cuts_of_many_processes() -> None:
    """So many that they wait in turn, and the queue of those that do goes round."""
    found = 0
    for seed in range(CASES // 10):
        random = Random(seed)
        processes = random.choice([7, 8, 9, 31, 32, 33, 150])
        computation = Computation(wide_trace(random, processes, random.randint(0, 12 * processes)))
        part = slice_over(random, computation)
        few = dict(random.sample(sorted(part.allowed.items()), min(3, len(part.allowed))))
        bare = replace(whole(computation), allowed=few)
        parts = [bare, replace(bare, low=part.low), replace(bare, high=part.high, edges=part.edges[:1])]
        start = tuple(random.randint(0, length // 2) for length in computation.lengths)
        compiled = [ends_of_many(each, start) for each in parts]
        with plain():
            assert [ends_of_many(each, start) for each in parts] == compiled, seed
        found += sum(end is not None and any(end) for ends in compiled for end in ends)
    assert found > CASES // 2


def ends_of_many(part: Slice, start: Cut) -> list[Cut | None]:
    return [
        part.least_from(part.low),
        part.greatest_from(part.high),
        part.least_from(start),
        part.greatest_from(start),
        part.computation.closed(start),
    ]


def test_bounds_of_the_computation_are_bounds_like_others() -> None:
    """That a slice has no bounds of its own is seen by their identity: with equal ones all is the same."""
    found = 0
    for seed in range(CASES):
        random = Random(seed)
        part = random_slice(random, random.randint(0, 30))
        computation = part.computation
        bare = replace(whole(computation), allowed=part.allowed, edges=part.edges)
        lowest, highest = tuple(iter(computation.initial)), tuple(iter(computation.final))
        start = tuple(random.randint(0, length) for length in computation.lengths)
        own = (part.low, part.high)
        for low, high in ((lowest, highest), (part.low, highest), (lowest, part.high), own):
            one = replace(bare, low=low, high=high)
            same = replace(
                one,
                low=computation.initial if low == computation.initial else low,
                high=computation.final if high == computation.final else high,
            )
            assert ends(one, start) == ends(same, start), seed
            assert one.contains(start) == same.contains(start), seed
            both, again = conjunction([bare, one, part]), conjunction([part, same, bare])
            assert (both.low, both.high) == (again.low, again.high) == own, seed
            found += one.least is not None
    assert found > CASES


def test_what_is_closed_is_the_closure_of_all_counts() -> None:
    for seed in range(CASES):
        random = Random(seed)
        computation = Computation(random_trace(random, random.randint(0, 30)))
        counts = [random.choice([0, random.randint(0, length)]) for length in computation.lengths]
        expected = computation.initial
        for process, count in enumerate(counts):
            if count:
                clock = computation.clock(computation.at(process, count))
                expected = tuple(map(max, expected, clock))
        assert computation.closed(counts) == computation.closure(dict(enumerate(counts))) == expected, seed


@needs_kernels
def test_links_that_lead_out_of_the_trace_are_an_error() -> None:
    for seed in range(50):
        part = random_slice(Random(seed), 20)
        needed = part.computation.needed
        if not len(needed.end):
            continue
        wrong = needed._replace(end=type(needed.end)(needed.end.typecode, [0xFFFFFFFF] * len(needed.end)))  # type: ignore[attr-defined,call-arg]
        part.computation.__dict__["needed"] = part.computation.__dict__["enabling"] = wrong
        whole = Slice(part.computation, part.computation.initial, part.computation.final)
        with pytest.raises(TraceError, match="depends on one that is not there"):
            whole.least_from(part.computation.final)
        with pytest.raises(TraceError, match="depends on one that is not there"):
            whole.greatest_from(part.computation.initial)


def test_links_may_need_64_bits() -> None:
    part = random_slice(Random(3), 30)
    expected = ends(part, part.computation.initial)
    for name in ("needed", "enabling"):
        links: Links = getattr(part.computation, name)
        wide = [end >> links.shift << 31 | end & ((1 << links.shift) - 1) for end in links.end]
        from array import array

        part.computation.__dict__[name] = Links(links.start, links.position, array("Q", wide), 31)
    assert ends(part, part.computation.initial) == expected


def test_unimplied_edges_are_those_that_no_clock_has() -> None:
    """However many there are: the order of each process is followed once."""
    kept = 0
    for seed in range(CASES):
        random = Random(seed)
        computation = Computation(random_trace(random, random.randint(1, 12)))
        places = [computation.place(event) for event in range(len(computation.trace))]
        edges = [(random.choice(places), random.choice(places)) for _ in range(random.randint(0, 12))]
        expected = [(e, f) for e, f in edges if computation.clock(computation.at(*f))[e[0]] < e[1]]
        assert sorted(unimplied(computation, edges)) == sorted(expected), seed
        kept += bool(expected)
    assert kept > CASES // 2


@needs_kernels
@pytest.mark.parametrize("code", ["H", "i"])
def test_rows_are_joined_as_the_plain_twin_joins_them(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(code)
    for length in range(20):
        row, *others = (array(code, random.choices(range(9), k=length)) for _ in range(random.randint(1, 4)))
        compiled = raised_row(row, others)
        with monkeypatch.context() as patched:
            patched.setattr("possibly.order.kernels.kernels", lambda: None)
            assert raised_row(row, others) == compiled
        assert compiled is not row
