"""`sqlite3` under control: each statement is a step, and a database that is locked is waited for.

A statement that only asks reads the database, any other one writes it, and so does the end of a transaction.
A database is known by its file; one in memory belongs to its connection. SQLite itself waits for a lock by
sleeping, which nobody else could end here: it is asked not to wait, and who finds the database locked waits
as for any other thing, until somebody has written it or the time-out of the connection is over.

What differs from the real thing: all rows are fetched with their statement, so that it does not keep the
database locked until they are; and a time-out passes in virtual time.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections import deque
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from possibly.control.models.files import DATABASE, stable
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import reading, touching, writing
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.known_calls import ADAPTERS
from possibly.control.runtime.places import place_of
from possibly.control.world.processes import channel
from possibly.probes.patching import Patches

ASKING = ("select", "explain", "values")
"""How statements begin that change nothing."""
LOCKED = ("database is locked", "busy")
"""What a connection waits out; that a table in a shared cache is locked is told at once."""
LONGEST = 5.0
"""Seconds that a connection waits for a lock unless told otherwise."""
_plain_connect: Any = sqlite3.connect


def install(patches: Patches) -> None:
    patches.put(sqlite3, "connect", connect)
    patches.put(sqlite3.dbapi2, "connect", connect)


def connect(database: Any, timeout: float = LONGEST, *given: Any, **options: Any) -> Any:
    """A connection under control, unless the program has a class of its own for it."""
    if running.kernel is None or len(given) > 4 or "factory" in options:
        return _plain(database, timeout, given, options)
    made = _plain(database, 0.0, given, {**options, "factory": Connection})
    made.possibly_name, made.possibly_patience = _name_of(database), timeout
    return made


def _plain(database: Any, timeout: float, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Positions other than the first are deprecated from 3.12 on: a warning is the program's, if at all."""
    if given:
        return _plain_connect(database, timeout, *given, **options)
    return _plain_connect(database, timeout=timeout, **options)


def _name_of(database: Any) -> str:
    """How the database is called among things: one in memory is a connection's own, unless it is shared."""
    path = os.fsdecode(database) if isinstance(database, bytes | os.PathLike) else str(database)
    place, _, options = (
        path.removeprefix("file:").partition("?") if path.startswith("file:") else (path, "", "")
    )
    in_memory = place in (":memory:", "") or "mode=memory" in options
    if in_memory and "cache=shared" not in options:
        own = name_for("database")
        if running.kernel is not None:
            running.kernel.labels.setdefault(own, "the database in memory")
        return own
    kernel = running.kernel
    name = f"{DATABASE}{place if in_memory else stable(place)}"
    if kernel is not None:
        kernel.labels.setdefault(name, f"the database {os.path.basename(place)}")
    return name


