"""Telling that ends when it becomes too much: what nobody asked for must not make a program slow.

Each word that is told unasked has a switch, a builtin like `_possibly_live_3`; the recorder turns it off for
good. A switch is read without a call, so an access and its entry stay neighbours in the bytecode.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from copy import deepcopy

from possibly.probes.rewriting import trees


def switch_name(number: int) -> str:
    """The builtin that is the switch of the word with this number."""
    return f"_possibly_live_{number}"


class Switches:
    """The switches of these words; all other words are always told."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self._numbers = {word: number for number, word in enumerate(words)}

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def has(self, variable: str) -> bool:
        return _word(variable) in self._numbers

    def any_of(self, variables: Iterable[str]) -> ast.expr | None:
        """Whether one of them is to be told; None: one is always told, or there is none."""
        words = sorted({_word(each) for each in variables})
        if not words or not all(word in self._numbers for word in words):
            return None
        tests: list[ast.expr] = [self._switch(word) for word in words]
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)

    def _switch(self, word: str) -> ast.expr:
        return trees.load(switch_name(self._numbers[word]))

    def told(self, read: ast.expr, log: ast.expr, variable: str) -> ast.expr:
        """The value that is read, with what is told of it right behind."""
        test = self.any_of([variable])
        if test is None:
            return trees.pick([read, log], 0)
        if _is_short(read):
            return ast.IfExp(test, trees.pick([read, log], 0), deepcopy(read))
        return trees.pick([read, ast.IfExp(test, log, ast.Constant(None))], 0)


def _word(variable: str) -> str:
    """The last word of a variable's name."""
    return variable.rpartition(".")[2]


def _is_short(read: ast.expr) -> bool:
    """Whether it may stand there twice: a name, or an attribute of one."""
    return isinstance(read, ast.Name) or (
        isinstance(read, ast.Attribute) and isinstance(read.value, ast.Name)
    )
