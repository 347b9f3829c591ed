"""The log and its compiled twin write the same entries, in the same order."""

from __future__ import annotations

import os
import queue
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from possibly.probes import port, queues
from possibly.probes.patching import Patches
from possibly.recorder import entries
from possibly.recorder.log import Log, compiled
from possibly.recorder.merge import read_entries
from possibly.recorder.packing import TOLD_AFTER, TOLD_BEFORE, number_of

CASES = 200 * int(os.environ.get("POSSIBLY_CASES", "1"))
needs_compiler = pytest.mark.skipif(compiled() is None, reason="the compiled log was not built")
DETAILS: tuple[Any, ...] = (
    None, 0, 7, -1, 2**62, 2**70, (1, 2), (-3, 2**62), (1, 2, 3), (1, 2**64), "text", [4], 1.5, True,
)  # fmt: skip
THINGS: tuple[Any, ...] = (1, 2**40, 2**63, 2**80, "12-0:4", True)


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
        if entry[0] in (entries.SYNC, entries.PROCESS, entries.MARK)
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
                match chance.randrange(4):
                    case 0:
                        log.before(action, thing, chance.choice(DETAILS))
                    case 1:
                        log.after(action, thing, chance.choice(DETAILS))
                    case 2:
                        log.after(action, thing)
                    case _:
                        log.append((entries.MARK, port.me(), 0))
                if chance.random() < 0.1:
                    log.flush()

        plain = renumbered(told(tmp_path / f"plain-{case}", tell, kernel=None))
        assert renumbered(told(tmp_path / f"compiled-{case}", tell, kernel=compiled())) == plain


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


def test_every_told_action_has_a_number_of_one_byte() -> None:
    numbers = {number_of(action) for action in TOLD_BEFORE | TOLD_AFTER}
    assert len(numbers) == len(TOLD_BEFORE | TOLD_AFTER)
    assert max(numbers) < 256


def test_a_hundred_thousand_events_a_second_are_recorded(tmp_path: Path) -> None:
    """Measured inside the program; it is an order of magnitude faster, so that a busy machine passes."""
    (tmp_path / "loop.py").write_text(
        "import time\ncounter = 0\ndef work():\n    global counter\n"
        "    for _ in range(20_000): counter += 1\n"
        "started = time.perf_counter()\nwork()\nprint(time.perf_counter() - started)\n"
    )
    command = [sys.executable, "-m", "possibly", "run", "--watch", "counter", "loop.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "40,001 events" in done.stderr
    assert 40_001 / float(done.stdout) > 100_000
