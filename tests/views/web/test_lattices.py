"""Cuts and slices in the page, compared with their definitions on generated runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.logic.specification import read_specification
from possibly.order.computation import Computation
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.session.checking.cuts import Cuts
from possibly.trace.notation import trace
from possibly.views.web import lattices
from possibly.views.web.lattices import Marked, lattice_document, marked, slice_document
from tests.generate import random_atom, random_trace

RUNS = 60 * int(os.environ.get("POSSIBLY_CASES", "1"))


def generated(seed: int) -> Iterator[tuple[Cuts, Marked]]:
    """Runs with a predicate each."""
    random = Random(seed)
    for _ in range(RUNS):
        found = random_trace(random, random.randint(2, 8))
        text, _ = random_atom(random, found)
        other, _ = random_atom(random, found)
        cuts = Cuts(Computation(found))
        specification = read_specification(f"ctl p = EF(({text}) {random.choice('&|')} ({other}))")
        yield cuts, marked(cuts, specification)[0]


@pytest.mark.parametrize("seed", range(3))
def test_every_cut_is_drawn_and_marked_by_definition(seed: int) -> None:
    for cuts, mark in generated(seed):
        document = lattice_document(cuts, [mark])
        assert document is not None
        drawn = [tuple(cut) for cut in document["cuts"]]
        computation = cuts.computation
        assert len(set(drawn)) == len(drawn) == cuts.lattice.count_cuts()
        assert all(map(computation.is_consistent, drawn))
        edges = {(drawn[first], step, drawn[second]) for first, second, step in document["edges"]}
        assert edges == {(cut, step, after) for cut in drawn for step, after in computation.successors(cut)}
        plain = Exhaustive(cuts.lattice, CutPredicates(cuts.lattice, Readings(cuts.computation)), Budget())
        (found,) = document["marks"]
        assert found["satisfying"] == [
            number for number, cut in enumerate(drawn) if plain.at(mark.formula, cuts.lattice.pack(cut))
        ]
        sliced = cuts.slice_of(mark.formula)
        assert {drawn[number] for number in found["slice"]} == set(sliced.cuts())


@pytest.mark.parametrize("seed", range(3))
def test_the_ideals_of_the_components_are_the_cuts_of_the_slice(seed: int) -> None:
    """A set of components that is closed under the arrows is a cut of the slice."""
    for cuts, mark in generated(seed):
        sliced = cuts.slice_of(mark.formula)
        document = slice_document(sliced, mark.text, 0, cuts.lattice)
        assert document["whole"]
        numbers = dict(document["numbers"])
        count = len(list(sliced.cuts()))
        assert numbers["cuts of the slice"] == f"{count:,}"
        assert numbers["cuts of the run"] == f"{cuts.lattice.count_cuts():,}"
        if count:
            assert ideals(document) == count


def ideals(document: dict[str, Any]) -> int:
    """How many closed sets there are; a run of k events counts as a chain of k."""
    nodes = {node["id"]: node for node in document["nodes"]}
    sizes = {n: node["size"] if node["kind"] == "run" else 1 for n, node in nodes.items()}
    before: dict[int, list[int]] = {n: [] for n in nodes}
    for first, second, _ in document["edges"]:
        before[second].append(first)
    inner = [n for n, node in nodes.items() if node["kind"] in ("component", "run")]
    full = {n: sizes[n] for n in nodes}
    seen = {tuple(0 for _ in inner)}
    todo = list(seen)
    while todo:
        state = todo.pop()
        level = {**full, **dict(zip(inner, state, strict=True))}
        for index, node in enumerate(inner):
            started = level[node] > 0 or all(level[b] == full[b] for b in before[node])
            if level[node] < sizes[node] and started:
                after = (*state[:index], state[index] + 1, *state[index + 1 :])
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
    return len(seen)


def test_a_lattice_that_nobody_could_see_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    cuts = Cuts(Computation(trace("p: a b c | q: d e f")))
    assert lattice_document(cuts, []) is not None
    monkeypatch.setattr(lattices, "MOST_CUTS", 15)
    assert lattice_document(cuts, []) is None


def test_of_a_large_slice_only_the_first_components_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    found = trace("p: " + " ".join(f"a{n}{{x={n % 2}}}" for n in range(40)))
    cuts = Cuts(Computation(found))
    (mark, *_) = marked(cuts, read_specification("ctl p = EF(p.x == 1)"))
    monkeypatch.setattr(lattices, "MOST_COMPONENTS", 5)
    document = slice_document(cuts.slice_of(mark.formula), mark.text, 0, cuts.lattice)
    assert not document["whole"] and len(document["nodes"]) <= 7


MARKED = "ctl safe = AG(!(p.x == 1))\nltl later = F(p.x == 1)\ntl t = t1:(x == 1)"


def test_what_is_marked_for_a_universal_property_is_where_it_fails() -> None:
    cuts = Cuts(Computation(trace("p(x=0): a{x=1}")))
    marks = marked(cuts, read_specification(MARKED))
    assert [(mark.number, mark.text) for mark in marks] == [
        (0, "p.x == 1"),
        (0, "!(p.x == 1)"),
        (0, "AG !(p.x == 1)"),
        (1, "p.x == 1"),
    ]
