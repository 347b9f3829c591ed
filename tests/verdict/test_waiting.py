"""Every kind of waiting has words that go before the name of a thing."""

from __future__ import annotations

from possibly.verdict.waiting import WAITING


def test_the_words_make_a_sentence() -> None:
    for words in WAITING.values():
        assert words == words.strip() and not words.endswith(".") and words.split()[0].endswith("s")
