"""What is attached to objects goes with them, and asks them nothing."""

from __future__ import annotations

from possibly.control.attached import Attached


class Odd:
    """Equal to everything, and not to be hashed."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


def test_objects_are_told_apart_by_identity() -> None:
    known: Attached[str] = Attached()
    one, two = Odd(), Odd()
    known[one], known[two] = "one", "two"
    assert (known.get(one), known[two], known.get(Odd())) == ("one", "two", None)
    assert known.items() == [(one, "one"), (two, "two")] and known.values() == ["one", "two"]
    known.drop(one)
    assert one not in known and two in known


def test_what_is_attached_ends_with_its_object() -> None:
    known: Attached[str] = Attached()
    thing = Odd()
    known[thing] = "here"
    del thing
    assert known.values() == []
    assert all(known.get(Odd()) is None for _ in range(100))  # also at the address that is free again
    kept = Odd()
    known[kept] = "again"
    known.clear()
    assert kept not in known
