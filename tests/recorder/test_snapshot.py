"""Values of a program as a trace keeps them, whole or marked as cut off."""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict, deque
from typing import Any

import pytest

from possibly.logic.predicates.values import CUT, FUNCTIONS, has_cut, is_cut
from possibly.recorder.snapshot import DEEPEST, LONGEST, key_text, snapshot


def test_what_fits_is_kept_whole() -> None:
    value = {"a": [1, 2.5, None, True], "b": (1, "x"), 3: {2, 1}}
    assert snapshot(value) == {"a": [1, 2.5, None, True], "b": [1, "x"], "3": [1, 2]}
    assert not has_cut(snapshot(list(range(LONGEST))))


def test_the_items_of_subclasses_are_kept_as_well() -> None:
    assert snapshot(time.gmtime(0))[:2] == [1970, 1]
    assert snapshot(OrderedDict(a=1)) == snapshot(defaultdict(int, a=1)) == {"a": 1}
    assert snapshot(deque([1])) == [1]


def test_no_method_of_the_program_is_called() -> None:
    class Sly(list[int]):
        def __iter__(self) -> Any:
            raise AssertionError("called")

        def __len__(self) -> int:
            raise AssertionError("called")

    assert snapshot(Sly([1, 2])) == [1, 2]


def test_a_long_value_is_marked_and_keeps_its_length() -> None:
    for value in (list(range(1_400)), dict.fromkeys(range(1_400)), set(range(1_400))):
        found = snapshot(value)
        assert is_cut(found)
        assert found["length"] == 1_400
        assert len(found["first"]) == LONGEST
        assert FUNCTIONS["len"](found) == 1_400


def test_a_deep_value_is_marked_where_it_is_cut() -> None:
    value: list[Any] = [1, 2]
    for _ in range(DEEPEST):
        value = [value]
    found = snapshot(value)
    assert not is_cut(found)
    assert has_cut(found)
    while not is_cut(found):
        found = found[0]
    assert found == {CUT: "list", "length": 2}


class Key:
    pass


A, B = Key(), Key()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, 0.0),
        (-2, -2.0),
        (10**40, 1e40),
        ((1, "a"), (True, "a")),
        (A, A),
        ((A,), (A,)),
        (None, None),
    ],
)
def test_equal_keys_have_one_text(one: object, other: object) -> None:
    assert (key_text(one, id) == key_text(other, id)) is (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"), ("a", "'a'"), (None, "None"), (A, B), ((A,), (B,)), (b"x", "x"), (("a", "b"), ("a, b",)),
        (1.5, 1), (float("inf"), "inf"), ((), ""), ("x" * 2_000, "x" * 2_001), (-1, 1), (..., "..."),
    ],
)  # fmt: skip
def test_different_keys_have_different_texts(one: object, other: object) -> None:
    assert key_text(one, id) != key_text(other, id)
