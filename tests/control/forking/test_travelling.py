"""A job arrives as it was sent, however long it is, and leaves nothing behind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from possibly.control.execution import Choice, Outcome, Step, Task
from possibly.control.forking.travelling import LARGEST, Outbox, arrived
from possibly.control.forking.zygote import script


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "jobs"
    found.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(found))
    return found


@pytest.mark.parametrize("size", [0, 1, LARGEST - 20, LARGEST, LARGEST + 1, 5_000_000])
def test_it_arrives(folder: Path, size: int) -> None:
    outbox = Outbox()
    plan, job = os.urandom(size), b"job"
    message = outbox.message(b"h", plan, job)
    assert len(message) <= LARGEST + 1 and message[:1] == b"h"
    for _ in range(2):  # one process looks at it, another takes it
        assert [bytes(each) for each in arrived(memoryview(message)[1:])] == [plan, job]
    outbox.answered()
    assert not list(folder.iterdir())


def test_those_that_nobody_answers_go_with_the_outbox(folder: Path) -> None:
    outbox = Outbox()
    messages = [outbox.message(b"h", bytes(size), b"") for size in (LARGEST, 3, LARGEST)]
    outbox.answered()
    assert len(list(folder.iterdir())) == 1
    assert arrived(memoryview(messages[2])[1:])[0] == bytes(LARGEST)
    outbox.close()
    assert not list(folder.iterdir())


class Laden:
    """The first task that can go on; with a load to carry."""

    def __init__(self, size: int) -> None:
        self.load = os.urandom(size)

    def choose(self, choice: Choice) -> Task | None:
        return choice.enabled[0]

    def done(self, step: Step) -> None:
        pass


PROGRAM = """\
import os, threading
total = 0
def add():
    global total
    total += 1
threads = [threading.Thread(target=add) for _ in range(2)]
for each in threads: each.start()
for each in threads: each.join()
"""


def test_executions_are_asked_for_by_schedulers_of_any_size(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    with script((str(tmp_path / "program.py"),)) as program:
        sizes = (10, 3_000_000, 10, 300_000, 300_000)
        found = [program.execute(Laden(size)) for size in sizes]
    assert {each.outcome for each in found} == {Outcome.FINISHED}
    assert len({tuple(step.task for step in each.steps) for each in found[2:]}) == 1
    assert not [each for each in folder.iterdir() if each.is_file()]
