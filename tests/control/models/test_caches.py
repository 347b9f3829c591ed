"""Caches of functions: entries commute, what is thrown out and what is counted do not."""

from __future__ import annotations

from pathlib import Path

from tests.control.runtime.running import explored

HEAD = "import functools, threading\n@functools.lru_cache{given}\ndef f(x): return [x]\n"
RUN = """\
ts = [threading.Thread(target=each) for each in ({targets})]
for t in ts: t.start()
for t in ts: t.join()
"""


def test_different_entries_of_a_cache_that_is_never_full_commute(tmp_path: Path) -> None:
    targets = "lambda: (f(1), f(1)), lambda: (f(2), f(2)), lambda: (f(3), f(3))"
    found = explored(tmp_path, HEAD.format(given="") + RUN.format(targets=targets) + "assert f(1) == [1]\n")
    assert found.complete and found.holds and found.executions == 1


def test_who_looked_up_last_counts_where_something_is_thrown_out(tmp_path: Path) -> None:
    source = HEAD.format(given="(maxsize=2)") + "kept = f(1); f(2)\n"
    source += RUN.format(targets="lambda: f(1), lambda: f(3)") + "assert f(1) is kept\n"
    assert explored(tmp_path, source).holds is False


def test_hits_are_counted(tmp_path: Path) -> None:
    source = HEAD.format(given="") + "f(1); seen = []\n"
    source += RUN.format(targets="lambda: f(1), lambda: seen.append(f.cache_info().hits)")
    assert explored(tmp_path, source + "assert seen == [1]\n").holds is False
