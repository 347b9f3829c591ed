"""Instances of quantifiers that cannot matter are left out: the same truth at every cut, the same errors."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.errors import FormulaError
from possibly.logic import bind as binding
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.printer import unparse
from possibly.logic.specification import read_specification
from possibly.logic.syntax import Node
from possibly.logic.walk import nodes
from possibly.order.computation import Computation
from possibly.order.facts import RunFacts
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from possibly.verdict.model import Truth

CASES = 100 * int(os.environ.get("POSSIBLY_CASES", "1"))

ATOMS = [
    "{a}.x == 1", "{a}.y", "!{a}.y", "{a}.x == index({b})", "index({a}) == {b}.x", "{a}.w == {b}",
    "{a}.x == {b}.x", "{a}.x > {b}.x", "({a}.x == 1 | {b}.y)", "({a}.x == 1 -> {a}.y)", "done({a})", "P0.y",
    "!({a}.y | {a}.x == 2)", "{a}.x in [1, index({a})]", "{a}.x + 1 == index({b})",
]  # fmt: skip
HEADS = [
    '{q} i, j in "P*" if i != j: {body}',
    '{q} i, j in "P*": {body}',
    '{q} i, j in "P*" if index(i) < index(j): {body}',
    '{q} i, j in "P*" if index(i) + 1 == index(j): {body}',
    '{q} i in "P*": {q} j in "P[0-2]": {body}',
    '{q} i in "P*": exists j in "P*": {body}',
]


def random_run(random: Random) -> Trace:
    values = [0, 1, 2, True, 1.0, "P1", None, "high"]
    builder = TraceBuilder()
    builder.header(processes=[(f"P{n}", {"x": 0, "w": ""}) for n in range(4)], shared={})
    for _ in range(7):
        name = random.choice("xyw")
        value = random.choice([True, False]) if name == "y" else random.choice(values)
        builder.add(f"P{random.randrange(4)}", set={name: value})
    for n in range(4):
        builder.add(f"P{n}", set={"y": random.random() < 0.2})
    return builder.finish()


def body(random: Random, quantifier: str) -> str:
    names = [random.sample("ij", 2) for _ in range(random.randint(1, 3))]
    parts = [random.choice(ATOMS).format(a=a, b=b) for a, b in names]
    if quantifier == "exists":
        return random.choice([" & ".join(parts), f"!({' | '.join(f'!({part})' for part in parts)})"])
    denied = random.choice([" | ".join(f"!({part})" for part in parts), f"!({' & '.join(parts)})"])
    return random.choice([denied, " & ".join(parts) + " -> false"])


def facts_of(run: Trace) -> tuple[RunFacts, CutPredicates]:
    lattice = Lattice(Computation(run))
    readings = Readings(lattice.computation)
    return RunFacts(lattice, readings), CutPredicates(lattice, readings)


@pytest.mark.parametrize("seed", range(CASES))
def test_the_truth_at_every_cut_stays(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "FEW", 1)
    random = Random(seed)
    run, quantifier = random_run(random), random.choice(["exists", "forall"])
    text = random.choice(HEADS).format(q=quantifier, body=f"({body(random, quantifier)})")
    facts, predicates = facts_of(run)
    whole = bind(parse(text, "ctl"), vocabulary(run)).formula
    sifted = bind(parse(text, "ctl"), vocabulary(run), facts=facts).formula
    before, after = predicates(whole), predicates(sifted)
    assert all(before(cut) == after(cut) for cut in predicates.lattice.depth_first()), (text, unparse(sifted))


def bound(run: Trace, text: str) -> Node:
    return bind(parse(text, "ctl"), vocabulary(run), facts=facts_of(run)[0]).formula


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('exists i, j in "P*" if i != j: i.x == 1 & j.y & i.z == index(j)', "P.x == 1 & PQ.y & P.z == 1"),
        ('forall i, j in "P*" if i != j: AG(i.x == 1 & j.y -> i.z == 0)', "AG(P.x == 1 & PQ.y -> P.z == 0)"),
        ('exists i, j in "P*" if i != j: i.x == 9 & j.y', "false"),
        ('forall i, j in "P*" if i != j: EF(i.x < 9)', "true"),
        ('exists i in "P*": exists j in "P*": i.x == 1 & j.y', "P.x == 1 & PQ.y | false"),
    ],
)
def test_what_is_left(text: str, left: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "FEW", 1)
    run = trace("P(x=0,y=false,z=0): a{x=1} b{z=1} | PQ(x=0,y=false,z=0): c{y=true}")
    assert unparse(bound(run, text)) == left


def test_names_are_looked_up_for_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "FEW", 1)
    run = trace("P(x=0): a{x=1} | PQ(x=0): c")
    with pytest.raises(FormulaError, match="no event ever sets P.y"):
        bound(run, 'exists i, j in "P*" if i != j: i.x == 7 & j.y')


def test_faults_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "FEW", 1)
    run = trace('P(x=0,y=0): a{x="low"} | PQ(x=0,y=0): c')
    text = 'ctl p = EF(exists i, j in "P*" if i != j: i.x > 3 & j.y == 0 & i.y == j.y)'
    (verdict,) = check_trace(run, read_specification(text), Options()).verdicts
    assert any("P.x" in fault for fault in verdict.faults)


def test_a_pair_in_office_among_a_thousand() -> None:
    builder = TraceBuilder()
    start = [(f"N{n}", {"first": n == 0, "second": n == 1, "of": 0}) for n in range(1000)]
    builder.header(processes=start, shared={})
    for n in (2, 3, 4):
        builder.add(f"N{n}", id=f"take{n}", set={"first": True})
        builder.add("N1", id=f"turn{n}", set={"of": n}, after=[f"take{n}"])
    run = builder.finish()
    text = 'exists i, j in "N*" if i != j: i.first & j.second & j.of == index(i)'
    assert sum(1 for _ in nodes(bound(run, text))) < 50
    (verdict,) = check_trace(run, read_specification(f"ctl p = AG({text})"), Options()).verdicts
    assert verdict.truth is Truth.HOLDS
