from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest

from possibly.logic.tree import Tree, aside


class Base(Tree):
    place: int | None = aside(default=None, kw_only=True)


class Pair(Base):
    left: Any
    right: Any = 7
    loud: bool = aside(default=False, kw_only=True)


class Single(Base):
    left: Any


def test_fields_by_position_by_name_and_by_default() -> None:
    for made in (Pair(1, 7), Pair(1), Pair(left=1), Pair(right=7, left=1), Pair(1, right=7)):
        assert (made.left, made.right, made.place, made.loud) == (1, 7, None, False)
    made = Pair(1, 2, place=3, loud=True)
    assert (made.left, made.right, made.place, made.loud) == (1, 2, 3, True)


@pytest.mark.parametrize(
    ("values", "named", "message"),
    [
        ((), {}, "Pair lacks its field left"),
        ((1, 2, 3), {}, "Pair has 2 fields, not 3"),
        ((1, 2), {"left": 1}, "Pair has no field left"),
        ((1,), {"other": 1}, "Pair has no field other"),
    ],
)
def test_wrong_fields(values: tuple[Any, ...], named: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as found:
        Pair(*values, **named)
    assert str(found.value) == message


def test_patterns_take_the_fields_that_count() -> None:
    match Pair(1, 2, place=3):
        case Pair(left, right):
            assert (left, right) == (1, 2)
    assert Pair.__match_args__ == ("left", "right")


def test_nothing_can_be_changed_in_place() -> None:
    made: Any = Pair(1)
    with pytest.raises(AttributeError, match="Pair is immutable: cannot set left"):
        made.left = 2
    with pytest.raises(AttributeError, match="Pair is immutable: cannot delete left"):
        del made.left
    with pytest.raises(AttributeError, match="cannot set other"):
        made.other = 2


def test_a_changed_copy_keeps_the_rest() -> None:
    made = Pair(1, 2, place=3).changed(right=5)
    assert (made.left, made.right, made.place) == (1, 5, 3)


def test_types_count_in_comparisons() -> None:
    assert Single(1) != Pair(1)
    assert Single(1) != Single(True)
    assert Single((1,)) != Single((1.0,))
    assert Single((1, Single("a"))) == Single((1, Single("a")))
    assert Single((1, 2)) != Single((1, 2, 3))


def test_repr() -> None:
    assert repr(Pair(Single("a"), 2, place=3)) == "Pair(left=Single(left='a'), right=2)"


def test_a_hash_is_not_carried_to_another_process() -> None:
    from possibly.logic.syntax import Local

    made = Local("P1", "x", span=(1, 2))
    hash(made)
    program = (
        "import pickle, sys\n"
        "from possibly.logic.syntax import Local\n"
        "made = pickle.load(sys.stdin.buffer)\n"
        "assert hash(made) == hash(Local('P1', 'x')) and made.span == (1, 2)"
    )
    environment = {"PYTHONHASHSEED": "1", "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", program], input=pickle.dumps(made), env=environment, check=True)


class Empty(Base):
    pass


def test_a_type_may_have_no_fields() -> None:
    assert Empty() == Empty() != Single(())
    assert hash(Empty()) == hash(Empty())
    assert pickle.loads(pickle.dumps(Empty(place=1))).place == 1


def test_a_changed_copy_has_the_same_fields_only() -> None:
    with pytest.raises(TypeError, match="Pair has no field other"):
        Pair(1).changed(other=1)


def test_a_hash_needs_no_recursion_and_is_that_of_the_content() -> None:
    from possibly.logic.syntax import And, Compare, Literal, Local, Node, Not

    def deep(process: str) -> Node:
        tree: Node = Compare((Local(process, "x"), Literal(1)), ("==",))
        for number in range(20_000):
            tree = And((tree, Literal(number))) if number % 2 else Not(tree)
        return tree

    first, second, other = deep("P1"), deep("P1"), deep("P2")
    assert hash(first) == hash(second) and first == second
    assert hash(first) != hash(other) and first != other
