"""Names of things are read from their beginning: what a program chose itself may hold anything."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from possibly.control.execution import Execution, Outcome
from possibly.control.naming import LIFE, Slot, Sort, is_of_a_type, parent_of, slot_of, sort_of
from possibly.control.runtime.kernel import CLOCK, EXIT
from possibly.control.runtime.touched.lives import LIVES

tasks = st.lists(st.integers(0, 99), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
words = st.sampled_from(["lock", "queue", "loop", "~condition", "cache"])
anything = st.text(max_size=12)


@given(tasks, st.integers(1, 99), anything)
def test_an_object_and_all_that_is_below_it_is_memory(task: str, number: int, below: str) -> None:
    for thing in (f"{task}:{number}", f"{task}:{number}.{below}", f"{task}:{number}[{below!r}]"):
        assert sort_of(thing) is Sort.MEMORY
        assert slot_of(thing) is None


@given(st.one_of(tasks, st.just("_")), words, st.integers(1, 99), anything)
def test_a_primitive_and_its_parts_are_none(maker: str, word: str, number: int, below: str) -> None:
    name = f"{maker}:{word}{number}"
    for thing in (name, f"{name}.tail", f"{name}#{number}", f"{name}[{below!r}]"):
        assert sort_of(thing) is Sort.PRIMITIVE
    assert slot_of(f"{name}#{number}") == Slot(name, number)
    assert slot_of(name) is None


@given(tasks, st.integers(1, 99))
def test_a_task_is_told_from_its_parent(parent: str, number: int) -> None:
    assert sort_of(f"{parent}.{number}") is Sort.TASK
    assert parent_of(f"{parent}.{number}") == parent


def test_what_everybody_touches_is_no_variable_of_the_program() -> None:
    assert sort_of(CLOCK) is sort_of(EXIT) is Sort.PRIMITIVE
    assert [sort_of(name) for name in ("clock", "exit", "shop.clock", "~list[]", "Account.n")] == [
        Sort.MEMORY
    ] * 5


def test_what_no_variable_leads_to_is_called_by_its_maker_or_its_type() -> None:
    execution = Execution((), Outcome.FINISHED, {"0.1": "main#1"}, things={"0:7": "cart", "0:queue1": "jobs"})
    named = {
        "0:7": "cart",
        "0.1": "main#1",
        "0:queue1#3": "jobs",
        "loads": "loads",
        f"{LIVES}0.1:4": "whether object 4 of main#1 is still alive",
    }
    assert LIFE == LIVES
    unnamed = {"0.1:4[]": "object 4 of main#1", "0.1:4.x": "object 4 of main#1.x", "~Lock": "a Lock"}
    assert {each: execution.name_of(each) for each in (named | unnamed)} == named | unnamed
    assert all(execution.has_name(each) for each in named)
    assert not any(execution.has_name(each) for each in unnamed)
    assert [each for each in (named | unnamed) if is_of_a_type(each)] == ["~Lock"]
