from __future__ import annotations

import dataclasses
import pickle
from typing import Any, ClassVar, NamedTuple

import pytest

from possibly import records
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


Light: Any = vars(records)["NamedTuple"]
"""What stands in for `typing.NamedTuple` at run time."""


class Usual(NamedTuple):
    a: int
    b: str = "b"
    c: float = 1.5

    def both(self) -> str:
        return f"{self.a}{self.b}"


class Cheap(Light):  # type: ignore[misc]
    a: int
    b: str = "b"
    c: float = 1.5

    def both(self) -> str:
        return f"{self.a}{self.b}"


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((1,), {}), ((1, "x"), {}), ((1, "x", 2.0), {}), ((), {"a": 1}), ((1,), {"c": 2.0}),
        ((1, "x"), {"c": 0.0}), ((), {}), ((), {"b": "x"}), ((1, "x", 2.0, 3), {}), ((1,), {"a": 2}),
        ((1,), {"z": 2}),
    ],
)  # fmt: skip
def test_a_light_named_tuple_is_as_the_usual_one(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    try:
        usual: Any = Usual(*values, **named)
    except TypeError:
        with pytest.raises(TypeError):
            Cheap(*values, **named)
        return
    cheap: Any = Cheap(*values, **named)
    assert issubclass(Cheap, tuple) and cheap == usual and hash(cheap) == hash(usual)
    assert (cheap.a, cheap.b, cheap.c, cheap.both()) == (usual.a, usual.b, usual.c, usual.both())
    assert repr(cheap) == repr(usual).replace("Usual", "Cheap")
    assert cheap._replace(b="z") == usual._replace(b="z")
    assert type(pickle.loads(pickle.dumps(cheap))) is Cheap
    with pytest.raises(AttributeError):
        cheap.a = 2
    assert Cheap.__match_args__ == Usual.__match_args__
