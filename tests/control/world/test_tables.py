"""A table of objects by identity forgets them when they end, and never another one."""

from __future__ import annotations

import pytest

from possibly.control.world.tables import Table


class Equal:
    """All of them are equal, and none can be hashed."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


def test_equal_objects_are_two() -> None:
    table: Table[int] = Table()
    one, other = Equal(), Equal()
    table[one], table[other] = 1, 2
    assert (table[one], table[other], len(table.items())) == (1, 2, 2)
    del table[one]
    assert one not in table and other in table and table.get(one) is None
    with pytest.raises(KeyError):
        table[one]


def test_what_ends_is_forgotten() -> None:
    table: Table[int] = Table()
    objects = [Equal() for _ in range(50)]
    for number, each in enumerate(objects):
        table[each] = number
    del objects[10:], each
    assert sorted(value for _, value in table.items()) == list(range(10)) and len(list(table)) == 10
    objects.clear()
    assert not table


def test_a_number_that_is_used_again_is_another_object() -> None:
    table: Table[str] = Table()
    for _ in range(200):
        each = Equal()
        assert each not in table
        table[each] = "here"
        table[each] = "again"
    assert len(table.items()) == 1
    table.clear()
    assert not table
