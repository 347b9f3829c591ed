"""What a header says of the recording: written, read again, and read with care."""

from __future__ import annotations

from possibly.trace.recorded import FIELD, Recorded, recorded_of


def test_what_is_said_is_read_again() -> None:
    told = Recorded(frozenset({"move"}), frozenset({"tick"}), frozenset({"ready"}), ("a b.py", "--fast"))
    assert recorded_of({FIELD: told.fields()}) == told
    assert told.fields() == {
        "functions": ["move"],
        "left_out": ["tick"],
        "for_order": ["ready"],
        "program": ["a b.py", "--fast"],
    }


def test_that_no_call_was_recorded_is_said_too() -> None:
    assert Recorded().fields() == {"functions": []}
    assert recorded_of({FIELD: {"functions": []}}) == Recorded()


def test_the_command_that_records_again_can_be_pasted() -> None:
    told = Recorded(program=("a b.py", "--fast"))
    assert told.again("--calls", "move") == "possibly run --calls move 'a b.py' --fast"


def test_a_header_of_somebody_else_says_nothing() -> None:
    assert recorded_of({}) is None
    assert recorded_of({FIELD: "all"}) is None
    assert recorded_of({FIELD: {"functions": [1, "f", None], "program": "x"}}) == Recorded(frozenset({"f"}))
