"""The figures and tables of Modeling Concurrency in Parallel Debugging."""

from __future__ import annotations

import pytest

from possibly.logic.paths.automaton import Automaton, automaton
from possibly.logic.paths.classes import subclass
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.run import Run
from tests.logic.paths.languages import Pomset, canonical, closure, language, plain
from tests.logic.paths.test_machine import expression, fed


def drawn(text: str) -> Automaton:
    found = automaton(Machine(compiled(expression(text))))
    assert found is not None
    return found


def arcs(text: str) -> set[str]:
    return {f"{each.source} ({each.label}) {each.target}" for each in drawn(text).transitions}


def test_figure_4_1_an_automaton_and_its_order() -> None:
    """(a .) (b .) (c a) (d c b): a -> c -> d and b -> d."""
    found = drawn("((a; c) & b); d")
    state: int | None = 0
    for event, before in [("a", ""), ("b", ""), ("c", "a"), ("d", "c b")]:
        assert state is not None
        state = found.step(state, event, before.split())
    assert state in found.final


def test_figure_4_2_events_of_one_name_are_told_apart() -> None:
    """Two events called a are remembered at once; b follows one of them, and it matters which."""
    found = expression("(a; b) & (a^; c)")
    chain = Pomset(("a", "a", "b", "c"), frozenset({(0, 2), (1, 3)}))
    crossed = Pomset(("a", "a", "b", "c"), frozenset({(0, 2), (0, 3)}))
    assert fed(found, chain) == (True, None)
    assert fed(found, crossed) == (False, 3)
    named = {name for each in drawn("(a; b) & (a^; c)").transitions for name in each.predecessors}
    assert named == {"a", "a^"}


def test_figure_4_3_an_event_whose_predecessor_is_missing_does_not_fit() -> None:
    run = Run(Machine(compiled(expression("a; b"))))
    assert not run.feed(1, (1,), [0])


def test_figure_4_4_the_automaton_is_stable() -> None:
    """After a only (c a) may come, after b only (c b), although both lead to the same rest."""
    found = drawn("(a + b); c")
    after = {
        event: {(each.event, each.predecessors) for each in found.transitions if each.source == target}
        for event in "ab"
        for target in [found.step(0, event, [])]
    }
    assert after == {"a": {("c", ("a",))}, "b": {("c", ("b",))}}


def test_figures_4_6_and_4_7_the_recognizer() -> None:
    found = drawn("a;(b&(c;d));e")
    assert found.states == 8
    assert found.final == {7}
    states = [0]
    for event, before in [("a", ""), ("b", "a"), ("c", "a"), ("d", "c"), ("e", "b d")]:
        following = found.step(states[-1], event, before.split())
        assert following is not None
        states.append(following)
    assert states == [0, 1, 2, 4, 6, 7]


def test_figure_4_5_a_stabiliser_in_front_of_the_automaton() -> None:
    """The messages of figure 4-7 as they arrive: d before c, on which it depends."""
    from tests.detection.paths.stabiliser import Message, Stabiliser

    names = "abcde"
    run = Run(Machine(compiled(expression("a;(b&(c;d));e"))))
    stabiliser = Stabiliser()
    for event, before in [("a", ""), ("b", "a"), ("d", "c"), ("c", "a"), ("e", "bd")]:
        for out in stabiliser.feed(Message(event, tuple(before))):
            symbol = names.index(str(out.event))
            assert run.feed(symbol, (symbol,), [names.index(str(other)) for other in out.predecessors])
    assert run.is_complete


def test_figure_4_10_and_4_11_composition_keeps_independence() -> None:
    """a & b and a;b + b;a have the same interleavings, and different automata."""
    assert arcs("a & b") == {"0 (a .) 1", "0 (b .) 2", "1 (b .) 3", "2 (a .) 3"}
    assert arcs("a;b + b;a") == {"0 (a .) 1", "0 (b .) 2", "1 (b a) 3", "2 (a b) 3"}


def test_composition_with_synchronisation() -> None:
    """Transitions of a common event are combined: their predecessors are those of both."""
    assert arcs("(a;s;b) & (c;s;d)") == {
        "0 (a .) 1", "0 (c .) 2", "1 (c .) 3", "2 (a .) 3", "3 (s a c) 4", "4 (b s) 5", "4 (d s) 6",
        "5 (d s) 7", "6 (b s) 7",
    }  # fmt: skip


def test_composition_without_synchronisation_is_the_product() -> None:
    assert drawn("(a;b) & (c;d)").states == 9


@pytest.mark.parametrize(
    ("text", "labels", "order"),
    [
        ("(a;b)&(c;d)", "a b c d", {(0, 1), (2, 3)}),
        ("(a;s;b)&(c;s;d)", "a c s b d", {(0, 2), (1, 2), (2, 3), (2, 4)}),
        ("(a;s;b)&(c;s^;d)", "a s b c s d", {(0, 1), (1, 2), (3, 4), (4, 5)}),
    ],
)
def test_table_3_3(text: str, labels: str, order: set[tuple[int, int]]) -> None:
    expected = canonical(Pomset(tuple(labels.split()), frozenset(closure(set(order)))))
    assert {plain(pomset) for pomset in language(expression(text).root, 6)} == {expected}
    assert fed(expression(text), Pomset(tuple(labels.split()), frozenset(closure(set(order)))))[0]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("open;(read+write)*; close", "sequential"),
        ("(a;s;b) & (c;s;d)", "multiple"),
        ("(enq;deq)+(enq&deq)", "safe"),
        ("(fork;parent)* & (fork;child)@", "general"),
        ("(enq;update)@;deq; display", "extended"),
        ("(A;B)@;C", "extended"),
        ("a & b & c", "multiple"),
        ("a; (b & c)", "safe"),
        ("a@ + b@", "general"),
        ("(a@)*", "extended"),
        ("E*n; X*n", "sequential"),
    ],
)
def test_table_3_2(text: str, name: str) -> None:
    assert subclass(expression(text)).name == name


def test_the_reason_for_a_class_names_the_part_that_decides() -> None:
    assert subclass(expression("(enq;update)@;deq")).why == (
        "(enq; update)@; deq has to wait until all copies of an @ are done"
    )
    assert subclass(expression("E*n; X*n")).why == "it uses only ; + *; counts with n"


def test_figure_4_12_ordered_events_are_not_taken_for_concurrent_ones() -> None:
    """A shuffle automaton would accept a before b where a & b is written."""
    found = expression("((a&b);(c;d;e))+(c;e*;(a&b))")
    free = Pomset(tuple("abcde"), frozenset(closure({(0, 2), (1, 2), (2, 3), (3, 4)})))
    ordered = Pomset(tuple("abcde"), frozenset(closure({(0, 1), (1, 2), (2, 3), (3, 4)})))
    assert fed(found, free) == (True, None)
    assert fed(found, ordered) == (False, 1)
    late = Pomset(tuple("ceab"), frozenset(closure({(0, 1), (1, 2), (1, 3)})))
    assert fed(found, late) == (True, None)
