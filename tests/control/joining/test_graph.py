"""The graph tries what has to be tried, and joins what is equal."""

from __future__ import annotations

from possibly.control.execution import Access, Operation, Step
from possibly.control.joining.graph import Graph


def write(thing: str) -> Operation:
    return Operation("write", thing, (Access(thing, True),), waits=False)


def steps(order: str, things: dict[str, str]) -> tuple[Step, ...]:
    """Tasks with one step each, in an order."""
    found = []
    for number, task in enumerate(order):
        left = {each: write(things[each]) for each in sorted(order[number:])}
        found.append(Step(task, write(things[task]), tuple(left), left))
    return tuple(found)


def test_independent_steps_are_tried_in_one_order() -> None:
    graph = Graph()
    graph.learn(steps("ab", {"a": "x", "b": "y"}), (None, None), {})
    assert not graph.open


def test_dependent_steps_are_tried_in_both() -> None:
    graph = Graph()
    graph.learn(steps("ab", {"a": "x", "b": "x"}), (None, None), {})
    assert [(place.schedule(), list(place.todo)) for place in graph.open] == [((), ["b"])]
    graph.learn(steps("ba", {"a": "x", "b": "x"}), (None, None), {})
    assert not graph.open and not graph.divergence


def test_equal_states_are_one_place_and_tell_all_ways_to_it() -> None:
    graph, things = Graph(), {"a": "x", "b": "x", "c": "y", "d": "y"}
    graph.learn(steps("abcd", things), (b"0", b"1", b"2", b"3"), {})
    places = graph.places
    graph.learn(steps("bacd", things), (b"0", b"4", b"2", b"3"), {})
    assert graph.joined == 1 and graph.places == places + 1
    assert {place.schedule(): list(place.todo) for place in graph.open} == {("a", "b"): ["d"]}


def test_a_race_found_below_a_place_is_told_on_all_ways_to_it() -> None:
    graph, things = Graph(), {"a": "x", "b": "x", "c": "x"}
    graph.learn(steps("abc", things), (b"0", b"1", b"2"), {})
    graph.learn(steps("bac", things), (b"0", b"3", b"2"), {})
    todo = {place.schedule(): sorted(place.todo) for place in graph.open}
    assert todo == {(): ["c"], ("a",): ["c"], ("b",): ["c"]}


def test_equal_states_that_allow_different_steps_are_noticed() -> None:
    graph = Graph()
    graph.learn(steps("ab", {"a": "x", "b": "y"}), (b"0", b"1"), {})
    graph.learn(steps("ba", {"a": "x", "b": "y"}), (b"0", b"1"), {})
    assert graph.divergence


def test_what_a_step_takes_away_is_tried_before_it() -> None:
    graph = Graph()
    taken, taking = write("x"), write("x")
    graph.learn((Step("a", taking, ("a", "b"), {"a": taking, "b": taken}),), (None,), {})
    assert [list(place.todo) for place in graph.open] == [["b"]]
