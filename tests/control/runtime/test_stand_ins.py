"""Models are what they stand for, also to those who look closer than the documentation says."""

from __future__ import annotations

from pathlib import Path

from tests.control.runtime.running import once

LOOKED_AT = """\
import functools, sqlite3, threading
from multiprocessing import shared_memory
print(sqlite3.connect(":memory:").execute("select 1").fetchall())
lock, plain = threading.RLock(), threading.Lock()
with lock, lock:
    print(lock._recursion_count(), type(lock).__module__, type(plain).__module__)
    depth = lock._release_save()
    print(lock._recursion_count(), depth)
    lock._acquire_restore(depth)
    print(lock._recursion_count())
print(lock._recursion_count(), plain.acquire_lock(), plain.locked_lock(), plain.release_lock())
remembered = functools.lru_cache(functools.partial(int, "3"))
print(remembered(), remembered(), remembered.cache_info().hits)
"""


def test_locks_and_caches_have_what_libraries_ask_for(tmp_path: Path) -> None:
    execution = once(tmp_path, LOOKED_AT)
    assert execution.failure is None
    shown = execution.output.decode().splitlines()
    assert shown == ["[(1,)]", "2 _thread _thread", "0 2", "2", "0 True True None", "3 3 1"]
