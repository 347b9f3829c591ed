"""Generated trees: everything the parser can yield, for each language."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from possibly.logic import words
from possibly.logic.syntax import (
    And,
    Arithmetic,
    At,
    Call,
    Compare,
    Count,
    Done,
    Iff,
    Implies,
    Index,
    Items,
    Literal,
    Name,
    Node,
    Not,
    Or,
    Quantified,
    Shared,
    Stack,
    Subscript,
    Temporal,
    Transit,
)

ODD = st.sampled_from(
    ["worker-1", "a b", "", "in", "not", "F", "U", "class", "ünï", 'q"q', "x\ny", "1", "\ud800", "😀"]
)
PLAIN = st.sampled_from(["x", "y", "P1", "len", "index", "if", "lambda", "done", "is", "_", "ünï", "shared"])
TEXT = st.one_of(ODD, st.text(max_size=4))
PART = st.one_of(PLAIN, TEXT)
PROCESS = PART.map(lambda name: Name((name,)))


@cache
def bare(language: str) -> st.SearchStrategy[str]:
    """Names that may stand alone."""
    letters = [letter for letter in ("F", "AG", "U", "E", "X") if letter not in words.RESERVED[language]]
    return st.one_of(PLAIN, st.sampled_from(letters)) if letters else PLAIN


@cache
def leaves(language: str) -> st.SearchStrategy[Node]:
    numbers = st.one_of(st.integers(0, 10**20), st.floats(0, allow_infinity=False, allow_nan=False))
    literals: st.SearchStrategy[Any] = st.one_of(numbers, TEXT, st.booleans(), st.none())
    return st.one_of(
        literals.map(Literal),
        bare(language).map(lambda name: Name((name,))),
        st.lists(PART, min_size=2, max_size=3).map(lambda parts: Name(tuple(parts))),
        TEXT.map(lambda name: Shared(name, explicit=True)),
        st.builds(Transit),
        st.builds(Transit, PROCESS, PROCESS, st.none() | TEXT),
        st.builds(At, PROCESS, TEXT),
        st.builds(
            Stack, st.sampled_from(["start", "inside", "term"]), PROCESS, st.one_of(TEXT, st.just("m.f"))
        ),
        st.builds(Done, PROCESS),
        bare(language).map(Index),
        TEXT.map(Count),
    )


def _tuples(below: st.SearchStrategy[Node], smallest: int = 2) -> st.SearchStrategy[tuple[Node, ...]]:
    return st.lists(below, min_size=smallest, max_size=3).map(tuple)


def _compared(operands: list[Node], operators: list[str]) -> Compare:
    return Compare(tuple(operands), tuple(operators[: len(operands) - 1]))


def _branches(below: st.SearchStrategy[Node], language: str) -> st.SearchStrategy[Node]:
    comparisons = st.sampled_from([*sorted(words.COMPARISONS), "not in"])
    return st.one_of(
        _tuples(below, 0).map(Items),
        st.builds(Subscript, below, below),
        st.builds(Arithmetic, st.sampled_from(["+", "-"]), st.tuples(below)),
        st.builds(Arithmetic, st.sampled_from([*words.ARITHMETIC_LEVELS, "**"]), st.tuples(below, below)),
        st.builds(
            _compared, st.lists(below, min_size=2, max_size=3), st.lists(comparisons, min_size=2, max_size=2)
        ),
        st.builds(Call, st.sampled_from(["len", "abs", "sum", "any", "all"]), st.tuples(below)),
        st.builds(Call, st.sampled_from(["min", "max"]), _tuples(below, 1)),
        connectives(below, language),
    )


def connectives(below: st.SearchStrategy[Node], language: str) -> st.SearchStrategy[Node]:
    variables = st.lists(bare(language), min_size=1, max_size=2, unique=True).map(tuple)
    quantifiers = st.sampled_from(["forall", "exists"])
    condition = st.none() | leaves(language)
    return st.one_of(
        st.builds(Not, below),
        _tuples(below).map(And),
        _tuples(below).map(Or),
        st.builds(Implies, below, below),
        st.builds(Iff, below, below),
        st.builds(Quantified, quantifiers, variables, TEXT, condition, below),
    )


@cache
def states(language: str = "predicate") -> st.SearchStrategy[Node]:
    """Trees without temporal operators, names unresolved."""
    return st.recursive(leaves(language), lambda below: _branches(below, language), max_leaves=12)


@cache
def formulas(language: str) -> st.SearchStrategy[Node]:
    """Trees of the language, temporal operators included."""
    if language == "predicate":
        return states()
    return st.recursive(states(language), lambda below: _timed(below, language), max_leaves=6)


def _timed(below: st.SearchStrategy[Node], language: str) -> st.SearchStrategy[Node]:
    unary = st.sampled_from(sorted(words.UNARY[language]))
    binary = st.sampled_from(["EU", "AU"] if language == "ctl" else ["U", "R", "W", "S"])
    kinds = [
        connectives(below, language),
        st.builds(Temporal, unary, st.tuples(below)),
        st.builds(Temporal, binary, st.tuples(below, below)),
    ]
    if language == "ctl":
        kinds.append(st.builds(Temporal, st.just("EX"), st.tuples(below), PROCESS))
    return st.one_of(kinds)
