"""Programs that wait in loops end as a judge says that goes through all their states, and in no other way."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from possibly.control.joining.explorer import Joining
from possibly.control.joining.frames import READS
from possibly.control.joining.unseen import unread_lists
from possibly.control.schedulers.dpor import Dpor
from tests.control.joining.judged import results
from tests.control.runtime.looping import HEAD, program
from tests.sampling import sampled

NEVER_ENDS = {"livelock", "deadlock"}


def ends(path: Path, make: Callable[[], Any], **options: Any) -> tuple[set[str], bool] | None:
    """What it printed at its ends, and whether it came to where it never ends."""
    found = results(path, make, 1_000, **options)
    if found is None:
        return None
    assert {outcome for outcome, _, _ in found[0]} <= {"finished", *NEVER_ENDS}
    printed = {output.decode().strip() for outcome, _, output in found[0] if outcome == "finished"}
    return printed, any(outcome in NEVER_ENDS for outcome, _, _ in found[0])


@pytest.mark.parametrize("seed", [21, *range(1000, 1000 + sampled(16))])
def test_all_ends_are_found_and_no_others(seed: int, tmp_path: Path) -> None:
    made = program(Random(seed))
    path = tmp_path / "program.py"
    path.write_text(made.text)
    expected = made.judged()
    assert ends(path, Dpor) in (expected, None)
    if READS:
        assert ends(path, Joining, unread=unread_lists) in (expected, None)


CORRECT = {
    "until a lock is taken": """
def one():
    while not a.locked(): pass
def other():
    a.acquire()
""",
    "as long as a lock is free": """
def one():
    while a.acquire(False): a.release()
def other():
    a.acquire()
""",
    "as long as a lock can be had in time": """
def one():
    while a.acquire(timeout=5): a.release()
def other():
    a.acquire()
""",
    "until what is polled for is taken": """
def one():
    while True:
        try: return q.get_nowait()
        except queue.Empty: pass
def other():
    q.put(1)
    while not q.empty(): pass
""",
    "until one gives way, as Dekker does": """
want = [False, False]
def enters(i, rounds):
    global x, z
    for _ in range(rounds):
        want[i] = True
        while want[1 - i]:
            if x != i:
                want[i] = False
                while x != i: pass
                want[i] = True
        z += 1
        assert z == 1
        z -= 1
        x = 1 - i
        want[i] = False
def one():
    enters(0, 2)
def other():
    enters(1, 1)
""",
}
STARTS = """
threads = [threading.Thread(target=one), threading.Thread(target=other)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.parametrize("name", CORRECT)
def test_who_waits_in_a_loop_goes_on_when_something_has_changed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + CORRECT[name] + STARTS)
    found = results(path, Joining, 20_000, unread=unread_lists) if READS else results(path, Dpor, 20_000)
    assert found is not None
    assert {outcome for outcome, _, _ in found[0]} == {"finished"}


COMPARED = """
import threading
class Key(str):
    def __eq__(self, other): return flag
    def __hash__(self): return hash("a")
flag, table, found = True, {Key("a"): 1}, []
def one():
    found.append("a" in table)
def other():
    global flag
    flag = False
"""


def test_keys_that_are_compared_twice_are_no_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In which order a dictionary goes through its places depends on the hash, and so on the seed."""
    path = tmp_path / "program.py"
    path.write_text(COMPARED + STARTS + "print(found)\n")
    for seed in (1, 2):
        monkeypatch.setenv("PYTHONHASHSEED", str(seed))
        printed = subprocess.run(
            [sys.executable, "-m", "possibly", "explore", "--json", str(path)], capture_output=True, text=True
        )
        assert json.loads(printed.stdout)["verdict"] == "holds", printed.stdout
