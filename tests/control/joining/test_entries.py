"""Races are recognised from what states below tell."""

from __future__ import annotations

from possibly.control.execution import Access, Operation
from possibly.control.joining.entries import Entry, Later, Move, Touch, touch_of

NONE: frozenset[str] = frozenset()


def writes(*things: str) -> Touch:
    return Touch(NONE, frozenset(things))


def move(task: str, *things: str, creates: str = "", shut: tuple[str, str] | None = None) -> Move:
    return Move(task, writes(*things), frozenset({creates} - {""}), frozenset({shut} if shut else ()))


def entry(task: str, *things: str, waits: bool = False) -> Entry:
    return Entry(Later(task, "acquire", waits, writes(*things)))


def test_what_is_touched_is_read_or_written() -> None:
    operation = Operation("wait", "c", (Access("c", False), Access("l", True), Access("l", False)))
    assert touch_of(operation) == Touch(frozenset({"c"}), frozenset({"l"}))


def test_steps_of_two_tasks_that_meet_race() -> None:
    assert entry("b", "x").races(move("a", "x"))
    assert not entry("b", "x").races(move("a", "y"))
    assert not entry("b", "x").races(move("b", "x"))


def test_what_its_task_knew_before_does_not_race() -> None:
    later = entry("b", "x").above(move("b", "y"))
    assert later.races(move("a", "x"))
    assert not later.races(move("a", "x", "y"))
    assert not later.above(move("a", "y")).races(move("a", "x"))


def test_the_step_that_creates_a_task_comes_before_all_of_it() -> None:
    later = entry("b", "b")
    assert not later.races(move("a", "b", creates="b"))
    assert not later.above(move("a", "b", creates="b")).races(move("a", "b"))


def test_what_was_closed_before_a_step_does_not_race_with_it() -> None:
    release = move("a", "l", shut=("acquire", "l"))
    assert not entry("b", "l", waits=True).races(release)
    assert entry("b", "l", waits=False).races(release)
    assert entry("b", "l", "x", waits=True).races(move("a", "l", "x", shut=("acquire", "l")))


def test_smaller_cones_tell_more() -> None:
    plain = entry("b", "x")
    later = plain.above(move("b", "y"))
    assert plain.is_within(later) and not later.is_within(plain)
