"""The automaton of the attribute grammar, against the definition and against the machine."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.logic.paths.attributes import accepts, attributed, covers
from possibly.logic.paths.syntax import Control, Expression, path_text
from tests.logic.paths.languages import Pomset, canonical, immediate, language, plain, random_path
from tests.logic.paths.test_machine import expression, expression_of, fed, near_misses

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))


def recognised(found: Expression, pomset: Pomset) -> bool:
    def symbols(label: str) -> frozenset[str]:
        atoms = (atom for atom in found.atoms if isinstance(atom.event, Control) and atom.event.name == label)
        return frozenset(atom.symbol for atom in atoms)

    events = [
        (event, symbols(label), frozenset(immediate(pomset, event)))
        for event, label in enumerate(pomset.labels)
    ]
    return accepts(attributed(found.root), events)


@pytest.mark.parametrize("kind", ["sequential", "multiple", "safe"])
def test_the_grammar_agrees_with_the_definition_and_the_machine(kind: str) -> None:
    random = Random(f"grammar {kind}")
    compared = accepted = 0
    while compared < 240 * CASES:
        found = expression_of(random_path(random, kind, 3, "abcd"))
        if len(found.atoms) > 6 or not covers(found.root):
            continue
        members = {plain(pomset) for pomset in language(found.root, 4)}
        choices = sorted(members, key=repr)
        for _ in range(8):
            pomset = near_misses(random, choices)
            expected = canonical(pomset) in members
            assert recognised(found, pomset) == expected, (path_text(found.root), pomset)
            assert fed(found, pomset)[0] == expected
            compared += 1
            accepted += expected
    assert compared // 4 < accepted < compared


def test_figure_4_6_by_the_grammar() -> None:
    auto = attributed(expression("a;(b&(c;d));e").root)
    assert auto.states == 8
    assert len(auto.final) == 1
    assert {arc.predecessors for arc in auto.arcs if arc.names == {"e.5"}} == {frozenset({"b.2", "d.4"})}


def test_each_final_state_has_its_own_last_events() -> None:
    auto = attributed(expression("a + b*").root)
    ends = {(tuple(sorted(last.events)), last.is_empty) for last in auto.final.values()}
    assert ends == {((), True), (("a.1",), False), (('b.2"',), False), (("b.2'",), False)}


@pytest.mark.parametrize(
    "text", ["a@", "E*n; X*n", "send(M); receive(M)", "((a;s)&(b;s)); c", "((a;s)&(b;s))*"]
)
def test_what_the_grammar_leaves_to_the_machine(text: str) -> None:
    assert not covers(expression(text).root)
