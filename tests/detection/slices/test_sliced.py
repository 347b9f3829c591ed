"""The polynomial engine against the plain one: same answers, and witnesses as the contract says."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from possibly.detection.branching import decide
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.explicit.linear import Linear
from possibly.detection.limits import Budget
from possibly.detection.linear_time.sliced import SlicedLinear
from possibly.detection.slices.intervals import Interval, intervals
from possibly.detection.slices.sliced import Sliced
from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.computation import Computation
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from tests.detection.test_definition import Case, _check_witness, _outermost
from tests.generate import CTL, Formula, random_formula
from tests.sampling import sampled

UNNESTED = ["EF", "AF", "EG", "AG", "EX", "AX", "EX[]", "EU", "AU"]


def rebuilt(case: Case, formula: Formula) -> Case:
    case.formula = formula
    case.node = bind(parse(formula.text, "ctl"), vocabulary(case.trace)).formula
    return case


@pytest.mark.parametrize("batch", range(20))
def test_answers_are_those_of_the_plain_engine(batch: int) -> None:
    answered: Counter[bool] = Counter()
    for seed in range(batch * 100_000, batch * 100_000 + sampled(50)):
        case = Case(seed, CTL, "ctl", depth=3, events=8)
        found = Sliced(Slicing(case.lattice, case.predicates)).decide(case.node)
        answered[found is not None] += 1
        if found is not None:
            expected = Exhaustive(case.lattice, case.predicates, Budget()).at(case.node, case.lattice.initial)
            assert found.value == expected, case.describe()
    assert answered[True] > sampled(8)


@pytest.mark.parametrize("operator", UNNESTED)
def test_witness_shows_what_the_contract_says(operator: str) -> None:
    shown = 0
    for seed in range(sampled(120)):
        random = Random(f"{operator} {seed}")
        case = Case(random.randrange(10**9), CTL, "ctl", 1, 7)
        case = rebuilt(case, _outermost(random, case.trace, operator))
        found = Sliced(Slicing(case.lattice, case.predicates)).decide(case.node)
        if found is None:
            continue
        assert (found.path is not None) == (found.value == (operator[0] == "E")), case.describe()
        plain = decide(Exhaustive(case.lattice, case.predicates, Budget()), case.node)
        assert found.value == plain.value, case.describe()
        if found.path is not None:
            assert plain.path is not None
            _check_witness(case, case.cuts(found.path), case.formula, found.value)
            assert len(found.path) == len(plain.path), case.describe()
            shown += 1
    assert shown > sampled(10)


@pytest.mark.parametrize("operator", ["AF", "EG", "AU", "EU"])
@pytest.mark.parametrize("joiner", ["&", "|"])
def test_operators_over_many_local_predicates(operator: str, joiner: str) -> None:
    """Conjunctive and disjunctive predicates over all processes: the classes with algorithms of their own."""
    answered = 0
    for seed in range(sampled(80)):
        random = Random(f"{operator} {joiner} {seed}")
        case = Case(random.randrange(10**9), ["&"], "ctl", 0, 8)
        names = vocabulary(case.trace)
        parts = [f"{p}.x {random.choice(['==', '>=', '!='])} {random.randint(0, 2)}" for p in names.processes
                 if "x" in names.locals[p]]  # fmt: skip
        if not parts:
            continue
        text = f" {joiner} ".join(parts)
        other = f" {joiner} ".join(random.sample(parts, len(parts)))
        whole = f"{operator[0]}[{text} U !({other})]" if operator[1] == "U" else f"{operator}({text})"
        node = bind(parse(whole, "ctl"), names).formula
        found = Sliced(Slicing(case.lattice, case.predicates)).decide(node)
        expected = Exhaustive(case.lattice, case.predicates, Budget()).at(node, case.lattice.initial)
        if found is not None:
            assert found.value == expected, f"{whole}\n{case.describe()}"
            answered += 1
    assert answered > sampled(15)


def test_intervals_are_the_maximal_stretches() -> None:
    assert list(intervals(0, bytes([1, 1, 0, 1]))) == [Interval(0, 0, 2), Interval(0, 3, None)]
    assert list(intervals(1, bytes([0, 0, 1, 0]))) == [Interval(1, 2, 3)]
    assert list(intervals(2, bytes([0]))) == []


@pytest.mark.parametrize("shape", ["G({})", "F({})", "G({} -> F {})", "G({} | F {})", "G({}) & F({})"])
def test_linear_shapes_are_answered_as_on_every_observation(shape: str) -> None:
    answered = 0
    for seed in range(sampled(60)):
        random = Random(f"{shape} {seed}")
        case = Case(random.randrange(10**9), ["&"], "ltl", 1, 7)
        parts = [f"({random_formula(random, case.trace, ['&'], 1).text})" for _ in range(2)]
        node = bind(parse(shape.format(*parts), "ltl"), vocabulary(case.trace)).formula
        found = SlicedLinear(Sliced(Slicing(case.lattice, case.predicates))).decide(node)
        if found is None:
            continue
        plain = Linear(case.lattice, case.predicates, node, Budget())
        assert found.value == plain.decide().value, f"{shape.format(*parts)}\n{case.describe()}"
        if found.path is not None:
            assert not plain.holds_on(found.path)
            case.cuts(found.path)
            assert "&" in shape or plain.moment(found.path) in (found.moment, None)
        answered += 1
    assert answered > sampled(10)


def test_af_of_a_conjunction_reads_the_order_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ends of intervals are followed along each process: no clock is computed from the first event on."""
    from possibly.detection.slices.intervals import overlap
    from possibly.order import computation as order
    from possibly.order.bitmaps import Bits

    monkeypatch.setattr(order, "CLOCK_TABLE_LIMIT", 0)
    monkeypatch.setattr(Computation, "clock", None)
    monkeypatch.setattr(Computation, "closure", None)
    rounds = 3000
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {})], shared={})
    for number in range(rounds):  # in turn: each begins, ends and lets the other one begin
        one, other = ("P", "Q") if number % 2 else ("Q", "P")
        builder.add(one, kind="receive" if number else "internal", msg=f"m{number - 1}" if number else None)
        builder.add(one, kind="send", msg=f"m{number}", to=other)
    computation = Computation(builder.finish())
    states = {p: Bits.from_truths(bytes(n % 2 for n in range(rounds + 1))) for p in (0, 1)}
    looks: list[None] = []
    found, apart = overlap(computation, states, lambda: looks.append(None))
    assert found is None and len(apart) == len(list(apart)) == rounds - 1
    assert next(iter(apart)) == ((1, 2), (0, 1))


@pytest.mark.parametrize(
    "shape", ["EF(EX({}))", "AG(AX({}))", "EF(EX(({}) & EX({})))", "AG(AX(({}) | AX({})))"]
)
def test_what_a_step_leads_to_is_asked_of_all_cuts_but_the_first(shape: str) -> None:
    answered = 0
    for seed in range(sampled(60)):
        random = Random(f"{shape} {seed}")
        case = Case(random.randrange(10**9), ["&"], "ctl", 1, 7)
        parts = [random_formula(random, case.trace, ["&"], 1).text for _ in range(2)]
        node = bind(parse(shape.format(*parts), "ctl"), vocabulary(case.trace)).formula
        found = Sliced(Slicing(case.lattice, case.predicates)).decide(node)
        plain = decide(Exhaustive(case.lattice, case.predicates, Budget()), node)
        if found is not None:
            answered += 1
            assert found.value == plain.value, f"{node}\n{case.describe()}"
            assert (found.path is None) == (plain.path is None)
            if found.path is not None and plain.path is not None:
                assert len(found.path) == len(plain.path)
    assert answered > sampled(10)
