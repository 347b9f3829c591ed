"""Records are read back as they were written, and every action has a number."""

from __future__ import annotations

import pytest

from possibly.recorder.packing import TOLD_AFTER, TOLD_BEFORE, number_of, plainly_unpacked, unpacked


def test_without_records_entries_are_flat() -> None:
    assert unpacked([((2, 1, 5), 7), (1, 2, 3)], b"") == [(2, 1, 5, 7), (1, 2, 3)]


def test_positions_say_where_entries_of_the_list_stand() -> None:
    entries = [(20, 1), (20, 2), (20, 3)]
    records = bytes([8, 4, 9]) + bytes([0, 2]) + bytes([17, 4, 9, 6])
    assert list(plainly_unpacked(entries, records)) == [(1, 4, 9), (20, 1), (20, 2), (2, 4, 9, 3), (20, 3)]


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**40])
def test_numbers_have_as_many_bytes_as_they_need(number: int) -> None:
    text, rest = bytearray(), number
    while rest > 127:
        text.append(rest & 127 | 128)
        rest >>= 7
    text.append(rest)
    assert list(plainly_unpacked([], bytes([8]) + bytes(text) + b"\x01")) == [(1, number, 1)]


def test_actions_have_numbers() -> None:
    assert len({number_of(action) for action in TOLD_BEFORE | TOLD_AFTER}) == len(TOLD_BEFORE | TOLD_AFTER)
