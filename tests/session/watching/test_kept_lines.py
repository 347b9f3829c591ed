"""Kept lines: the run as it was taken in, all of it or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from possibly.order.growing.computation import Growing
from possibly.session.watching.kept_lines import KeptLines
from possibly.trace.model import Event
from tests.twins import needs_kernels

HEADER = {"format": "possibly-trace", "version": 1, "processes": [{"name": "P"}], "shared": {}}


def kept(most: int, *texts: bytes) -> KeptLines:
    """The lines arrive together, those that cannot be taken in so one by one."""
    import json

    growing, found = Growing([("P", {})]), KeptLines(most)
    growing.follow_batches(found)
    lines: list[Any] = [json.loads(text) for text in texts]
    found.texts, at = texts, 0
    while at < len(lines):
        at += growing.arrive_many(lines, at)
        if at < len(lines):
            growing.arrive(lines[at])
            at += 1
    return found


def _events(found: KeptLines) -> list[Event]:
    trace = found.trace("run", HEADER)
    return [trace.event(number) for number in range(len(trace))]


@needs_kernels
def test_lines_are_kept_as_they_came() -> None:
    found = kept(10, b'{"p":"P", "set":{"x": 1}}', b'{"p": "P","odd": [1]}')
    pieces = b"".join(found._pieces(HEADER)).split(b"\n")
    assert pieces[1:] == [b'{"p":"P", "set":{"x": 1}}', b'{"p": "P","odd": [1]}', b""]
    assert [dict(event.set) for event in _events(found)] == [{"x": 1}, {}]
    found.close()


def test_what_only_arrival_needs_is_left_out() -> None:
    found = kept(10, b'{"p": "P", "k": 2, "set": {"x": 2}}', b'{"p": "P", "k": 1}', b'{"p": "P", "k": 3}')
    text = b"".join(found._pieces(HEADER))
    assert b'"k"' not in text and text.count(b"\n") == 4
    assert [dict(event.set) for event in _events(found)] == [{}, {"x": 2}, {}]
    found.close()


@pytest.mark.parametrize("most, is_whole", [(2, False), (3, True), (0, False)])
def test_beyond_the_bound_nothing_is_kept(most: int, is_whole: bool) -> None:
    found = kept(most, *[b'{"p": "P"}'] * 3)
    assert found.is_whole == is_whole
    found.close()
    assert not found.is_whole
