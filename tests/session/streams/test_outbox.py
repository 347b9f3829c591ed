"""Lines on disk: numbered for ever, sent once each, and taken over from whoever died."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from possibly.session.watching.streams import outbox as module
from possibly.session.watching.streams.messages import StreamAddress
from possibly.session.watching.streams.outbox import Outbox, folder_of


def sent(outbox: Outbox) -> list[tuple[int, bytes]]:
    found = []
    while lines := outbox.next():
        found.append((outbox.first, lines))
        outbox.acknowledged(lines)
    return found


def test_lines_are_numbered_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    outbox = Outbox.new(tmp_path)
    outbox.put(b"one\ntwo\nthree\n")
    assert sent(outbox) == [(0, b"one\ntwo\n"), (2, b"three\n")]
    outbox.put(b"a line that is longer than a message\n")
    assert sent(outbox) == [(3, b"a line that is longer than a message\n")] and not outbox.waits
    outbox.close(is_done=True)
    assert not list(tmp_path.iterdir())


def test_what_was_left_behind_goes_on_with_its_numbers(tmp_path: Path) -> None:
    first = Outbox.new(tmp_path)
    first.put(b"one\n")
    sent(first)
    first.put(b"two\n")
    assert list(Outbox.left_behind(tmp_path)) == []  # somebody holds it
    first.close(is_done=False)
    (found,) = Outbox.left_behind(tmp_path)
    assert found.sender == first.sender and sent(found) == [(1, b"two\n")]
    found.close(is_done=True)


def test_what_is_acknowledged_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FORGET", 8)
    outbox = Outbox.new(tmp_path)
    for number in range(100):
        outbox.put(b"%d\n" % number)
        assert sent(outbox) == [(number, b"%d\n" % number)]
    assert (tmp_path / f"{outbox.sender}.lines").stat().st_size <= 10
    outbox.close(is_done=False)


def test_lines_that_were_cut_off_before_the_place_was_written(tmp_path: Path) -> None:
    outbox = Outbox.new(tmp_path)
    outbox.put(b"one\ntwo\n")
    sent(outbox)
    os.ftruncate(outbox._descriptor, 0)  # and here the program is killed
    outbox.close(is_done=False)
    (found,) = Outbox.left_behind(tmp_path)
    assert sent(found) == [] and found.first == 2
    found.close(is_done=True)


def test_a_full_outbox_takes_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 5)
    outbox = Outbox.new(tmp_path)
    assert outbox.put(b"123456\n") and not outbox.put(b"7\n")
    outbox.close(is_done=True)


def test_a_folder_for_each_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POSSIBLY_OUTBOX", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    found = folder_of(StreamAddress.of("nats://[::1]:4222/orders"))
    assert found == tmp_path / "possibly" / "outbox" / "nats-__1-4222-orders" and found.is_dir()
