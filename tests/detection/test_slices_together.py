"""All pairs of processes at once: against the slice of each pair, and as the answer to mutual exclusion."""

from __future__ import annotations

import os
from contextlib import nullcontext
from itertools import combinations
from random import Random

import pytest

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.slices import sliced
from possibly.detection.slices.sliced import Sliced
from possibly.detection.slices.slicing import MOST_ALTERNATIVES, Slicing
from possibly.detection.slices.together import beside, is_in_one_pass, together
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.specification import read_specification
from possibly.order.bitmaps import Bits
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.slice import whole
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.records import replace
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.generate import random_trace
from tests.order.wide import wide_trace
from tests.twins import needs_kernels, plain

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 1000 * MANY if MANY > 1 else 200


def random_states(random: Random, computation: Computation) -> dict[int, Bits]:
    share = random.choice([0.1, 0.3, 0.7])
    return {
        process: Bits.of(bytes(random.random() < share for _ in range(length + 1)))
        for process, length in enumerate(computation.lengths)
        if random.random() < 0.9
    }


def test_pairs_meet_where_their_slices_begin() -> None:
    met = joint = 0
    for seed in range(CASES):
        random = Random(seed)
        trace = random_trace(random, random.randint(0, 60), joint=random.random() < 0.2)
        computation = Computation(trace, random.choice(["causal", "sync"]))
        states = random_states(random, computation)
        found = {(it.one[0], it.other[0]): it.cut(computation) for it in together(computation, states)}
        for one, other in combinations(sorted(states), 2):
            part = replace(whole(computation), allowed={one: states[one], other: states[other]})
            assert found.get((one, other)) == part.least, seed
        met += bool(found)
        joint += bool(computation.joint) and is_in_one_pass(computation)
    assert met > CASES // 4
    assert joint > CASES // 20 or not is_in_one_pass(Computation(random_trace(Random(0), 3, joint=False)))


