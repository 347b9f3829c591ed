"""What items are called: equal keys alike, and nothing of the program is called to find out."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from possibly.control.runtime.contents import all_of, item_of, key_of, keys_of, size_of
from possibly.control.runtime.things import Named

NAMED = Named("0:1", "dict")


@pytest.mark.parametrize("keys", [(1, True, 1.0), ((1, "a"), (True, "a")), (0, False, 0.0, -0.0)])
def test_equal_keys_are_called_alike(keys: tuple[Any, ...]) -> None:
    assert len({key_of({}, key) for key in keys}) == 1


def test_other_keys_are_told_apart() -> None:
    names = [key_of({}, key) for key in (1, "1", b"1", 2, None, (1,), 1.5)]
    assert len(set(names)) == len(names)
    assert key_of({}, frozenset({1})) is None


def test_an_item_from_the_end_is_the_one_from_the_beginning() -> None:
    assert item_of([5, 6], NAMED, -1, False)[0] == item_of([5, 6], NAMED, 1, False)[0]


def test_no_code_of_the_program_is_called() -> None:
    class Odd(dict[str, int]):
        def __len__(self) -> int:
            raise AssertionError

        def __iter__(self) -> Any:
            raise AssertionError

    odd = Odd(a=1)
    assert (size_of(odd), keys_of(odd)) == (1, ["a"])
    assert all_of(odd, NAMED) == all_of({"a": 1}, NAMED)
    assert size_of(deque([1, 2])) == 2
