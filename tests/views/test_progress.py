"""The progress bar: silent at first, silent without a terminal."""

from __future__ import annotations

import io
import os
import sys

import pytest

from possibly.views.cli.progress import PATIENCE, Progress, notebook_progress, terminal_progress


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_short_work_shows_nothing() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(stream, clock) as progress:
        for done in range(1000):
            progress("reading", done, 1000)
            clock.now += PATIENCE / 2000
    assert stream.getvalue() == ""


def test_long_work_shows_a_bar_and_clears_it() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(stream, clock) as progress:
        progress("reading", 1, 10)
        clock.now += PATIENCE
        progress("reading", 5, 10)
        assert "reading" in stream.getvalue()
        assert "50%" in stream.getvalue()
        progress("cuts", 7, None)
        assert "cuts" in stream.getvalue()
    assert stream.getvalue().endswith("\r")


def test_there_is_no_bar_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert terminal_progress() is None


def test_there_is_one_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(terminal_progress(), Progress)


def test_there_is_one_below_the_cell_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    class OutStream(io.StringIO):
        __module__ = "ipykernel.iostream"

    assert notebook_progress() is None
    monkeypatch.setattr(sys, "stderr", OutStream())
    assert isinstance(terminal_progress(), Progress) and isinstance(notebook_progress(), Progress)


def test_a_bar_appears_on_a_terminal_that_does_not_know_its_size() -> None:
    master, slave = os.openpty()
    clock = Clock()
    with open(slave, "w", encoding="utf-8") as stream, Progress(stream, clock) as progress:
        clock.now += PATIENCE
        progress("checking safe", 5, 10)
        stream.flush()
        assert "checking safe:  50%" in os.read(master, 1000).decode()
    os.close(master)
