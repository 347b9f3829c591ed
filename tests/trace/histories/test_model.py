"""Values of a history are shown as its readers write them, and read back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from possibly.trace.histories.edn import forms
from possibly.trace.histories.model import Keyword, Map, Value, shown

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text('aé" \n', max_size=3)
    | st.builds(Keyword, st.sampled_from("ab"))
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2).map(tuple),
    max_leaves=4,
)


@given(VALUES)
def test_what_is_shown_is_read_back(value: Value) -> None:
    found = [each for _, each in forms(shown(value))]
    assert shown(found[0]) == shown(value) and len(found) == 1


def test_a_map_is_asked_by_keyword_or_text() -> None:
    found = Map(frozenset({(Keyword("a"), 1), ("b", 2)}))
    assert (found.get("a"), found.get("b"), found.get("c")) == (1, 2, None)
    assert shown(found) == '{"b" 2, :a 1}'


def test_true_is_not_one() -> None:
    assert (shown(True), shown(1), shown(None), shown("nil")) == ("true", "1", "nil", '"nil"')
