from __future__ import annotations

import pytest

from possibly.logic.parser import LANGUAGES, parse
from possibly.logic.words import (
    ARITHMETIC_LEVELS,
    BINARY_LEVELS,
    CONSTANTS,
    FACTS,
    FUNCTIONS,
    GRAMMAR,
    RESERVED,
    hint_for,
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reserved_letter_has_a_hint(language: str) -> None:
    for letter in RESERVED["ctl"] | RESERVED["ltl"]:
        assert f"{letter}" in (hint_for(letter, language) or "")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("word", sorted(GRAMMAR | RESERVED["ctl"] | RESERVED["ltl"]))
def test_every_word_is_a_name_beside_a_dot(language: str, word: str) -> None:
    assert parse(f"P1.{word} == {word}.x", language) == parse(f'P1."{word}" == "{word}".x', language)


def test_the_tables_fit_together() -> None:
    assert set(CONSTANTS) <= GRAMMAR
    assert not GRAMMAR & {*FUNCTIONS, *FACTS}
    assert not set(BINARY_LEVELS) & set(ARITHMETIC_LEVELS)


def test_an_ordinary_word_has_no_hint() -> None:
    assert hint_for("balance", "ctl") is None