@needs_kernels
def test_one_state_beside_another_is_met_where_the_slices_of_the_pairs_begin() -> None:
    met = 0
    for seed in range(CASES // 2):
        random = Random(seed)
        trace = random_trace(random, random.randint(0, 40), joint=random.random() < 0.2)
        computation = Computation(trace, random.choice(["causal", "sync"]))
        ones, others = random_states(random, computation), random_states(random, computation)
        with plain() if random.random() < 0.3 else nullcontext():
            found = {(it.one, it.other) for it in beside(computation, ones, others)}
        least = {
            part.least
            for one in ones
            for other in others
            if one != other
            for part in [replace(whole(computation), allowed={one: ones[one], other: others[other]})]
            if part.least is not None
        }
        assert {computation.closure(dict(pair)) for pair in found} == least, seed
        met += bool(found)
    assert met > CASES // 8


def test_the_twins_agree() -> None:
    for seed in range(CASES // 2):
        random = Random(seed)
        computation = Computation(random_trace(random, 40))
        states = random_states(random, computation)
        compiled = [it.cut(computation) for it in together(computation, states)]
        with plain():
            assert [it.cut(computation) for it in together(computation, states)] == compiled, seed


@needs_kernels
def test_pairs_of_more_processes_than_are_turned_at_once() -> None:
    for seed, processes in enumerate([64, 80]):
        random = Random(seed)
        computation = Computation(wide_trace(random, processes, 30 * processes))
        states = {
            process: Bits.of(bytes(random.random() < 0.06 for _ in range(length + 1)))
            for process, length in enumerate(computation.lengths)
        }
        compiled = [it.cut(computation) for it in together(computation, states)]
        with plain():
            assert [it.cut(computation) for it in together(computation, states)] == compiled, seed
        assert 0 < len(compiled) < processes * (processes - 1) // 2


@needs_kernels
def test_pairs_of_processes_with_more_events_than_16_bits_can_count() -> None:
    builder = TraceBuilder()
    builder.header([("P0", {}), ("P1", {}), ("P2", {})])
    for number in range(70_000):
        if number == 68_000:
            builder.add("P0", kind="send", msg="m", to="P1")
        else:
            builder.add("P0")
    builder.add("P1", kind="receive", msg="m")
    builder.add("P2")
    computation = Computation(builder.finish())
    for last in (68_000, 68_001):
        states = {0: bytes(70_001), 1: b"\0\1", 2: b"\1\1"}
        states[0] = bytes(last) + b"\1" + bytes(70_000 - last)
        allowed = {process: Bits.of(truths) for process, truths in states.items()}
        compiled = together(computation, allowed)
        with plain():
            assert together(computation, allowed) == compiled
        # The state before the send is over when P1 has received; what follows it is not.
        assert [it.one[0] * 10 + it.other[0] for it in compiled] == ([1] if last > 68_000 else []) + [2, 12]


def ring(processes: int, rounds: int, faulty: bool) -> Trace:
    """A token goes round; who has it enters. At the end, if faulty, one enters without it."""
    builder = TraceBuilder()
    builder.header([(f"P{number}", {"cs": False}) for number in range(processes)])
    for turn in range(processes * rounds):
        here, there = f"P{turn % processes}", f"P{(turn + 1) % processes}"
        if turn:
            builder.add(here, kind="receive", msg=f"m{turn}")
        builder.add(here, set={"cs": True})
        builder.add(here, set={"cs": False})
        builder.add(here, kind="send", msg=f"m{turn + 1}", to=there)
    if faulty:
        builder.add("P0", set={"cs": True})
    return builder.finish()


def decided(trace: Trace, text: str) -> tuple[bool, int | None]:
    lattice = Lattice(Computation(trace))
    slicing = Slicing(lattice, CutPredicates(lattice, Readings(lattice.computation)))
    found = Sliced(slicing).decide(bind(parse(text, "ctl"), vocabulary(trace)).formula)
    assert found is not None
    return found.value, None if found.path is None else len(found.path)


def test_mutual_exclusion_among_more_pairs_than_there_may_be_alternatives() -> None:
    safe = 'AG(!(exists i, j in "P*" if index(i) < index(j): i.cs & j.cs))'
    same = 'AG(forall i, j in "P*" if index(i) < index(j): !i.cs | !j.cs)'
    bad = 'EF(exists i, j in "P*" if index(i) < index(j): i.cs & j.cs)'
    processes = 30
    assert processes * (processes - 1) // 2 > MOST_ALTERNATIVES
    right, wrong = ring(processes, 2, faulty=False), ring(processes, 2, faulty=True)
    for text in (safe, same):
        assert decided(right, text) == (True, None)
        assert decided(wrong, text)[0] is False
    assert decided(right, bad) == (False, None)
    value, length = decided(wrong, bad)
    assert value and length is not None
    with plain():
        assert decided(wrong, bad) == (value, length)


def with_a_barrier(rounds: int, is_exclusive: bool) -> Trace:
    """Processes that meet once, then take turns in critical sections, ordered by a lock or by nothing."""
    names = [f"P{number}" for number in range(25)]
    builder = TraceBuilder()
    builder.header([(name, {"cs": False, "n": 0}) for name in names])
    for name in names:
        builder.add(name, meet="all")
    for turn in range(rounds):
        name = names[turn * 7 % 25]
        after = [f"released {turn - 1}"] if turn and is_exclusive else []
        builder.add(name, set={"cs": True}, after=after)
        builder.add(name, set={"n": turn})
        builder.add(name, set={"cs": False}, id=f"released {turn}")
    return builder.finish()


@needs_kernels
def test_pairs_of_a_long_run_with_a_barrier_are_asked_of_its_projection_where_nothing_is_compiled() -> None:
    exclusion = 'ctl it = AG(!(exists i, j in "P*" if index(i) < index(j): i.cs & j.cs))'
    for is_exclusive in (True, False):
        run = with_a_barrier(sliced.LONG_WITH_JOINT // 3 + 1, is_exclusive)
        for engine, how in (("slice", nullcontext), ("values", plain)):
            with how():
                found = check_trace(run, read_specification(exclusion), Options(explain=False)).verdicts[0]
            assert (found.holds, found.engine) == (is_exclusive, engine)
            if found.witness is not None:
                assert len(found.witness.path) == 25 + 2


def test_pairs_are_left_at_the_limit() -> None:
    computation = Computation(with_a_barrier(10, is_exclusive=True))
    states = {
        process: Bits.of(bytes([1] * (length + 1))) for process, length in enumerate(computation.lengths)
    }
    with plain(), pytest.raises(LimitReachedError):
        together(computation, states, Budget(timeout=0.0).look)
