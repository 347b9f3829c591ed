"""The log and its compiled twin write the same entries, in the same order."""

from __future__ import annotations

import os
import queue
import random
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from possibly.probes import port, queues
from possibly.probes.patching import Patches
from possibly.recorder import entries, packing
from possibly.recorder.log import Log, compiled
from possibly.recorder.merging.sources import read_entries
from possibly.recorder.packing import TOLD_AFTER, TOLD_BEFORE, number_of

CASES = 200 * int(os.environ.get("POSSIBLY_CASES", "1"))
WITH_OBJECT = (entries.MEMBER_READ, entries.MEMBER_WRITE, entries.ITEM_READ, entries.ITEM_WRITE)
needs_compiler = pytest.mark.skipif(compiled() is None, reason="the compiled log was not built")
DETAILS: tuple[Any, ...] = (
    None, 0, 7, -1, 2**62, 2**70, (1, 2), (-3, 2**62), (1, 2, 3), (1, 2**64), "text", [4], 1.5, True,
)  # fmt: skip
THINGS: tuple[Any, ...] = (1, 2**40, 2**63, 2**80, "12-0:4", True)
VALUES: tuple[Any, ...] = (
    0, 1, -1, 63, 64, -64, -65, 2**63 - 1, -(2**63), 2**63, None, True, False, 0.1, -0.0, "text", [1],
    {"a": 2},
)  # fmt: skip


def told(folder: Path, tell: Callable[[Log], None], *, kernel: Any) -> list[tuple[Any, ...]]:
    """What stands in the log after a flush, without what differs from log to log."""
    folder.mkdir()
    log = Log(str(folder), kernel=kernel)
    port.listen(log)
    try:
        tell(log)
    finally:
        port.listen(port.QUIET)
        log.flush()
    found = [entry for entry in read_entries(log.path) if entry[0] != entries.HEADER]
    return [(*entry[:6], entry[6] > 0) if entry[0] == entries.SYNC else entry for entry in found]


