"""Messages that came together are taken in together, and it makes no difference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.session.watching.streams import following
from possibly.session.watching.streams.messages import Message, Position
from possibly.views.cli.main import main

LINES = [b'{"format":"possibly-trace","version":1,"processes":[{"name":"P","init":{"x":0}}]}']
LINES += [json.dumps({"p": "P", "set": {"x": number}}).encode() for number in range(1, 8)]


class Stored:
    """A stream that has these messages, given out so many at a time."""

    def __init__(self, messages: list[Message], at_once: int) -> None:
        self._pieces = [messages[first : first + at_once] for first in range(0, len(messages), at_once)]

    def fetch(self, seconds: float) -> list[Message]:
        if not self._pieces:
            raise KeyboardInterrupt
        return self._pieces.pop(0)

    def acknowledge(self, position: Position) -> None:
        pass

    def close(self) -> None:
        pass


def messages(left_out: int | None = None) -> list[Message]:
    """A message a line, without the one with this number; some are sent twice."""
    firsts = [number for number in (0, 1, 2, 1, 2, 3, 4, 5, 6, 7) if number != left_out]
    return [
        Message((1, position), "a", first, LINES[first], first == len(LINES) - 1)
        for position, first in enumerate(firsts, start=1)
    ]


def said(
    given: list[Message],
    at_once: int,
    folder: Path,
    patch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> tuple[int, str, str]:
    patch.setattr(following, "source_of", lambda *_: Stored(given, at_once))
    words = ["--ctl", "AG(P.x <= 6)", "--ctl", "AG(P.x <= 3)", "--state", str(folder / str(at_once))]
    status = main(["watch", "redis://127.0.0.1:1/x", "--connections", "1", *words])
    return status, *capsys.readouterr()


@pytest.mark.parametrize("piece", [0, 10, 1_000])
@pytest.mark.parametrize("left_out", [None, 5])
def test_alone_or_together(
    piece: int,
    left_out: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(following, "PIECE", piece)
    alone = said(messages(left_out), 1, tmp_path, monkeypatch, capsys)
    assert said(messages(left_out), 100, tmp_path, monkeypatch, capsys) == alone
    assert "VIOLATED" in alone[1] and ("are missing in the stream" in alone[2]) == (left_out is not None)
