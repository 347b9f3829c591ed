"""Whoever goes through a set whose order is an accident has the accident named; nobody else has."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly import hashing
from possibly.control.runtime.touched.hashed import OF_ADDRESSES, OF_SEED, OF_TEXTS
from tests.control.runtime.running import explored

TEXTS = OF_TEXTS if hashing.known is None else OF_SEED.format(hashing.known)
SOURCE = """\
import enum, functools, uuid
from dataclasses import dataclass
class Plain: pass
class Colour(enum.Enum):
    RED = 1
    GREEN = 2
@dataclass(frozen=True)
class Pair:
    left: object
    right: object
words, numbers, objects = {{"a", "b"}}, {{1, 2, 3.5, None}}, {{Plain(), Plain()}}
{use}
"""
NAMED = [
    ("for each in words: pass", TEXTS),
    ("[each for each in words]", TEXTS),
    ("first, *rest = words", TEXTS),
    ("list(words)", TEXTS),
    ("tuple(words)", TEXTS),
    ("next(iter(words))", TEXTS),
    ("words.pop()", TEXTS),
    ("','.join(words)", TEXTS),
    ("dict.fromkeys(words)", TEXTS),
    ("list(enumerate(words))", TEXTS),
    ("list(zip(words, [1, 2]))", TEXTS),
    ("list(map(str, words))", TEXTS),
    ("for each in frozenset(words): pass", TEXTS),
    ("for each in {b'a', b'b'}: pass", TEXTS),
    ("for each in {(1, 'a'), (2, 'b')}: pass", TEXTS),
    ("for each in set(Colour): pass", TEXTS),
    ("for each in {Pair(1, 'a'), Pair(2, 'b')}: pass", TEXTS),
    ("for each in objects: pass", OF_ADDRESSES),
    ("objects.pop()", OF_ADDRESSES),
    ("for each in {Plain, Colour}: pass", OF_ADDRESSES),
    ("for each in {len, abs}: pass", OF_ADDRESSES),
]
NOT_NAMED = [
    "len(words), 'a' in words, words | {'c'}, words == objects",
    "sorted(words)",
    "for each in sorted(words): pass",
    "for each in numbers: pass",
    "numbers.pop()",
    "for each in {'alone'}: pass",
    "for each in {(1, 2), (3, 4)}: pass",
    "for each in {Pair(1, 2), Pair(3, 4)}: pass",
    "for each in {uuid.UUID(int=1), uuid.UUID(int=2)}: pass",
    "for each in dict.fromkeys(['a', 'b']): pass",
    "[1, 2].pop(); {'a': 1}.pop('a'); ','.join(['a', 'b'])",
]


@pytest.mark.parametrize(("use", "sentence"), NAMED, ids=[use for use, _ in NAMED])
def test_the_order_of_a_set_is_named(tmp_path: Path, use: str, sentence: str) -> None:
    found = explored(tmp_path, SOURCE.format(use=use))
    assert found.complete
    assert found.assumed == (sentence,)


@pytest.mark.parametrize("use", NOT_NAMED)
def test_what_is_alike_in_every_order_is_not(tmp_path: Path, use: str) -> None:
    found = explored(tmp_path, SOURCE.format(use=use))
    assert found.complete
    assert found.assumed == ()


def test_it_is_named_whichever_task_does_it(tmp_path: Path) -> None:
    use = """\
import threading
def go(): list(words)
threads = [threading.Thread(target=go) for _ in range(2)]
for each in threads: each.start()
for each in threads: each.join()
"""
    found = explored(tmp_path, SOURCE.format(use=use))
    assert found.complete
    assert found.assumed == (TEXTS,)
