"""sqlite3 under control: statements are steps, and whoever finds a database locked waits for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore

BANK = """
import os, sqlite3, tempfile, threading
path = os.path.join(tempfile.mkdtemp(), "bank.db")
with sqlite3.connect(path) as setup:
    setup.execute("create table account (balance integer)")
    setup.execute("insert into account values (100)")
setup.close()
def withdraw(amount):
    db = sqlite3.connect(path, isolation_level=None, timeout=30)
    {0}
    db.close()
threads = [threading.Thread(target=withdraw, args=(amount,)) for amount in (10, 20)]
for each in threads: each.start()
for each in threads: each.join()
with sqlite3.connect(path) as final:
    assert [row for row in final.execute("select balance from account")] == [(70,)]
"""
APART = """(balance,) = db.execute("select balance from account").fetchone()
    db.execute("update account set balance = ?", (balance - amount,))"""
AT_ONCE = """db.execute("update account set balance = balance - ?", (amount,))"""
LOCKED = """db.execute("begin immediate")
    balance = db.cursor().execute("select balance from account").fetchall()[0][0]
    db.executemany("update account set balance = ?", [(balance - amount,)])
    db.commit()"""
UPGRADED = LOCKED.replace("begin immediate", "begin")


def explored(tmp_path: Path, body: str) -> Exploration:
    path = tmp_path / "program.py"
    path.write_text(BANK.format(body))
    with script((str(path),)) as program:
        return explore(program, Options(executions=300, minimise=0))


def test_an_update_between_two_statements_is_lost(tmp_path: Path) -> None:
    found = explored(tmp_path, APART)
    assert found.failure is not None and found.failure.kind == "assertion"


@pytest.mark.parametrize("body", [AT_ONCE, LOCKED])
def test_what_the_database_does_at_once_or_under_its_lock_is_not(tmp_path: Path, body: str) -> None:
    found = explored(tmp_path, body)
    assert found.holds is True, found.open or found.failure


def test_two_readers_who_both_want_to_write_find_the_database_locked(tmp_path: Path) -> None:
    found = explored(tmp_path, UPGRADED)
    assert found.failure is not None and "locked" in found.failure.message


SHARED = """
import sqlite3, threading
db = sqlite3.connect(":memory:", check_same_thread=False)
db.execute("create table entry (text)")
before, seen = db.total_changes, []
def add(): db.execute("insert into entry values ('x')")
def look(): seen.append({0})
threads = [threading.Thread(target=each) for each in (add, look)]
for each in threads: each.start()
for each in threads: each.join()
assert not seen[0]
"""


@pytest.mark.parametrize("read", ["db.total_changes - before", "db.in_transaction"])
def test_what_a_connection_tells_of_itself_is_read(tmp_path: Path, read: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(SHARED.format(read))
    with script((str(path),)) as program:
        found = explore(program, Options(executions=50, minimise=0))
    assert found.failure is not None and found.failure.kind == "assertion"


IN_MEMORY = """
import sqlite3, threading
path = "file:bank?mode=memory&cache=shared"
setup = sqlite3.connect(path, uri=True, isolation_level=None)
setup.execute("create table account (balance integer)")
setup.execute("insert into account values (100)")
def withdraw(amount):
    db = sqlite3.connect({0}, isolation_level=None, timeout=30)
    {1}
    db.close()
threads = [threading.Thread(target=withdraw, args=(amount,)) for amount in (10, 20)]
for each in threads: each.start()
for each in threads: each.join()
assert setup.execute("select balance from account").fetchone() == (70,)
"""
OWN = "create table account (balance integer)"


@pytest.mark.parametrize(
    ("place", "body", "kind"),
    [("path, uri=True", APART, "assertion"), ("path, uri=True", LOCKED, "exception")],
    ids=["a lost update", "a table that is locked is told at once"],
)
def test_connections_share_a_database_in_memory_if_they_say_so(
    tmp_path: Path, place: str, body: str, kind: str
) -> None:
    path = tmp_path / "program.py"
    path.write_text(IN_MEMORY.format(place, body))
    with script((str(path),)) as program:
        found = explore(program, Options(executions=300, minimise=0))
    assert found.failure is not None and found.failure.kind == kind


def test_databases_in_memory_are_each_connections_own_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    body = f'db.execute("{OWN}")\n    setup.execute("update account set balance = balance - ?", (amount,))'
    source = IN_MEMORY.format('":memory:"', body).replace("uri=True, ", "uri=True, check_same_thread=False, ")
    path.write_text(source)
    with script((str(path),)) as program:
        assert explore(program, Options(executions=300, minimise=0)).holds is True