def renumbered(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Processes by their rank of appearance: the counter goes on from log to log."""
    ranks: dict[int, int] = {}
    return [
        (entry[0], ranks.setdefault(entry[1], len(ranks)), *entry[2:])
        if entry[0] in (entries.SYNC, entries.PROCESS) or entry[0] < entries.SITE
        else entry
        for entry in found
    ]


@needs_compiler
def test_both_write_the_same_for_whatever_probes_tell(tmp_path: Path) -> None:
    actions = sorted(TOLD_BEFORE | TOLD_AFTER | {"unknown"})
    for case in range(CASES):

        def tell(log: Log, case: int = case) -> None:
            chance = random.Random(case)
            for _ in range(chance.randrange(1, 30)):
                action, thing = chance.choice(actions), chance.choice(THINGS)
                head = (chance.randrange(1, 11), port.me(), chance.choice((0, 127, 128, 70_000)))
                match chance.randrange(6):
                    case 0:
                        log.before(action, thing, chance.choice(DETAILS))
                    case 1:
                        log.after(action, thing, chance.choice(DETAILS))
                    case 2:
                        log.after(action, thing)
                    case 3 if head[0] not in WITH_OBJECT:
                        log.note(head)
                    case 4 if head[0] not in WITH_OBJECT:
                        log.note((head, chance.choice(VALUES)))
                    case _:
                        log.append((entries.MARK, port.me(), 0))
                if chance.random() < 0.1:
                    log.flush()

        plain = renumbered(told(tmp_path / f"plain-{case}", tell, kernel=None))
        compared = renumbered(told(tmp_path / f"compiled-{case}", tell, kernel=compiled()))
        assert repr(compared) == repr(plain)


@needs_compiler
def test_both_find_the_same_places_and_threads(tmp_path: Path) -> None:
    def deep(log: Log, depth: int) -> None:
        if depth:
            deep(log, depth - 1)
        log.after("acquire", depth)
        log.before("release", depth)

    def tell(log: Log) -> None:
        thread = threading.Thread(target=deep, args=(log, 3), name="one")
        thread.start()
        thread.join()
        deep(log, 2)

    plain = renumbered(told(tmp_path / "plain", tell, kernel=None))
    assert renumbered(told(tmp_path / "compiled", tell, kernel=compiled())) == plain
    places = {entry[2].partition(":")[0].rpartition("/")[2] for entry in plain if entry[0] == entries.SITE}
    assert places == {"test_log.py"}
    assert len({entry[1] for entry in plain if entry[0] == entries.SYNC}) == 2


@needs_compiler
def test_a_thread_that_becomes_another_process_is_that_one_at_once(tmp_path: Path) -> None:
    def tell(log: Log) -> None:
        for process in (0, 1_001, 1_002, 1_001, 0):
            port.become(process)
            log.after("acquire", process)

    for kernel in (None, compiled()):
        found = told(tmp_path / f"{kernel is None}", tell, kernel=kernel)
        processes = [entry[1] for entry in found if entry[0] == entries.SYNC]
        assert processes[1:4] == [1_001, 1_002, 1_001]
        assert len({processes[0], *processes[3:]}) == 3, "without a number of its own it gets a new one"


@pytest.mark.parametrize("maxsize", [0, 1, 3])
@pytest.mark.parametrize("is_plain", [True, False], ids=["plain", "compiled"])
def test_a_queue_tells_the_message_of_each_item(maxsize: int, is_plain: bool, tmp_path: Path) -> None:
    if not is_plain and queues._line is None:
        pytest.skip("the compiled queue was not built")
    patches = Patches()
    if is_plain:
        patches.put(queues, "_line", None)

    def tell(_: Log) -> None:
        queues.install(patches)
        line: queue.Queue[str] = queue.Queue(maxsize)
        for item in "abcdef":
            line.put(item)
            assert line.get() == item
        line.put("lost")
        line.queue.clear()
        line.put("kept")
        assert line.get() == "kept"

    try:
        found = told(tmp_path / "log", tell, kernel=None)
    finally:
        patches.undo()
    puts = [entry for entry in found if entry[3:4] == ("put",)]
    gets = [entry[4] for entry in found if entry[3:4] == ("get",)]
    sent = [entry[4] for entry in puts]
    assert gets == [*sent[:6], sent[7]], "the message that the program threw away is received by nobody"
    freed = [entry[5][1] for entry in puts]
    assert freed[:maxsize] == [0] * maxsize
    assert freed[maxsize:] == ([0] * 8 if maxsize == 0 else [*sent[:6], 0][: 8 - maxsize])


def test_every_told_action_has_a_byte_of_its_own() -> None:
    numbers = {number_of(action) for action in TOLD_BEFORE | TOLD_AFTER}
    assert len(numbers) == len(TOLD_BEFORE | TOLD_AFTER)
    assert 104 + 3 * max(numbers) + 2 < 256


@needs_compiler
def test_both_read_the_same_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(str(tmp_path), kernel=compiled())
    chance = random.Random(7)
    for number in range(500):
        log.note((chance.randrange(1, 8), chance.randrange(300), chance.randrange(40_000)))
        log.note(((2, 1, number), chance.choice(VALUES)))
        log.before("put", chance.randrange(2**50), (number, -number))
        log.after("acquire", chance.randrange(2))
    log.flush()
    quick = list(read_entries(log.path))
    locks = [entry for entry in quick if entry[3:4] == ("acquire",)]
    assert len({id(each) for each in locks}) < len(locks) / 4, "equal ones are one and the same"
    monkeypatch.setattr(packing, "built", lambda name: None)
    assert list(read_entries(log.path)) == quick
    assert len(quick) > 1_500


@needs_compiler
@pytest.mark.parametrize("records", [b"\xff", b"\x09\x80", b"\x0d\x01\x01\x00", b"\x00\x80"])
def test_a_broken_record_is_told(records: bytes) -> None:
    with pytest.raises((ValueError, IndexError)):
        packing.unpacked([], records)


@needs_compiler
def test_a_hundred_thousand_events_a_second_are_recorded_merged_and_written(tmp_path: Path) -> None:
    """Inside the program, and in all until the trace lies on the disk, the interpreters' start included.

    In time of the processor; both are several times faster, so that a busy machine passes.
    """
    (tmp_path / "loop.py").write_text(
        "import time\ncounter = 0\ndef work():\n    global counter\n"
        "    for _ in range(100_000): counter += 1\n"
        "started = time.process_time()\nwork()\nprint(time.process_time() - started)\n"
    )
    command = [sys.executable, "-m", "possibly", "run", "--watch", "counter", "loop.py"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "200,001 events" in done.stderr
    assert 200_001 / float(done.stdout) > 100_000
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert 200_001 / whole > 100_000
