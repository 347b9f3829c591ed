"""Record once, ask later: what was not watched is unknown with the command that records it, never `holds`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from possibly.views.cli.main import main

PROGRAM = Path(__file__).parents[2] / "examples" / "bank" / "wrong.py"
BOTH_INSIDE = "AG(!(inside(there, move) & inside(back, move)))"
Ask = Callable[..., tuple[int, str]]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Ask:
    """The status and the text of a question about a run that was recorded with these words before."""
    monkeypatch.chdir(tmp_path)

    def ask(*words: str) -> tuple[int, str]:
        assert main(["run", "-o", "run.jsonl", *words, str(PROGRAM)]) == 0
        capfd.readouterr()
        status = main(["check", "run.jsonl", "--ctl", BOTH_INSIDE])
        return status, " ".join(capfd.readouterr().out.split())

    return ask


@pytest.mark.parametrize("words", [(), ("--record", "all"), ("--calls", "move")], ids=" ".join)
def test_what_was_taken_in_is_answered(words: tuple[str, ...], asked: Ask) -> None:
    status, text = asked(*words)
    assert (status, "VIOLATED" in text) == (1, True)


@pytest.mark.parametrize("record", ["named", "sync"])
def test_what_was_not_is_unknown_and_says_how_to_record_it(record: str, asked: Ask) -> None:
    status, text = asked("--record", record)
    assert status == 3
    assert f"calls of move were not recorded; `possibly run --calls move {PROGRAM}` records them" in text
