"""AF of regular predicates: the interval and each condition of Algo 6.2, against all cuts."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import pytest

from possibly.detection.choose import answer
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.detection.slices.by_test import slice_of_complement
from possibly.detection.slices.closure import sublattice
from possibly.detection.slices.definitely import Definitely, WayBack
from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Node, Temporal
from possibly.order.computation import Computation, Cut
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.generate import random_trace

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 1500 * MANY if MANY > 1 else 150


def is_inside(first: Cut, second: Cut) -> bool:
    return all(map(int.__le__, first, second))


class Regular:
    """AF of a generated regular predicate that some cut satisfies; `usable` if it is one."""

    def __init__(self, trace: Trace, text: str) -> None:
        self.lattice = Lattice(Computation(trace))
        self.text = text
        self.node: Node = bind(parse(f"AF({text})", "ctl"), vocabulary(trace)).formula
        assert isinstance(self.node, Temporal)
        self.predicate: Node = self.node.operands[0]
        self.predicates = CutPredicates(self.lattice, Readings(self.lattice.computation))
        self.slicing = Slicing(self.lattice, self.predicates)
        self.part = self.slicing.slice_of(self.predicate)
        self.usable = self.part is not None and self.part.least is not None

    def engine(self) -> Definitely:
        return Definitely(self.slicing, Budget())

    @property
    def ends(self) -> tuple[Cut, Cut]:
        assert self.part is not None and self.part.least is not None and self.part.greatest is not None
        return self.part.least, self.part.greatest

    def cuts(self) -> list[Cut]:
        return [self.lattice.unpack(cut) for cut in self.lattice.depth_first()]

    def holds(self, cut: Cut) -> bool:
        return self.predicates(self.predicate)(self.lattice.pack(cut))

    def plain(self) -> bool:
        return Exhaustive(self.lattice, self.predicates, Budget()).at(self.node, self.lattice.initial)


def random_run(random: Random) -> Trace:
    """x counts the events of each process; messages, and now and then a joint event."""
    builder = TraceBuilder()
    names = ["P0", "P1", "P2"][: random.randint(2, 3)]
    builder.header([(name, {"x": 0}) for name in names])
    count, sent = dict.fromkeys(names, 0), list[tuple[str, str]]()
    for number in range(random.randint(3, 9)):
        name = random.choice(names)
        fields: dict[str, Any] = {"kind": "internal"}
        waiting = [message for message, to in sent if to == name]
        if random.random() < 0.1:
            for line in names[:2]:
                count[line] += 1
                builder.add(line, meet=f"M{number}", set={"x": count[line]})
            continue
        if waiting and random.random() < 0.7:
            sent.remove((waiting[0], name))
            fields = {"kind": "receive", "msg": waiting[0]}
        elif random.random() < 0.4:
            sent.append((f"m{number}", random.choice(names)))
            fields = {"kind": "send", "msg": f"m{number}", "to": sent[-1][1]}
        count[name] += 1
        builder.add(name, set={"x": count[name]}, **fields)
    return builder.finish()


def regular(seed: int) -> Regular | None:
    """One that is neither true at once nor at the end, which would leave nothing to ask."""
    random = Random(seed)
    trace = random_run(random)
    names = [process.name for process in trace.processes]
    parts = [f"{name}.x >= {random.randint(0, 1)} & {name}.x <= {random.randint(1, 3)}" for name in names]
    parts.append(f"transit({random.choice(names)}, {random.choice(names)}) == {random.randint(0, 1)}")
    found = Regular(trace, " & ".join(random.sample(parts, random.randint(2, len(parts)))))
    trivial = [cut for cut in (found.lattice.initial, found.lattice.final)
               if found.predicates(found.predicate)(cut)]  # fmt: skip
    return found if found.usable and not trivial else None


@pytest.mark.parametrize("first_cuts", [0, 3_000])
def test_every_condition_leads_to_the_answer_of_the_plain_engine(
    first_cuts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no cut searched at first, the conditions that cost more are asked each time."""
    monkeypatch.setattr("possibly.detection.slices.definitely.FIRST_CUTS", first_cuts)
    seen: Counter[bool] = Counter()
    for seed in range(CASES):
        case = regular(seed)
        if case is None:
            continue
        found = case.engine().decide(case.node)
        assert found is not None and found.value == case.plain(), (seed, case.text)
        seen[found.value] += 1
        if found.path is None:
            continue
        cut = case.lattice.initial
        assert not case.holds(case.lattice.unpack(cut))
        for move in found.path:
            assert (move.step, move.delta) in {(m.step, m.delta) for m in case.lattice.moves(cut)}, seed
            cut += move.delta
            assert not case.holds(case.lattice.unpack(cut)), (seed, case.text)
        assert cut == case.lattice.final
    assert min(seen.values()) > CASES // 50, seen


