"""A slot numbers values, each type apart, and says when it has no room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.errors import PossiblyError
from possibly.models.slots import NOTHING, UNBOUNDED_BITS, Place, Slot, identity

VALUES = st.recursive(
    st.integers() | st.booleans() | st.text(max_size=3) | st.none(),
    lambda inner: st.tuples(inner, inner),
    max_leaves=3,
)


@given(VALUES, VALUES)
def test_two_values_are_one_only_if_they_are_equal_and_of_one_type(left: object, right: object) -> None:
    assert (identity(left) == identity(right)) == (repr(left) == repr(right))


@given(st.lists(VALUES, min_size=1, max_size=9))
def test_a_state_gives_back_what_was_numbered(values: list[object]) -> None:
    slots = [Slot("x", values[0]), Slot("y", 0)]
    shift = slots[0].place(0, values)
    assert slots[1].place(shift, [0, 1]) == shift + 1
    for value in values:
        state = slots[0].number(value) << slots[0].shift | slots[1].number(1) << slots[1].shift
        assert repr(slots[0].value(state)) == repr(value)
        assert slots[1].value(state) == 1


def test_a_field_is_as_wide_as_its_values_need() -> None:
    for count, bits in ((1, 0), (2, 1), (3, 2), (4, 2), (5, 3)):
        assert Slot("x", 0).place(7, range(count)) == 7 + bits
    assert Slot("x", 0).place(0, None) == UNBOUNDED_BITS


def test_one_value_too_many_is_an_error_that_names_the_variable() -> None:
    slot = Slot("count", 0)
    slot.place(0, [0, 1])
    assert slot.takes(0) and not slot.takes(2)
    with pytest.raises(PossiblyError, match="count takes more than 2 values"):
        slot.number(2)


def test_true_is_not_one() -> None:
    slot = Slot("x", 0)
    slot.place(0, None)
    assert len({slot.number(value) for value in (1, True, "1", (1,), (True,), NOTHING, None)}) == 7


def test_an_array_has_a_slot_for_each_element() -> None:
    assert list(Place("a", None, 3, (2, 3)).slots) == [3, 4, 5, 6, 7, 8]
    assert list(Place("a", None, 3).slots) == [3]
    assert list(Place("a", None, 3, (0,)).slots) == []
