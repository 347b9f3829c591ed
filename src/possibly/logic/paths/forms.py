"""The forms of a reading: what a tree that says how far an expression is done is made of.

Here belongs the shape of the data alone: what takes an event is `readings`, what puts two together is
`fragments`.
"""

from __future__ import annotations

from typing import Any

from possibly.logic.paths.alternatives import numbers


class Form:
    """The forms of a reading."""

    TODO, DONE, AFTER, ROUND, COUNTED, BOTH, COPIES, BOUND, FRAGMENTS = range(9)


Reading = tuple[Any, ...]
"""(TODO, part, slots) (DONE, slots) (AFTER, reading, part) (ROUND, reading, part)
(COUNTED, reading, part, rounds) (BOTH, part, reading, reading) (COPIES, part, slots, readings)
(BOUND, bindings, reading, part) (FRAGMENTS, part, slots, fragments)"""
Fragment = tuple[Reading, ...]
"""All readings of events that hang together, ascending."""
Bindings = tuple[tuple[int, int], ...]
"""Pairs of variable and value, ascending; values are numbered like slots, counts are themselves."""


def after(inner: Reading, part: int) -> Reading:
    """The part comes next."""
    return (Form.TODO, part, inner[1]) if inner[0] == Form.DONE else (Form.AFTER, inner, part)


def around(inner: Reading, number: int) -> Reading:
    """Between two rounds a repetition is as it was at the start, only after other events."""
    return (Form.TODO, number, inner[1]) if inner[0] == Form.DONE else (Form.ROUND, inner, number)


def add_slots(reading: Reading, found: set[int]) -> None:
    """Adds every slot that the reading speaks of."""
    match reading[0]:
        case Form.TODO | Form.DONE:
            found.update(numbers(reading[-1]))
        case Form.AFTER | Form.ROUND | Form.COUNTED:
            add_slots(reading[1], found)
        case Form.BOTH:
            add_slots(reading[2], found)
            add_slots(reading[3], found)
        case Form.COPIES:
            found.update(reading[2])
            for copy in reading[3]:
                add_slots(copy, found)
        case Form.FRAGMENTS:
            found.update(reading[2])
            for fragment in reading[3]:
                for each in fragment:
                    add_slots(each, found)
        case _:
            add_slots(reading[2], found)
