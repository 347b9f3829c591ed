"""The automaton of finite LTL with past, against the clauses on every short word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from possibly.logic.ltl.progression import Progression
from possibly.logic.parser import parse
from possibly.logic.syntax import And, Iff, Implies, Literal, Name, Node, Not, Or, Temporal

Word = Sequence[frozenset[str]]


def holds(word: Word, node: Node, i: int = 0) -> bool:
    """The clauses of finite LTL, literally; atoms are bare names."""
    last = len(word) - 1
    match node:
        case Literal(value):
            return bool(value)
        case Name((name,)):
            return name in word[i]
        case Not(p):
            return not holds(word, p, i)
        case And(parts):
            return all(holds(word, p, i) for p in parts)
        case Or(parts):
            return any(holds(word, p, i) for p in parts)
        case Implies(p, q):
            return not holds(word, p, i) or holds(word, q, i)
        case Iff(p, q):
            return holds(word, p, i) == holds(word, q, i)
        case Temporal("X", (p,)):
            return i < last and holds(word, p, i + 1)
        case Temporal("N", (p,)):
            return i == last or holds(word, p, i + 1)
        case Temporal("Y", (p,)):
            return i > 0 and holds(word, p, i - 1)
        case Temporal("Z", (p,)):
            return i == 0 or holds(word, p, i - 1)
        case Temporal("F" | "O" as operator, (p,)):
            places = range(i, last + 1) if operator == "F" else range(i + 1)
            return any(holds(word, p, j) for j in places)
        case Temporal("G" | "H" as operator, (p,)):
            places = range(i, last + 1) if operator == "G" else range(i + 1)
            return all(holds(word, p, j) for j in places)
        case Temporal("U", (p, q)):
            return any(
                holds(word, q, j) and all(holds(word, p, k) for k in range(i, j)) for j in range(i, last + 1)
            )
        case Temporal("R", (p, q)):
            return all(
                holds(word, q, j) or any(holds(word, p, k) for k in range(i, j)) for j in range(i, last + 1)
            )
        case Temporal("W", (p, q)):
            return holds(word, Temporal("U", (p, q)), i) or holds(word, Temporal("G", (p,)), i)
        case Temporal("S", (p, q)):
            return any(
                holds(word, q, j) and all(holds(word, p, k) for k in range(j + 1, i + 1))
                for j in range(i + 1)
            )
    raise AssertionError(node)


def accepts(automaton: Progression, word: Word) -> bool:
    names = [atom.parts[0] if isinstance(atom, Name) else None for atom in automaton.atoms]
    if None not in names:
        return automaton.accepts([sum((n in letter) << i for i, n in enumerate(names)) for letter in word])
    return automaton.accepts(
        [sum(holds([letter], atom) << i for i, atom in enumerate(automaton.atoms)) for letter in word]
    )


LETTERS = [frozenset[str](), frozenset("a"), frozenset("b"), frozenset("ab")]


def random_formula(random: Random, depth: int) -> str:
    if depth == 0:
        return random.choice(["a", "b", "a", "b", "true", "false"])
    operator = random.choice([*"XNFGYZOH", "!", *"URWS", "&", "|", "->", "<->"])
    parts = [f"({random_formula(random, depth - 1)})" for _ in range(2)]
    if operator in "XNFGYZOH!":
        return f"{operator} {parts[0]}"
    return f"{parts[0]} {operator} {parts[1]}"


@pytest.mark.parametrize("seed", range(400))
def test_accepts_exactly_the_words_on_which_the_formula_holds(seed: int) -> None:
    random = Random(seed)
    node = parse(random_formula(random, random.randint(1, 3)), "ltl")
    automaton = Progression(node)
    words = [word for length in (1, 2, 3) for word in product(LETTERS, repeat=length)]
    words += [tuple(random.choices(LETTERS, k=random.randint(4, 7))) for _ in range(10)]
    for word in random.sample(words, 25):
        assert accepts(automaton, word) == holds(word, node), (node, word)


def test_strong_next_needs_a_next_state_and_weak_next_does_not() -> None:
    one, two = [frozenset("a")], [frozenset("a"), frozenset("b")]
    assert not accepts(Progression(parse("X true", "ltl")), one)
    assert accepts(Progression(parse("N false", "ltl")), one)
    assert accepts(Progression(parse("X b", "ltl")), two)
    assert not accepts(Progression(parse("N false", "ltl")), two)


def test_states_that_differ_in_strong_are_not_merged() -> None:
    """Merging them rejects the word {a}."""
    automaton = Progression(parse("(a U a) & N(a U a)", "ltl"))
    assert accepts(automaton, [frozenset("a")])


def test_decided_states_accept_every_continuation() -> None:
    automaton = Progression(parse("F a", "ltl"))
    assert automaton.atoms == [Name(("a",))]
    states = automaton.advance(automaton.initial, 1)
    assert [state.accepts_all for state in states] == [True]
    (waiting,) = automaton.advance(automaton.initial, 0)
    assert not waiting.accepts_all and not waiting.may_end


def test_past_over_future_is_guessed_and_checked() -> None:
    node = parse("X(O(G a))", "ltl")
    for word in product(LETTERS[:2], repeat=4):
        assert accepts(Progression(node), word) == holds(word, node)


def test_many_conjoined_responses_stay_small() -> None:
    """The states that a run leads to are made, not the product of all."""
    text = " & ".join(f"G(p{i} -> F q{i})" for i in range(12))
    automaton = Progression(parse(text, "ltl"))
    word = [0b01 * 0b010101010101, 0, 0b101010101010]
    assert automaton.accepts([*word, (1 << 24) - 1])


def test_thousand_nested_operators_are_handled() -> None:
    automaton = Progression(parse("X " * 1000 + "a", "ltl"))
    word = [frozenset[str]()] * 1000 + [frozenset("a")]
    assert accepts(automaton, word)
    assert not accepts(automaton, word[:-1])
