from __future__ import annotations

import dataclasses
from typing import ClassVar

import pytest

from possibly.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0
    marks: list[str] = field(default_factory=list)
    kind: ClassVar[str] = "point"


@dataclass(frozen=True)
class Named(Point):
    name: str = "p"


@dataclass()
class Counter:
    count: int = 0


def test_fields_come_from_positions_keywords_and_defaults() -> None:
    assert (Point(1, 2).x, Point(1, y=3).y, Point(x=1).y) == (1, 3, 0)
    assert Point(1).marks == [] and Point(1).marks is not Point(1).marks
    assert Named(1, 2, [], "q").name == "q" and Named(1).name == "p"


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((1, 2, [], 4), {}), ((1,), {"x": 2}), ((1,), {"z": 2})]
)
def test_wrong_arguments_are_refused(values: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError):
        Point(*values, **named)  # type: ignore[arg-type]


def test_equality_hash_and_repr_are_those_of_a_dataclass() -> None:
    assert Point(1, 2) == Point(1, 2) != Point(1, 3)
    assert Point(1) != Named(1), "another type is another value"

    @dataclass(frozen=True)
    class Pair:
        a: int
        b: str

    assert hash(Pair(1, "x")) == hash(Pair(1, "x"))
    assert repr(Point(1, 2)) == "Point(x=1, y=2, marks=[])"


def test_frozen_records_do_not_change_and_others_do() -> None:
    with pytest.raises(AttributeError, match="Point is immutable: cannot change x"):
        Point(1).x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del Point(1).x
    counter = Counter()
    counter.count += 1
    assert counter.count == 1
    with pytest.raises(TypeError):
        hash(counter)


def test_patterns_match_by_position() -> None:
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
        case _:
            raise AssertionError


def test_replace_copies_records_and_dataclasses() -> None:
    first = Named(1, 2)
    assert replace(first, y=5) == Named(1, 5) and first.y == 2
    with pytest.raises(TypeError):
        replace(first, z=1)

    @dataclasses.dataclass(frozen=True)
    class Standard:
        a: int

    assert replace(Standard(1), a=2) == Standard(2)
