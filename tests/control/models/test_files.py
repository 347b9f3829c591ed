"""Files by their paths: making one is seen by whoever looks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

SOURCE = """\
import os, tempfile, threading
folder = tempfile.mkdtemp()
path = os.path.join(folder, "made")
first = []
def make(number):
    if {looks}:
        open(path, "w").close()
        first.append(number)
threads = [threading.Thread(target=make, args=(each,)) for each in range(2)]
for each in threads: each.start()
for each in threads: each.join()
assert len(first) == 1
"""


@pytest.mark.parametrize("looks", ["not os.path.exists(path)", "not os.listdir(folder)"])
def test_who_looks_before_making_a_file_may_be_too_late(looks: str, tmp_path: Path) -> None:
    assert explored(tmp_path, SOURCE.format(looks=looks), Options(minimise=0)).holds is False


OWN_FILES = """
import os, tempfile, threading
folder = tempfile.mkdtemp()
def save(name):
    with open(os.path.join(folder, name), "w") as file:
        for _ in range(3):
            file.write("x")
            file.flush()
threads = [threading.Thread(target=save, args=(each,)) for each in "ab"]
for each in threads: each.start()
for each in threads: each.join()
assert sorted(os.listdir(folder)) == ["a", "b"]
"""
NAMED_BY_NUMBER = """
import os, tempfile, threading
folder = tempfile.mkdtemp()
winners = []
def take():
    try:
        os.close(os.open(os.path.join(folder, "lock"), os.O_CREAT | os.O_WRONLY{}))
    except FileExistsError:
        return
    winners.append(1)
threads = [threading.Thread(target=take) for _ in range(2)]
for each in threads: each.start()
for each in threads: each.join()
assert len(winners) == 1
"""
COUNTED = """
import os, tempfile, threading
folder = tempfile.mkdtemp()
seen = []
def save(): open(os.path.join(folder, "new"), "w").close()
def look(): seen.append(os.listdir(folder))
threads = [threading.Thread(target=each) for each in (save, look)]
for each in threads: each.start()
for each in threads: each.join()
assert seen == [{}]
"""


def test_who_uses_an_open_file_does_not_see_that_others_are_made(tmp_path: Path) -> None:
    found = explored(tmp_path, OWN_FILES)
    assert found.complete and found.executions <= 4


def test_a_file_is_made_by_one_alone_if_that_is_asked(tmp_path: Path) -> None:
    assert explored(tmp_path, NAMED_BY_NUMBER.format(" | os.O_EXCL")).complete
    assert explored(tmp_path, NAMED_BY_NUMBER.format("")).holds is False


@pytest.mark.parametrize("expected", ["[]", "['new']"])
def test_who_looks_for_names_sees_that_a_file_is_made(expected: str, tmp_path: Path) -> None:
    assert explored(tmp_path, COUNTED.format(expected)).holds is False
