"""Classes of the standard library in Python are as fine as what they keep; one that nobody names is plain."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

KEYS = """
import threading
from collections import UserDict
table = UserDict()
def work(key):
    table[key] = 1
    assert table[key] == 1
threads = [threading.Thread(target=work, args=(key,)) for key in "ab"]
for each in threads: each.start()
for each in threads: each.join()
assert len(table) == 2
"""
NAMED = """
from possibly.control.loading import library
from possibly.control.runtime.places import is_instrumented
import collections
method = collections.UserDict.__getitem__
library.follow_for(compile({text!r}, "program.py", "exec"))
print(is_instrumented(method.__code__))
"""


def test_nothing_is_left_open_by_a_dictionary_in_python(tmp_path: Path) -> None:
    found = explored(tmp_path, KEYS, Options(executions=200, minimise=0))
    assert found.holds is True and not found.open


def test_only_what_is_named_is_instrumented() -> None:
    for text, expected in (("x = 1", "False"), ("def f(): return collections.UserDict()", "True")):
        run = [sys.executable, "-c", NAMED.format(text=text)]
        assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == expected
