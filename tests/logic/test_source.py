from __future__ import annotations

import pytest

from possibly.errors import FormulaError
from possibly.logic.source import Source

SOURCE = Source("ab\n  cd\ne", "f.spec", 3, 10)


@pytest.mark.parametrize(
    ("offset", "place"), [(0, (3, 10)), (1, (3, 11)), (2, (3, 12)), (3, (4, 1)), (5, (4, 3)), (8, (5, 1))]
)
def test_places(offset: int, place: tuple[int, int]) -> None:
    assert SOURCE.place(offset) == place


@pytest.mark.parametrize(
    ("offset", "pointed"),
    [
        (1, "f.spec:3:11: wrong\n" + " " * 13 + "ab\n" + " " * 14 + "^"),
        (5, "f.spec:4:3: wrong\n      cd\n      ^"),
        (8, "f.spec:5:1: wrong\n    e\n    ^"),
    ],
)
def test_an_error_points_below_its_line(offset: int, pointed: str) -> None:
    with pytest.raises(FormulaError) as found:
        SOURCE.fail("wrong", offset)
    assert found.value.pointed() == pointed
