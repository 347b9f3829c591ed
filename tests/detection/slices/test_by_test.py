"""Slices by tests for EF: the smallest sublattice with all satisfying cuts, for every class."""

from __future__ import annotations

import json
import os
from collections import Counter
from itertools import product
from pathlib import Path
from random import Random

import pytest

from possibly.detection.slices import by_projection, by_test, by_values
from possibly.detection.slices.by_test import slice_by_test
from possibly.detection.slices.closure import slice_of, sublattice
from possibly.detection.slices.slicing import Slicing
from possibly.detection.solver.sums import Total
from possibly.detection.sums.bounds import SumBounds
from possibly.logic.bind import Declaration, bind
from possibly.logic.parser import parse
from possibly.logic.predicates.classes import classify
from possibly.logic.syntax import Node
from possibly.order.computation import Computation, Cut
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.slice import Slice
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace import write_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.views.cli.main import main
from tests.generate import random_formula, random_trace
from tests.sampling import sampled

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


class Case:
    def __init__(self, trace: Trace, text: str, declared: str | None = None) -> None:
        self.lattice = Lattice(Computation(trace))
        self.formula: Node = bind(parse(text, "ctl"), vocabulary(trace)).formula
        words = {self.formula: Declaration("it", declared)} if declared is not None else {}
        self.predicates = CutPredicates(self.lattice, Readings(self.lattice.computation), words)
        self.slicing = Slicing(self.lattice, self.predicates)

    def cuts(self) -> list[Cut]:
        return [self.lattice.unpack(cut) for cut in self.lattice.depth_first()]

    def satisfying(self) -> set[Cut]:
        holds = self.predicates(self.formula)
        return {cut for cut in self.cuts() if holds(self.lattice.pack(cut))}


def is_meet_closed(cuts: set[Cut]) -> bool:
    return all(tuple(map(min, a, b)) in cuts for a in cuts for b in cuts)


def is_join_closed(cuts: set[Cut]) -> bool:
    return all(tuple(map(max, a, b)) in cuts for a in cuts for b in cuts)


def true_class(case: Case, word: str) -> bool:
    """Whether the predicate has the class on this trace, by its definition."""
    inside = case.satisfying()
    outside = set(case.cuts()) - inside
    above = {(a, b) for a in case.cuts() for b in case.cuts() if all(map(int.__le__, a, b))}
    match word:
        case "stable":
            return all(b in inside for a, b in above if a in inside)
        case "co-stable":
            return all(a in inside for a, b in above if b in inside)
        case "co-linear":
            return is_meet_closed(outside)
    return is_join_closed(outside)


def check(case: Case, found: Slice, what: object) -> None:
    satisfying = case.satisfying()
    assert found.is_empty == (not satisfying) and found.exact, what
    if satisfying:
        expected = set(sublattice(case.lattice.computation, satisfying).cuts())
        assert set(found.cuts()) == expected, what


@pytest.mark.parametrize("batch", range(6))
@pytest.mark.parametrize("word", ["stable", "co-stable", "co-linear", "co-post-linear"])
def test_declared_classes(word: str, batch: int) -> None:
    """Predicates that have the class on their trace, whatever their syntax says."""
    count, seed = 0, batch * 10_000_000
    while count < (85 * MANY if MANY > 1 else 15):
        seed += 1
        random = Random(seed)
        trace = random_trace(random, events=random.randint(1, 7))
        text = random_formula(random, trace, ["&", "|"], random.randint(0, 1)).text
        case = Case(trace, text, word)
        if not true_class(case, word):
            continue
        found = slice_by_test(case.slicing, case.formula)
        assert found is not None
        check(case, found, (seed, text))
        count += 1


def sum_text(random: Random, trace: Trace) -> str:
    terms = [f"{random.choice(['', '2 * ', '-'])}{process.name}.x" for process in trace.processes]
    left = " + ".join(random.sample(terms, random.randint(1, len(terms))))
    text = f"{left} {random.choice(['<=', '>=', '<', '==', '>'])} {random.randint(-2, 5)}"
    if random.random() < 0.3:
        text = f"!({text})"
    if random.random() < 0.3:
        text += f" & {trace.processes[0].name}.x != 1"
    return text


def numbers(random: Random) -> Trace:
    """Up to four processes with numbers, messages between them, and joint events."""
    names = [f"P{number}" for number in range(random.randint(1, 4))]
    builder = TraceBuilder()
    builder.header([(name, {"x": random.randint(-1, 2)}) for name in names])
    sent: list[str] = []
    for number in range(random.randint(0, 9)):
        name, value = random.choice(names), {"x": random.randint(-2, 3)}
        if len(names) > 1 and random.random() < 0.1:
            for each in random.sample(names, 2):
                builder.add(each, meet=f"M{number}", set=value)
        elif sent and random.random() < 0.4:
            builder.add(name, kind="receive", msg=sent.pop(), set=value)
        elif random.random() < 0.3:
            sent.append(f"m{number}")
            builder.add(name, kind="send", msg=sent[-1], set=value)
        else:
            builder.add(name, set=value)
    return builder.finish()


