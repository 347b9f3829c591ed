"""Code that does the same has one identity, wherever it stands; other code has another."""

from __future__ import annotations

from itertools import combinations
from types import CodeType

from possibly.control.joining.codes import identity


def code(text: str, file: str = "a.py", line: int = 0) -> CodeType:
    return compile("\n" * line + text, file, "exec")


TEXTS = [
    "x = 1", "x = 1.0", "x = True", "x = '1'", "y = 1", "x = (1, 2)", "x = (2, 1)", "x = {1, 2} & {3}",
    "def f(a): return a", "def f(a, b=1): return a", "def f(*a): return a", "def f(a):\n    yield a",
    "def f():\n    def g(): return 1\n    return g", "def f():\n    def g(): return 2\n    return g",
    "try:\n    x\nexcept KeyError: pass", "x = y in {1, 2}", "x = y in {1, 3}",
]  # fmt: skip


def test_the_same_text_is_one_wherever_it_stands() -> None:
    for text in TEXTS:
        assert identity(code(text)) == identity(code(text, "b.py", 7))


def test_other_code_is_another() -> None:
    for one, other in combinations(TEXTS, 2):
        assert identity(code(one)) != identity(code(other)), (one, other)
