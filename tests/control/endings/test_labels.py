"""Primitives are called by the variables that hold them, as far as the source says which."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.endings.labels import name_by_lines

SOURCE = """\
left, right = asyncio.Lock(), asyncio.Lock()
queue = asyncio.Queue()
both: Lock = make_lock()
start(threading.Lock())
for _ in range(2): lock = Lock()
several = [Lock(), Lock()]
self.lock = Lock()
pair, other = two_locks()
filled = asyncio.Condition()
meet = threading.Barrier(2)
"""


@pytest.mark.parametrize(
    ("made", "called"),
    [
        (["lock:1", "lock:1"], ["left", "right"]),
        (["queue:2"], ["queue"]),
        (["lock:3"], ["both"]),
        (["lock:4"], ["the lock of {}:4"]),
        (["lock:5", "lock:5"], ["lock#1", "lock#2"]),
        (["lock:6", "lock:6"], ["the lock of {}:6 #1", "the lock of {}:6 #2"]),
        (["event:5", "event:5"], ["the event of {}:5", "the event of {}:5"]),
        (["lock:7"], ["the lock of {}:7"]),
        (["lock:8"], ["the lock of {}:8"]),
        (["event:2"], ["the event of {}:2"]),
        (["lock:9"], ["filled"]),
        (["lock:9", "condition:9"], ["filled", "filled"]),
        (["condition:10"], ["meet"]),
        (["event:9"], ["the event of {}:9"]),
        (["lock:99"], ["the lock of {}:99"]),
        (["lock:1", "queue:2", "lock:1"], ["left", "queue", "right"]),
    ],
)
def test_names(made: list[str], called: list[str], tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    pairs = [each.split(":") for each in made]
    labels = {f"0:{number}": f"the {kind} of {file}:{line}" for number, (kind, line) in enumerate(pairs)}
    name_by_lines(labels)
    assert list(labels.values()) == [each.format(file) for each in called]


def test_the_source_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    for name in ("one", "another"):
        file.write_text(f"{name} = Lock()\n")
        labels = {"0:1": f"the lock of {file}:1"}
        name_by_lines(labels)
        assert labels == {"0:1": name}


def test_a_name_that_is_taken_is_not_given_again(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    labels = {"0:1": "queue", "0:2": f"the queue of {file}:2"}
    name_by_lines(labels)
    assert labels == {"0:1": "queue", "0:2": f"the queue of {file}:2"}


@pytest.mark.parametrize("text", ["def broken(:", "\0", ""])
def test_what_cannot_be_read_changes_nothing(text: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(text)
    labels = {"0:1": f"the lock of {file}:1"}
    name_by_lines(labels)
    assert labels == {"0:1": f"the lock of {file}:1"}
