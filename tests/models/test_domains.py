"""The values that are found are never too few: whatever nodes assign in any order lies among them."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from possibly.models.domains import MOST_COMBINATIONS, domains
from possibly.models.flow import Exit, Node, Outcome
from possibly.models.slots import NOTHING, Failure, Slot, Values


def node(number: int, reads: tuple[int, ...], writes: int, table: dict[tuple[int, ...], int]) -> Node:
    def act(values: Values) -> list[Outcome]:
        key = tuple(values[slot] for slot in reads)
        if key not in table:
            raise Failure("nothing")
        return [Outcome(0, ((writes, table[key]),))]

    return Node(number, "", 1, None, False, act, frozenset(reads), frozenset({writes}))


TABLES = st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 2)), st.integers(0, 2), max_size=6)


@given(st.lists(st.tuples(TABLES, st.integers(0, 1)), max_size=3))
def test_whatever_is_reached_was_found(tables: list[tuple[dict[tuple[int, ...], int], int]]) -> None:
    nodes = [node(number, (0, 1), writes, table) for number, (table, writes) in enumerate(tables)]
    found = domains([Slot("x", 0), Slot("y", 0)], nodes)
    reached, fresh = {(0, 0)}, [(0, 0)]
    while fresh:
        state = fresh.pop()
        for table, writes in tables:
            if state in table:
                after = (table[state], state[1]) if writes == 0 else (state[0], table[state])
                if after not in reached:
                    reached.add(after)
                    fresh.append(after)
    for each in found:
        assert each is not None
    assert all(x in (found[0] or ()) and y in (found[1] or ()) for x, y in reached)


def test_a_counter_without_end_is_unbounded() -> None:
    def count(values: Values) -> list[Outcome]:
        return [Outcome(0, ((0, values[0] + 1),))]

    counting = Node(0, "", 1, None, False, count, frozenset({0}), frozenset({0}))
    assert domains([Slot("x", 0)], [counting]) == [None]
    bounded = node(0, (0,), 0, {(value,): value + 1 for value in range(39)})
    assert len(domains([Slot("x", 0)], [bounded])[0] or ()) == 40


def test_too_many_combinations_are_not_tried() -> None:
    width = 3
    sides = 11
    assert sides**width > MOST_COMBINATIONS
    nodes = [node(slot, (slot,), slot, {(v,): v + 1 for v in range(sides - 1)}) for slot in range(width)]
    every = dict.fromkeys(product(range(sides), repeat=width), 0)
    found = domains([Slot(name, 0) for name in "abcd"], [*nodes, node(9, tuple(range(width)), 3, every)])
    assert found[3] is None and [len(each or ()) for each in found[:3]] == [sides] * width


def test_what_a_helper_leaves_behind_has_no_value() -> None:
    leaving = node(0, (0,), 0, {(0,): 1})
    leaving.exits.append(Exit(leaving, clears=(0,)))
    assert domains([Slot("x", 0)], [leaving]) == [[0, NOTHING, 1]]
