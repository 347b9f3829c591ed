"""Labels: comments `#: m2` at the end of a line, which name what happens there.

A label goes to the event of a watched assignment on its line, else to an event of its own: after a simple
statement, or when the condition of an `if` or `while` has been evaluated. A comment is nothing that a code
object knows of, so this is what is left for the source: a call `_possibly_mark(site)` for each label that no
assignment has claimed.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable
from typing import Any

_LABEL = re.compile(r"#:\s*([\w.-]+)")
MARK = "_possibly_mark"
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_BINDING = (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)


def labels_of(source: str) -> dict[int, str]:
    """Line numbers with their labels."""
    if "#:" not in source:
        return {}
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (match := _LABEL.match(token.string)):
            found[token.start[0]] = match[1]
    return found


class Labels:
    """The labels of one file, and which of them assignments have claimed."""

    def __init__(self, found: dict[int, str] | None = None, tree: ast.Module | None = None) -> None:
        self._labels = found or {}
        self._claimed: set[int] = set()
        self._lines: dict[int, int] = {}
        """Lines of statements -> the line of their label."""
        for node in ast.walk(tree) if tree is not None and found else ():
            self._look_at(node)

    def _look_at(self, node: ast.AST) -> None:
        if isinstance(node, ast.For | ast.AsyncFor):
            lines, label = range(node.target.lineno, (node.target.end_lineno or 0) + 1), node.lineno
        elif isinstance(node, ast.stmt) and not is_compound(node):
            end = node.end_lineno or node.lineno
            lines, label = range(node.lineno, end + 1), end
        else:
            return
        if label in self._labels:
            self._lines |= dict.fromkeys(lines, label)

    def line_of(self, line: int | None) -> int | None:
        """The line of the label for an assignment on that line, if there is one."""
        return self._lines.get(line) if line is not None else None

    def claimed(self, line: int) -> str:
        """The label, which needs no mark then."""
        self._claimed.add(line)
        return self._labels[line]

    def unclaimed(self) -> dict[int, str]:
        """Labels that need a mark."""
        return {line: label for line, label in self._labels.items() if line not in self._claimed}

    def conditions(self, tree: ast.Module) -> dict[int, str]:
        """Labels of the conditions of compound statements, which always have an event of their own."""
        lines = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.If | ast.While)}
        return {line: label for line, label in self._labels.items() if line in lines}


def is_compound(node: ast.AST) -> bool:
    """Whether statements stand in it."""
    return hasattr(node, "body") or isinstance(node, ast.Match)


class Marking(ast.NodeTransformer):
    """Puts a mark for each of these labels."""

    def __init__(self, labels: Labels, tree: ast.Module, site: Callable[[int, str], int]) -> None:
        self._plain = labels.unclaimed()
        self._conditions = labels.conditions(tree)
        self._site = site
        self.has_marked = False

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                setattr(node, name, [new for each in inner for new in self._statement(each)])
        for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self.generic_visit(each)
        return node

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if is_compound(node):
            self.generic_visit(node)
            self._mark_compound(node)
            return [node]
        label = self._plain.get(node.end_lineno or node.lineno)
        if label is None:
            return [node]
        mark = ast.copy_location(ast.Expr(self._mark(node, node.lineno, label)), node)
        return [mark, node] if isinstance(node, _ENDS) else [node, mark]

    def _mark_compound(self, node: Any) -> None:
        if isinstance(node, ast.If | ast.While) and node.lineno in self._conditions:
            mark = self._mark(node.test, node.lineno, self._conditions[node.lineno])
            pair = ast.Tuple([node.test, mark], ast.Load())
            node.test = _located(ast.Subscript(pair, ast.Constant(0), ast.Load()), node.test)
        elif isinstance(node, _BINDING) and node.lineno in self._plain:
            mark = self._mark(node, node.lineno, self._plain[node.lineno])
            node.body.insert(0, ast.copy_location(ast.Expr(mark), node))

    def _mark(self, near: ast.AST, line: int, label: str) -> ast.expr:
        self.has_marked = True
        site = ast.Constant(self._site(line, label))
        return _located(ast.Call(ast.Name(MARK, ast.Load()), [site], []), near)


def _located(node: ast.expr, near: ast.AST) -> ast.expr:
    """Gives every new node the place of what it was made for."""
    for each in ast.walk(node):
        if not hasattr(each, "lineno") and "lineno" in each._attributes:
            ast.copy_location(each, near)
    return node
