"""Which programs show in their source that their threads do the same."""

from __future__ import annotations

import ast

import pytest

from possibly.control.joining.same_source import is_alike_in

PROGRAM = """
import threading
lock = threading.Lock()
n = 0
log = []
def work(i):
    global n
    with lock:
        n += 1
    for _ in range(3):
        log.append(n)
ts = [threading.Thread(target=work, args=(0,)) for i in range(3)]
for t in ts: t.start()
for t in ts: t.join()
assert n == 3
"""


def test_threads_of_one_function_with_constants_are_alike() -> None:
    assert is_alike_in(ast.parse(PROGRAM))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("args=(0,)", "args=(i,)"),
        ("args=(0,)", "args=(0,), name='a'"),
        ("target=work", "target=lambda: 0"),
        ("assert n == 3", "print(ts)"),
        ("assert n == 3", "print(t)"),
        ("assert n == 3", "print(threading.active_count())"),
        ("assert n == 3", "import logging"),
        ("for t in ts: t.join()", "for t in ts: t.join(1)"),
        ("for t in ts: t.join()", "for t in reversed(ts): t.join()"),
        ("for t in ts: t.start()", "for t in ts: t.start(); t.join()"),
        ("n += 1", "n = threading.get_ident()"),
        ("n += 1", "n = id(lock)"),
        ("n += 1", "n = [i]"),
        ("n += 1", "n = n is i"),
        ("n += 1", "n = lock._owner"),
        ("n += 1", "global t; n = t"),
        ("log = []", "log = []; range = list"),
        ("log = []", "class O: pass"),
        ("def work(i):", "def work(i=[]):"),
    ],
)
def test_whatever_may_tell_them_apart_counts(old: str, new: str) -> None:
    assert old in PROGRAM
    assert not is_alike_in(ast.parse(PROGRAM.replace(old, new, 1)))
