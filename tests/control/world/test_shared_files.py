"""Files, their locks and databases between processes: what really happens is explored, and is decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

HEAD = """\
import fcntl, os, sqlite3, tempfile
from multiprocessing import Process
path = os.path.join(tempfile.mkdtemp(), "it")
def at_a_time(function):
    processes = [Process(target=function, args=(name,)) for name in "ab"]
    for each in processes: each.start()
    for each in processes: each.join()
    assert [each.exitcode for each in processes] == [0, 0]
"""
ADDED = """
with open(path, "w") as file: file.write("0")
def add(name):
    with open(path, "r+") as file:
        {lock}
        number = int(file.read())
        file.seek(0)
        file.write(str(number + 1))
at_a_time(add)
assert open(path).read() == "2"
"""
MADE = """
def make(name):
    {way}
at_a_time(make)
assert len(os.listdir(os.path.dirname(path))) == 2
"""
ROW = """
with sqlite3.connect(path) as base:
    base.execute("create table kept(number)")
    base.execute("insert into kept values (0)")
base.close()
def add(name):
    base = sqlite3.connect(path, timeout=60, isolation_level=None)
    {begin}
    (number,) = base.execute("select number from kept").fetchone()
    base.execute("update kept set number = ?", (number + 1,))
    {end}
    base.close()
at_a_time(add)
assert sqlite3.connect(path).execute("select number from kept").fetchone() == (2,)
"""
WRONG = {
    "a number in a file": ADDED.format(lock="pass"),
    "a lock that only one takes": ADDED.format(lock="name == 'a' and fcntl.flock(file, fcntl.LOCK_EX)"),
    "locks of processes that only one takes": ADDED.format(
        lock="name == 'a' and fcntl.lockf(file, fcntl.LOCK_EX)"
    ),
    "looked for, then made": """
def make(name):
    if not os.path.exists(path):
        with open(path, "a") as file: file.write(name)
at_a_time(make)
assert len(open(path).read()) == 1
""",
    "a row of a database": ROW.format(begin="", end=""),
}
RIGHT = {
    "files of their own": MADE.format(way="open(path + name, 'w').close()"),
    "a transaction": ROW.format(begin="base.execute('begin immediate')", end="base.execute('commit')"),
}
LOCKED = {
    "the lock of a file": ADDED.format(lock="fcntl.flock(file, fcntl.LOCK_EX)"),
    "a lock of a process": ADDED.format(lock="fcntl.lockf(file, fcntl.LOCK_EX)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_goes_wrong_is_found(name: str, tmp_path: Path) -> None:
    assert explored(tmp_path, HEAD + WRONG[name]).holds is False


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.large("a transaction")
def test_what_is_right_is_covered(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + RIGHT[name])
    assert found.complete, (found.failure, found.open)


@pytest.mark.parametrize("name", LOCKED)
def test_who_waits_for_the_lock_of_a_file_lets_others_go_on(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + LOCKED[name])
    assert found.complete, (found.failure, found.open)


def test_what_the_first_process_writes_meets_what_another_reads(tmp_path: Path) -> None:
    source = """
with open(path, "w") as file: file.write("old")
def read(name): assert open(path).read() == "new"
process = Process(target=read, args=("a",))
process.start()
with open(path, "w") as file: file.write("new")
process.join()
"""
    assert explored(tmp_path, HEAD + source).holds is False
