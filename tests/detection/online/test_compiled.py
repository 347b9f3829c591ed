"""EF followed in the compiled core: the same moment and the same cut as in Python, however lines come."""

from __future__ import annotations

from collections import Counter
from random import Random
from types import ModuleType

import pytest

from possibly.detection.online.compiled import CompiledPossibly, kernels
from possibly.detection.online.monitor import Monitor, Possibly, open_vocabulary
from possibly.detection.online.terms import alternatives
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.growing.computation import Growing
from tests.detection.online.arrivals import growing_like, lines_of
from tests.generate import random_trace
from tests.order.growing.test_batches import arrive_all
from tests.sampling import sampled
from tests.twins import needs_kernels, plain


def random_predicate(random: Random, processes: list[str]) -> str:
    """One to three alternatives of comparisons on one process each."""

    def term() -> str:
        negation = random.choice(["", "", "!"])
        comparison = (
            f"{random.choice(processes)}.x {random.choice(['==', '>=', '!='])} {random.randint(0, 2)}"
        )
        return f"{negation}({comparison})"

    parts = [" & ".join(term() for _ in range(random.randint(1, 3))) for _ in range(random.randint(1, 3))]
    return " | ".join(parts)


class Told:
    """A part that is told as a monitor would be."""

    def __init__(self, growing: Growing, part: Possibly | CompiledPossibly) -> None:
        self.part, self.wants_steps = part, part.wants_steps
        self.take, self.take_batch = part.take, part.take_batch
        growing.follow_batches(self)


@needs_kernels
@pytest.mark.parametrize("batch", range(4))
def test_the_moment_is_that_of_the_plain_search(batch: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(batch * 100_000, batch * 100_000 + sampled(120)):
        random = Random(seed)
        run = random_trace(random, events=random.randint(1, 16), joint=random.random() < 0.3)
        text = random_predicate(random, [process.name for process in run.processes])
        one, other = growing_like(run), growing_like(run)
        predicate = bind(parse(text, "ctl"), open_vocabulary(one)).formula
        slow = Possibly(one, predicate)
        fast = CompiledPossibly(other, alternatives(predicate), _kernel())
        assert fast.moment == slow.moment, (seed, text)
        Told(one, slow)
        Told(other, fast)
        lines = lines_of(run, random)
        if random.random() < 0.4:
            random.shuffle(lines)
        size = random.randint(1, 8)
        for begin in range(0, len(lines), size):
            for line in lines[begin : begin + size]:
                one.arrive(line)
            arrive_all(other, lines[begin : begin + size], size)
            assert fast.moment == slow.moment, (seed, text)
            assert fast.standing == slow.standing
        seen["found" if fast.moment is not None else "not"] += 1
    assert min(seen["found"], seen["not"]) > sampled(10), seen


@needs_kernels
def test_numbers_and_truth_values_are_not_mixed_up() -> None:
    """1 and true are equal in Python, and two predicates in a formula."""
    growing = Growing([("P", {"x": 0}), ("Q", {"y": 0})])
    formula = bind(
        parse('EF(P.x == 1 & Q.y == 1 | P.x == "1" & Q.y == 2)', "ctl"), open_vocabulary(growing)
    ).formula
    monitor = Monitor(growing, formula)
    assert not monitor.wants_steps
    assert growing.arrive_many([{"p": "Q", "set": {"y": 2}}, {"p": "P", "set": {"x": "1"}}]) == 2
    assert monitor.standing.is_final and monitor.standing.value


@needs_kernels
def test_memory_is_that_of_what_is_still_possible() -> None:
    growing = Growing([("P", {"x": 0}), ("Q", {"x": 0})])
    predicate = bind(parse("P.x == 1 & Q.x == 1", "ctl"), open_vocabulary(growing)).formula
    part = CompiledPossibly(growing, alternatives(predicate), _kernel())
    Told(growing, part)
    for number in range(3000):
        lines = [
            {"p": "P", "kind": "send", "msg": f"a{number}", "to": "Q", "set": {"x": 0}},
            {"p": "Q", "kind": "receive", "msg": f"a{number}", "set": {"x": 1}},
            {"p": "Q", "kind": "send", "msg": f"b{number}", "to": "P", "set": {"x": 0}},
            {"p": "P", "kind": "receive", "msg": f"b{number}", "set": {"x": 1}},
        ]
        growing.remember = False
        assert growing.arrive_many(lines) == 4
        assert part.size < 200
    assert part.moment is None


def _kernel() -> ModuleType:
    found = kernels()
    assert found is not None
    return found


def test_without_the_core_python_does_it() -> None:
    with plain():
        growing = Growing([("P", {"x": 0})])
        monitor = Monitor(growing, bind(parse("EF(P.x == 1)", "ctl"), open_vocabulary(growing)).formula)
        assert monitor.wants_steps and growing.arrive_many([{"p": "P", "set": {"x": 1}}]) == 0
        growing.arrive({"p": "P", "set": {"x": 1}})
        assert monitor.standing.is_final
