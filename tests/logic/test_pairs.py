"""Quantifiers over pairs as counts: the same meaning as written out, and the answers of the engines."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.branching import decide
from possibly.detection.choose import answer
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.explicit.sweep import Sweep
from possibly.detection.limits import Budget
from possibly.detection.observed import Observed
from possibly.detection.projected import lifted
from possibly.logic import bind as binding
from possibly.logic.bind import bind
from possibly.logic.pairs import pairs_of
from possibly.logic.parser import parse
from possibly.logic.predicates.functions import compile_predicate
from possibly.logic.printer import unparse
from possibly.logic.specification import read_specification
from possibly.logic.syntax import Apart, AtLeast, Node, Not, Quantified
from possibly.logic.walk import nodes
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.projection import Projection
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

SAME = [
    'exists i, j in "P*" if i != j: i.x == 1 & j.x == 1',
    'exists i, j in "P*" if index(i) < index(j): i.x == 1 & j.x == 1',
    'exists i, j in "P*" if index(j) > index(i): i.x > 0 & j.y & i.y & j.x > 0',
    'forall i, j in "P*" if j != i: !(i.x == 1 & j.x == 1)',
    'forall i, j in "P*" if i != j: !i.y | !j.y',
    'forall i, j in "P*" if index(i) != index(j): i.y -> !j.y',
    'exists i, j in "P*" if i != j: i.x >= index(i) & j.x >= index(j)',
    'exists i, j in "P*" if i != j: done(i) & done(j)',
    'exists i, j in "P*" if i != j: i.x == 1 & j.x == 2',
    'exists i, j in "P*" if index(j) != index(i): i.x == 1 & j.y & j.x > 0',
    'forall i, j in "P*" if i != j: !(i.x > 0 & j.y)',
    'forall i, j in "P*" if i != j: !i.y | !(j.x == 1)',
    'forall i, j in "P*" if i != j: i.x == 2 -> !j.y',
]
OTHER = [
    'exists i, j in "P*": i.x == 1 & j.x == 1',
    'exists i, j in "P*" if index(i) < index(j): i.x == 1 & j.x == 2',
    'exists i, j in "P*" if i != j: i.x == 1 & i.y',
    'exists i, j in "P*" if i != j: i.x == j.x',
    'exists i, j in "P*" if i != j: i.x == 1 | j.x == 1',
    'exists i, j in "P*" if i != j: i.x == index(j) & j.x == index(i)',
    'exists i, j, k in "P*" if i != j: i.y & j.y & k.y',
    'forall i, j in "P*" if i != j: i.y & j.y',
    'exists i, j in "P*" if i != j & index(i) != 0: i.y & j.y',
]


def random_run(random: Random, processes: int = 4, events: int = 7) -> Trace:
    builder = TraceBuilder()
    header = [(f"P{n}", {"x": 0, "y": random.random() < 0.3}) for n in range(processes)]
    builder.header(processes=header, shared={})
    for number in range(events):
        name = f"P{random.randrange(processes)}"
        values = {"x": random.randint(0, 2), "y": random.random() < 0.4}
        after = [f"E{random.randrange(number)}"] if number and random.random() < 0.4 else []
        builder.add(name, id=f"E{number}", set=values, after=after)
    return builder.finish()


def bound(run: Trace, text: str, counts_pairs: bool, monkeypatch: pytest.MonkeyPatch) -> Node:
    monkeypatch.setattr(binding, "FEW", 0)
    return bind(parse(text, "ctl"), vocabulary(run), counts_pairs=counts_pairs).formula


def is_counted(node: Node) -> bool:
    return any(isinstance(part, AtLeast | Apart) for part in nodes(node))


@pytest.mark.parametrize("text", SAME)
def test_a_count_is_true_where_the_written_out_formula_is(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    truths = set()
    for seed in range(12):
        run = random_run(Random(f"{text} {seed}"))
        lattice = Lattice(Computation(run))
        predicates = CutPredicates(lattice, Readings(lattice.computation))
        count, written = (bound(run, text, counted, monkeypatch) for counted in (True, False))
        assert is_counted(count) and not is_counted(written)
        compiled = compile_predicate(count)
        for cut in lattice.depth_first():
            expected = predicates(written)(cut)
            counts = lattice.unpack(cut)
            values = [predicates.readings(leaf).value(counts) for leaf in compiled.leaves]
            assert predicates(count)(cut) == compiled.evaluate(values) == expected
            truths.add(expected)
    assert truths == {True, False}


@pytest.mark.parametrize("text", OTHER)
def test_other_quantifiers_are_written_out(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = random_run(Random(1))
    assert not is_counted(bound(run, text, True, monkeypatch))
    found = parse(text, "ctl")
    assert isinstance(found, Quantified) and pairs_of(found) is None


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ('forall i, j in "P*" if i != j: AG(!(i.y & j.y))', "AG"),
        ('exists i, j in "P*" if i != j: EF(i.y & j.y)', "EF"),
        ('forall i, j in "P*" if i != j: AG(!(i.y & j.x == 1))', "AG"),
        ('exists i, j in "P*" if i != j: EF(i.x == 2 & j.x == 1 & j.y)', "EF"),
    ],
)
def test_the_operator_goes_outside(text: str, operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(25):
        run = random_run(Random(f"{text} {seed}"))
        lattice = Lattice(Computation(run))
        predicates = CutPredicates(lattice, Readings(lattice.computation))
        count, written = (bound(run, text, counted, monkeypatch) for counted in (True, False))
        assert getattr(count, "operator", None) == operator
        expected = Exhaustive(lattice, predicates, Budget()).at(written, lattice.initial)
        found = answer("ctl", count, lattice, predicates, Budget(), "slice").finding
        assert found is not None and found.value == expected
        assert decide(Sweep(lattice, predicates, Budget()), count).value == expected
        projection = Projection(predicates, count)
        engine = Exhaustive(projection.lattice, projection.predicates, Budget())
        assert lifted(projection, decide(engine, count)).value == expected
        assert Observed(lattice, predicates).holds(count) == Observed(lattice, predicates).holds(written)


def test_a_count_is_printed_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    run = random_run(Random(1))
    for text in SAME[:3]:
        printed = unparse(bound(run, text, True, monkeypatch))
        assert parse(printed, "ctl") == parse(text, "ctl")
    denied = bound(run, SAME[4], True, monkeypatch)
    assert isinstance(denied, Not)
    assert unparse(denied) == '!(exists i, j in "P*" if i != j: !(!i.y | !j.y))'
    assert unparse(AtLeast(2, denied.operand.operands[:2])) == "at least 2 of (P0.y, P1.y)"  # type: ignore[attr-defined]
    assert unparse(Apart(denied.operand.operands[:2])) == "one of (P0.y) beside one of (P1.y)"  # type: ignore[attr-defined]
    two = bound(run, 'exists i, j in "P*" if i != j: i.x == 1 & j.x == 2', True, monkeypatch)
    assert unparse(two) == 'exists i, j in "P*" if i != j: i.x == 1 & j.x == 2'


def test_few_processes_are_written_out() -> None:
    run = random_run(Random(1))
    text = 'exists i, j in "P*" if i != j: i.y & j.y'
    assert not is_counted(bind(parse(text, "ctl"), vocabulary(run), counts_pairs=True).formula)


def test_a_thousand_processes_exclude_each_other_in_no_time() -> None:
    """Half a million pairs would not even be bound."""
    builder = TraceBuilder()
    builder.header(processes=[(f"P{n:04}", {"cs": False}) for n in range(1500)], shared={})
    for number in range(1500):
        name = f"P{number:04}"
        builder.add(name, set={"cs": True}, after=[f"P{number - 1:04}:2"] if number else [])
        builder.add(name, set={"cs": False})
    run = builder.finish()
    text = (
        'ctl safe = AG(!(exists i, j in "P*" if i != j: i.cs & j.cs))\nctl some = EF(exists i in "P*": i.cs)'
    )
    safe, some = check_trace(run, read_specification(text), Options()).verdicts
    assert safe.holds and some.holds and safe.engine == "slice"


def test_a_thousand_readers_and_writers_are_asked_in_no_time() -> None:
    """A million ordered pairs: everybody writes in turn, and reads when all have written."""
    builder = TraceBuilder()
    names = [f"P{n:04}" for n in range(1000)]
    builder.header(processes=[(name, {"state": "idle"}) for name in names], shared={})
    for number, name in enumerate(names):
        builder.add(name, set={"state": "writes"}, after=[f"{names[number - 1]}:2"] if number else [])
        builder.add(name, set={"state": "idle"})
    for name in names:
        builder.add(name, set={"state": "reads"}, after=[f"{names[-1]}:2"])
    text = 'ctl safe = forall i, j in "P*" if i != j: AG(!(i.state == "writes" & j.state == "reads"))'
    verdict = check_trace(builder.finish(), read_specification(text), Options()).verdicts[0]
    assert verdict.holds and verdict.engine == "slice" and verdict.observed is True


def test_the_two_that_meet_are_told() -> None:
    builder = TraceBuilder()
    builder.header(processes=[(f"P{n:02}", {"cs": False}) for n in range(30)], shared={})
    for number in (3, 17):
        builder.add(f"P{number:02}", set={"cs": True})
        builder.add(f"P{number:02}", set={"cs": False})
    text = 'ctl safe = forall i, j in "P*" if i != j: AG(!(i.cs & j.cs))'
    verdict = check_trace(builder.finish(), read_specification(text), Options()).verdicts[0]
    assert verdict.holds is False and verdict.observed is True and verdict.explanation is not None
    assert [atom.text for atom in verdict.explanation.atoms] == ["P03.cs", "P17.cs"]
    assert verdict.witness is not None and verdict.witness.path == ("P03:1", "P17:1")


def test_a_writer_and_a_reader_that_meet_are_told() -> None:
    builder = TraceBuilder()
    builder.header(processes=[(f"P{n:02}", {"state": "idle"}) for n in range(30)], shared={})
    builder.add("P03", set={"state": "reads"})
    builder.add("P17", set={"state": "writes"})
    builder.add("P20", set={"state": "writes"}, after=["P17:1"])
    text = 'ctl safe = forall i, j in "P*" if i != j: AG(!(i.state == "writes" & j.state == "reads"))'
    verdict = check_trace(builder.finish(), read_specification(text), Options()).verdicts[0]
    assert verdict.holds is False and verdict.observed is False and verdict.explanation is not None
    assert [atom.text for atom in verdict.explanation.atoms] == [
        'P17.state == "writes"',
        'P03.state == "reads"',
    ]
    assert verdict.witness is not None and set(verdict.witness.path) == {"P03:1", "P17:1"}