class Cursor(sqlite3.Cursor):
    """Whose statements are steps, and whose rows are all fetched in the step of their statement."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._rows: deque[Any] = deque()
        self._cursor_name = name_for("cursor")

    def _use(self, writes: bool = True) -> None:
        """What it has fetched is changed: a choice point where several tasks have the cursor."""
        now = accesses.active()
        if now is not None:
            name = self._cursor_name
            now[1].access(now[0], name, name, touching(name, writes), place_of(sys._getframe()))

    def _begin(self) -> None:
        """A statement is about to be executed: others may change what becomes of objects and columns."""
        self._use()
        now = accesses.active()
        if now is not None:
            at = place_of(sys._getframe())
            now[1].access(now[0], ADAPTERS, ADAPTERS, reading(ADAPTERS), at)

    @property
    def possibly_name(self) -> str:
        return str(getattr(self.connection, "possibly_name", ""))

    def execute(self, sql: str, *given: Any) -> Any:
        self._begin()
        kind = "query" if sql.lstrip(" \t\r\n(").lower().startswith(ASKING) else "update"
        run = super().execute
        return _done(self.connection, kind, lambda: self._fetched(run, sql, *given), self._cursor_name)

    def executemany(self, sql: str, *given: Any) -> Any:
        self._begin()
        if given and type(given[0]) not in (list, tuple):
            given = (_one_by_one(self.connection, given[0]), *given[1:])
        run = super().executemany
        return _done(self.connection, "update", lambda: self._fetched(run, sql, *given), self._cursor_name)

    def executescript(self, script: str) -> Any:
        return _done(self.connection, "update", lambda: super(Cursor, self).executescript(script))

    def _fetched(self, run: Callable[..., Any], *given: Any) -> Any:
        self._rows = deque()
        run(*given)
        if super().description is not None:
            self._rows = deque(super().fetchall())
        return self

    @property
    def description(self) -> Any:
        self._use(writes=False)
        return super().description

    @property
    def lastrowid(self) -> int | None:
        self._use(writes=False)
        return super().lastrowid

    @property
    def rowcount(self) -> int:
        self._use(writes=False)
        return super().rowcount

    def close(self) -> None:
        self._use()
        super().close()
        self._rows.clear()

    def fetchone(self) -> Any:
        self._use()
        return self._rows.popleft() if self._rows else None

    def fetchmany(self, size: int | None = None) -> list[Any]:
        self._use()
        wanted = min(self.arraysize if size is None else size, len(self._rows))
        return [self._rows.popleft() for _ in range(wanted)]

    def fetchall(self) -> list[Any]:
        return self.fetchmany(len(self._rows))

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        self._use()
        if not self._rows:
            raise StopIteration
        return self._rows.popleft()


class Connection(sqlite3.Connection):
    """Whose transactions end in steps."""

    possibly_name = ""
    possibly_patience = LONGEST

    def cursor(self, factory: Any = Cursor) -> Any:
        return super().cursor(factory)

    def execute(self, sql: str, *given: Any) -> Any:
        return self.cursor().execute(sql, *given)

    def executemany(self, sql: str, *given: Any) -> Any:
        return self.cursor().executemany(sql, *given)

    def executescript(self, script: str) -> Any:
        return self.cursor().executescript(script)

    def commit(self) -> None:
        _done(self, "commit", super().commit)

    def rollback(self) -> None:
        _done(self, "rollback", super().rollback)

    def close(self) -> None:
        _done(self, "close", super().close)

    @property
    def total_changes(self) -> int:
        return int(_done(self, "query", lambda: super(Connection, self).total_changes))

    @property
    def in_transaction(self) -> bool:
        return bool(_done(self, "query", lambda: super(Connection, self).in_transaction))

    def __exit__(self, kind: Any, value: Any, trace: Any) -> Any:
        if kind is None:
            self.commit()
        else:
            self.rollback()
        return False


def _as_update(method: str) -> Any:
    """What a connection is told to do in queries is a part of the database for whoever has it."""

    def told(self: Connection, *given: Any, **options: Any) -> Any:
        plain = getattr(sqlite3.Connection, method)
        return _done(self, "update", lambda: plain(self, *given, **options))

    return wraps(getattr(sqlite3.Connection, method))(told)


TELLING = (
    "create_aggregate create_collation create_function create_window_function set_authorizer "
    "set_progress_handler set_trace_callback setlimit deserialize".split()
)
"""Methods by which a connection is told what queries do."""
for _method in TELLING:
    if hasattr(sqlite3.Connection, _method):
        setattr(Connection, _method, _as_update(_method))


def _done(connection: Any, kind: str, run: Callable[[], Any], cursor: str = "") -> Any:
    """Does it as a step; as often as it takes until nobody else has the database locked."""
    kernel, name = running.kernel, getattr(connection, "possibly_name", "")
    if kernel is None or kernel.quiet or not name:
        return run()
    used = writing(cursor) if cursor else ()
    kernel.visible(kind, name, (*touching(name, kind != "query"), *used, *reading(ADAPTERS)))
    end = kernel.current.time + connection.possibly_patience
    while True:
        try:
            return run()
        except sqlite3.OperationalError as error:
            kernel.did((*reading(name), *used))
            left = end - kernel.current.time
            if not any(word in str(error) for word in LOCKED) or not _waited(kernel, name, left):
                raise


def _one_by_one(connection: Any, rows: Any) -> Iterator[Any]:
    """Rows that code of the program makes: others may use the database before each of them is put in."""
    kernel, name = running.kernel, getattr(connection, "possibly_name", "")
    for row in rows:
        if kernel is not None and not kernel.quiet and name:
            kernel.visible("update", name, (*writing(name), *reading(ADAPTERS)))
        yield row


def _waited(kernel: Kernel, name: str, left: float) -> bool:
    """Whether somebody has written the database before the time was over."""
    if channel.upward is not None:
        return left > 0 and bool(channel.ask("change", name, left))
    kernel.flush()
    before = kernel.versions.get(name, 0)
    footprint = writing(name)

    def changed() -> bool:
        return kernel.versions.get(name, 0) != before

    return left > 0 and kernel.visible("retry", name, footprint, None, changed, left)


def wait_for_change(name: str, left: float) -> bool:
    """The same, for a process that has found it locked just now."""
    kernel = running.kernel
    return kernel is None or _waited(kernel, name, left)
