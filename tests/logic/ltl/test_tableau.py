"""The tableau, the reduced and the minimal automaton against the clauses of finite LTL, and their laws."""

from __future__ import annotations

import os
from itertools import product
from random import Random
from time import perf_counter

import pytest

from possibly.logic.ltl.automaton import Automaton, ReducedAutomaton, TableauAutomaton, accepts
from possibly.logic.ltl.tableau import INIT, Tableau
from possibly.logic.parser import parse
from possibly.logic.syntax import Node
from tests.logic.ltl.minimal import TooManyStatesError, minimal_automaton
from tests.logic.ltl.test_progression import LETTERS, Word, holds, random_formula

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
WORDS = [word for length in (1, 2, 3, 4) for word in product(LETTERS, repeat=length)]


def valuations(atoms: tuple[Node, ...] | list[Node], word: Word) -> list[int]:
    return [sum(holds([letter], atom) << i for i, atom in enumerate(atoms)) for letter in word]


def pairs(seed: int, words: int) -> list[tuple[Node, Word]]:
    random = Random(seed)
    node = parse(random_formula(random, random.randint(1, 3)), "ltl")
    longer = [tuple(random.choices(LETTERS, k=random.randint(5, 9))) for _ in range(5)]
    return [(node, word) for word in [*random.sample(WORDS, words - 5), *longer]]


@pytest.mark.parametrize("seed", range(400 * CASES))
def test_the_automaton_accepts_a_sequence_iff_the_formula_holds_on_it(seed: int) -> None:
    """400 formulas with 30 words each: 12,000 pairs."""
    given = pairs(seed, 30)
    node = given[0][0]
    tableau, reduced, minimal = TableauAutomaton(node), ReducedAutomaton(node), minimal_automaton(node)
    for _, word in given:
        expected = holds(word, node)
        assert accepts(tableau, valuations(list(tableau.atoms), word)) == expected, (node, word)
        assert accepts(reduced, valuations(list(reduced.atoms), word)) == expected, (node, word)
        assert minimal.accepts(valuations(list(minimal.atoms), word)) == expected, (node, word)


EQUIVALENCES = [
    ("N a", "!X !a"),
    ("a & b", "!(!a | !b)"),
    ("a R b", "!(!a U !b)"),
    ("G a", "false R a"),
    ("F a", "true U a"),
    ("X a & N b", "X(a & b)"),
    ("a U b", "b | (a & X(a U b))"),
    ("a R b", "b & (a | N(a R b))"),
    ("!F a", "G !a"),
    ("a W b", "G a | (a U b)"),
    ("a S b", "b | (a & Y(a S b))"),
    ("Z a", "!Y !a"),
    ("H a", "!O !a"),
]
"""The equations of section 2 and of negation normal form, and those of the past."""


@pytest.mark.parametrize(("left", "right"), EQUIVALENCES)
def test_equivalences_of_section_2(left: str, right: str) -> None:
    whole = Tableau(parse(f"({left}) <-> ({right})", "ltl"))
    never = Tableau(parse(f"!(({left}) <-> ({right}))", "ltl"))
    assert never.is_empty()
    for word in WORDS:
        assert whole.accepts(valuations(list(whole.atoms), word))


def test_weak_next_of_false_is_the_last_state() -> None:
    tableau = Tableau(parse("F(a & N false)", "ltl"))
    assert tableau.accepts([0, 0, 1])
    assert not tableau.accepts([0, 1, 0])


def test_nodes_that_differ_in_strong_are_not_merged() -> None:
    """Merging them, as the paper does, rejects the word of one state."""
    tableau = Tableau(parse("(a U a) & N(a U a)", "ltl"))
    assert tableau.accepts([1])
    keys = {(node.old, node.next) for node in tableau.nodes}
    assert len(keys) < tableau.complete()


def test_the_fields_of_the_paper() -> None:
    """`a U b`: one node waits and is strong, one is done, and what follows the done one is free."""
    tableau = Tableau(parse("a U b", "ltl"))
    going, done = [tableau.nodes[node] for node in tableau.initial]
    assert INIT in going.incoming and INIT in done.incoming
    assert (going.strong, bool(going.next), tableau.is_accepting(going.id)) == (True, True, False)
    assert (done.strong, done.next, tableau.is_accepting(done.id)) == (False, 0, True)
    assert tableau.is_compatible(going.id, 0b01) and not tableau.is_compatible(going.id, 0b00)
    assert tableau.successors(going.id) == (going.id, done.id)
    assert going.id in going.incoming
    (free,) = tableau.successors(done.id)
    assert tableau.is_accepting(free) and tableau.successors(free) == (free,)


def test_nodes_are_built_only_where_they_are_asked_for() -> None:
    tableau = Tableau(parse("X X X (a U b)", "ltl"))
    assert not tableau.nodes
    assert len(tableau.initial) == 1
    assert len(tableau.nodes) == 1
    assert tableau.complete() == 6


def test_strong_decides_acceptance_of_untils() -> None:
    """A node with an unfulfilled until is strong: the first condition follows from the second."""
    for seed in range(100):
        tableau = Tableau(pairs(seed, 6)[0][0])
        tableau.complete()
        assert all(tableau.is_accepting(node.id) == (not node.strong) for node in tableau.nodes)


def test_a_formula_that_nothing_satisfies_is_empty() -> None:
    assert Tableau(parse("F a & G !a", "ltl")).is_empty()
    assert not Tableau(parse("F a & G a", "ltl")).is_empty()


MINIMAL_SIZES = [
    ("true", 2),
    ("F a", 2),
    ("G a", 3),
    ("a U b", 3),
    ("X a", 4),
    ("F a & F b", 4),
    ("G(a -> F b)", 3),
]
"""Counted by hand; before the first letter no word may end, so that is a state which does not accept."""


@pytest.mark.parametrize(("text", "size"), MINIMAL_SIZES)
def test_minimal_automata_have_the_sizes_counted_by_hand(text: str, size: int) -> None:
    assert len(minimal_automaton(parse(text, "ltl"))) == size


def test_equivalent_formulas_have_the_same_minimal_automaton() -> None:
    for left, right in EQUIVALENCES:
        first = minimal_automaton(parse(f"({left}) & (b | !b) & (a | !a)", "ltl"))
        second = minimal_automaton(parse(f"({right}) & (b | !b) & (a | !a)", "ltl"))
        assert len(first) == len(second)


def test_too_many_atoms_are_refused() -> None:
    with pytest.raises(TooManyStatesError):
        minimal_automaton(parse(" & ".join(f"F a{i}" for i in range(11)), "ltl"))


def test_twelve_conjoined_responses_are_read_within_a_second() -> None:
    text = " & ".join(f"G(p{i} -> F q{i})" for i in range(12))
    random = Random(1)
    started = perf_counter()
    automaton: Automaton = ReducedAutomaton(parse(text, "ltl"))
    assert accepts(automaton, [*[random.getrandbits(24) for _ in range(50)], (1 << 24) - 1])
    assert perf_counter() - started < 1
