"""Data races: accesses that synchronisation alone does not order."""

from __future__ import annotations

from typing import Any

from possibly.control.races import data_races
from tests.control.bugs import lost_update
from tests.control.programs import interpreted
from tests.control.toy import Script, Toy


def races(*bodies: list[tuple[Any, ...]], schedule: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    program = Toy(at_once=tuple(interpreted(body) for body in bodies))
    found = data_races(program.execute(Script(schedule)))
    return [
        (
            row["thing"],
            f"{row['first']['task']} {row['first']['kind']}",
            f"{row['second']['task']} {row['second']['kind']}",
        )
        for row in found
    ]


def test_unordered_conflicting_accesses_race_whatever_their_order_was() -> None:
    assert races([("write", "x", 1)], [("read", "x")]) == [("x", "0.1 write", "0.2 read")]
    assert races([("write", "x", 1)], [("read", "x")], schedule=("0.2",)) == [("x", "0.2 read", "0.1 write")]


def test_reads_do_not_race_and_neither_do_different_things() -> None:
    assert races([("read", "x")], [("read", "x"), ("write", "y", 1)]) == []


def test_a_lock_orders_what_it_guards_and_nothing_else() -> None:
    guarded: list[tuple[Any, ...]] = [("acquire", "l"), ("write", "x", 1), ("release", "l")]
    assert races(guarded, guarded) == []
    assert races([*guarded, ("write", "y", 1)], [*guarded, ("write", "y", 2)]) == [
        ("y", "0.1 write", "0.2 write")
    ]


def test_a_lock_may_hide_a_race_in_one_order_only() -> None:
    first: list[tuple[Any, ...]] = [("write", "x", 1), ("acquire", "l"), ("release", "l")]
    second: list[tuple[Any, ...]] = [("acquire", "l"), ("release", "l"), ("write", "x", 2)]
    assert races(first, second) == []
    assert races(first, second, schedule=("0.2", "0.2", "0.2")) == [("x", "0.2 write", "0.1 write")]


def test_an_item_of_a_queue_orders_its_sender_before_its_receiver() -> None:
    assert races([("write", "x", 1), ("put", "q", 1)], [("get", "q"), ("read", "x")]) == []
    assert races([("put", "q", 1), ("write", "x", 1)], [("get", "q"), ("read", "x")]) != []


def test_starting_and_joining_order() -> None:
    [race, *more] = data_races(lost_update(False).execute(Script()))
    assert race["thing"] == "x" and not [
        row for row in more if "0" in (row["first"]["task"], row["second"]["task"])
    ]
    assert data_races(lost_update(True).execute(Script())) == []