def test_each_condition_says_what_its_theorem_says() -> None:
    """Theorems 6.14, 6.11 and 6.16, the first and the last by all cuts."""
    seen: Counter[str] = Counter()
    for seed in range(1_000_000, 1_000_000 + CASES):
        case = regular(seed)
        if case is None:
            continue
        least, greatest = case.ends
        cuts, engine, expected = case.cuts(), case.engine(), case.plain()
        beside = [cut for cut in cuts if not is_inside(least, cut) and not is_inside(cut, greatest)]
        found = engine.beside(least, greatest)
        assert (found in beside) if beside else (found is None), (seed, case.text)
        assert not (beside and expected), (seed, case.text)
        seen["6.14"] += bool(beside)
        low, high = engine.interval(least, greatest)
        if case.holds(low) or case.holds(high):
            continue
        back = engine.backward(case.predicates(case.predicate), low, high)
        assert back is None or not expected, (seed, case.text)
        seen["6.11"] += back is not None
        inside = {cut for cut in cuts if is_inside(low, cut) and is_inside(cut, high)}
        without = {cut for cut in inside if not case.holds(cut)}
        part = slice_of_complement(case.slicing, case.predicate, low, high)
        assert set(part.cuts()) == set(sublattice(case.lattice.computation, without).cuts()), seed
        must = engine.must_pass(case.predicate, low, high)
        assert expected or not must, (seed, case.text)
        seen["6.16"] += must
        seen["6.16 does not tell"] += expected and not must
    assert min(seen[name] for name in ("6.14", "6.11", "6.16")) > CASES // 100, seen


def fan(processes: int, length: int) -> Trace:
    """One message from the first process to the second, in the middle of much that is concurrent."""
    builder = TraceBuilder()
    names = [f"P{number}" for number in range(processes)]
    builder.header([(name, {"x": 0}) for name in names])
    for position in range(length):
        for name in names:
            builder.add(name, set={"x": position})
        if position == length // 2:
            builder.add("P0", kind="send", msg="m", to="P1")
            for name in names:
                builder.add(name, set={"x": position})
            builder.add("P1", kind="receive", msg="m")
    return builder.finish()


def test_what_must_be_passed_is_known_without_visiting_a_large_interval() -> None:
    """A message is in transit on every observation; some 10 ** 8 cuts come before it is sent."""
    run = fan(7, 14)
    case = Regular(run, "transit(P0, P1) == 1 & P0.x >= 3")
    found = answer("ctl", case.node, case.lattice, case.predicates, Budget(max_cuts=5_000), "auto")
    assert found.finding is not None and found.finding.value and found.engine == "definitely"


def test_a_way_beside_the_interval_is_found_at_once() -> None:
    """While the third process has not moved the first can go to its end."""
    case = Regular(fan(7, 14), "transit(P0, P1) == 1 & P2.x == 5 & P3.x == 9")
    budget = Budget(max_cuts=10)
    found = Definitely(case.slicing, budget).decide(case.node)
    assert found is not None and not found.value and found.path is not None and budget.visited == 0
    assert len(found.path) == len(case.lattice.computation)


def test_what_can_be_taken_back_is_known_at_every_cut() -> None:
    for seed in range(60):
        random = Random(f"back {seed}")
        computation = Computation(random_trace(random, random.randint(1, 40), joint=False), "causal")
        lattice = Lattice(computation)
        back = WayBack(lattice, (0,) * len(computation.lengths), computation.final)
        taken: list[int] = []
        for _ in range(60):
            if taken and random.random() < 0.3:
                back.put_back(taken.pop())
            elif back.free:
                taken.append(back.take(random.choice(back.free)))
            cut = lattice.pack(back.counts)
            assert back.free == [move.processes[0] for move, _ in lattice.predecessors(cut)], seed