@pytest.mark.parametrize("batch", range(8))
def test_relational_predicates(batch: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(batch * 100_000, batch * 100_000 + sampled(70)):
        random = Random(seed)
        trace = numbers(random)
        text = sum_text(random, trace)
        case = Case(trace, text)
        found = slice_by_test(case.slicing, case.formula)
        seen["sliced" if found is not None else "left out"] += 1
        if found is not None:
            check(case, found, (seed, text))
            seen["edges"] += bool(found.edges)
    assert seen["sliced"] > sampled(30) and seen["edges"] > sampled(3), seen


# ---- long runs --------------------------------------------------------------------------------------


def counters(processes: int, events: int, *, messages: bool = True) -> Trace:
    """Counters that go up and down; now and then a message."""
    builder = TraceBuilder()
    builder.header([(f"P{number}", {"x": 0}) for number in range(processes)])
    for position in range(1, events + 1):
        for number in range(processes):
            if messages and position % 10 == 0 and number % 2 == 0:
                builder.add(f"P{number}", kind="send", msg=f"m{number},{position}")
            elif messages and position % 10 == 1 and number % 2 and position > 1:
                builder.add(f"P{number}", kind="receive", msg=f"m{number - 1},{position - 1}")
            else:
                builder.add(f"P{number}", set={"x": position % 5})
    return builder.finish()


@pytest.mark.parametrize("events", [40, 1_000])
def test_a_sum_on_a_long_run(events: int) -> None:
    """Far more cuts than can be visited: all four at their greatest value at once, so positions are known."""
    case = Case(counters(4, events), "P0.x + P1.x + P2.x + P3.x >= 16")
    found = slice_of(case.slicing, case.formula)
    assert found.exact and found.least == (4, 4, 4, 4) and found.greatest == (events, events - 1) * 2
    stops = {cut[0] for cut in found.irreducible(0) if cut is not None}
    assert stops == {*range(4, events, 5), *range(10, events + 1, 10)}, "4, and what keeps it at 4"


def test_a_declared_class_on_a_long_run() -> None:
    case = Case(counters(4, 2_000), "P0.x + P1.x * P2.x >= 0", "stable")
    assert slice_of(case.slicing, case.formula).least == (0, 0, 0, 0)


def test_a_closed_complement_on_a_long_run() -> None:
    """The same as the union of the slices of its disjuncts."""
    text = " | ".join(f"P{number}.x == {value}" for number in range(3) for value in range(3, 5))
    case = Case(counters(3, 120), f"!(!({text}))", "co-linear")
    found = slice_by_test(case.slicing, case.formula)
    assert found is not None and found.exact
    union = slice_of(case.slicing, case.formula)
    assert (found.least, found.greatest) == (union.least, union.greatest)
    assert [list(found.irreducible(p)) for p in range(3)] == [list(union.irreducible(p)) for p in range(3)]


def test_it_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_test, "MOST_STAIRS", 600)
    case = Case(counters(4, 40), "P0.x + P1.x + P2.x + P3.x >= 16")
    assert slice_by_test(case.slicing, case.formula) is None
    monkeypatch.setattr(by_test, "MOST_STAIRS", 10**9)
    monkeypatch.setattr(by_test, "MOST_WORK", 0)
    case = Case(counters(4, 40), "P0.x + P1.x + P2.x == 6")
    assert slice_by_test(case.slicing, case.formula) is None
    assert slice_of(case.slicing, case.formula).exact, "by the few values that there are"
    monkeypatch.setattr(by_values, "MOST_COMBINATIONS", 0)
    assert not slice_of(case.slicing, case.formula).exact


def test_other_predicates_have_no_test() -> None:
    case = Case(counters(2, 3), "P0.x * P1.x == 4")
    assert slice_by_test(case.slicing, case.formula) is None
    assert "relational" not in classify(case.formula).classes


def test_bounds_of_boxes_are_those_of_their_points() -> None:
    seen = 0
    for seed in range(sampled(60)):
        random = Random(seed)
        lengths = [random.randint(0, 4) for _ in range(random.randint(1, 3))]
        places = [(p, k) for p, length in enumerate(lengths) for k in range(1, length + 1)]
        total = Total(random.randint(-2, 2), {place: random.randint(-3, 3) for place in places})
        bounds = SumBounds(total, lengths)
        ends = [sorted((random.randint(0, length), random.randint(0, length))) for length in lengths]
        points = list(product(*(range(low, high + 1) for low, high in ends)))
        assert all(bounds.at(point) == total.at(point) for point in points)
        for sign, best in ((1, min), (-1, max)):
            value, point = bounds.extreme([low for low, _ in ends], [high for _, high in ends], sign)
            assert value == best(map(total.at, points)) == total.at(point) and point in points
            seen += 1
    assert seen == sampled(120)


def test_the_command_takes_a_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_values, "MOST_COMBINATIONS", 0)
    monkeypatch.setattr(by_projection, "FEW_CUTS", 0)
    path = tmp_path / "run.jsonl"
    write_trace(counters(4, 100), path)
    words = ["slice", str(path), "P0.x * P1.x >= 0", "--json"]
    assert main(words) == 0 and json.loads(capsys.readouterr().out)["exact"] is False
    assert main([*words, "--class", "stable"]) == 0
    assert json.loads(capsys.readouterr().out)["exact"] is True
    write_trace(counters(2, 8), path)
    assert main(["slice", str(path), "P0.x * P1.x >= 4", "--class", "stable"]) == 2
    assert "is declared stable, but is not on this trace" in capsys.readouterr().err
