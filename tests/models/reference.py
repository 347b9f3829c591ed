"""Model files executed by Python itself: what a model means, without a flow graph or a packed state.

Each function of a model becomes a generator that stops before every statement and every test, exactly where
a flow graph has a node; `wait` stops with its condition. A run is a list of choices of processes, executed
from the start. Only texts that the tests generate are executed so.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Guard = Callable[[], bool]
Generator = Iterator[Guard | None]

ERRORS = (IndexError, ZeroDivisionError, AssertionError, TypeError, NameError)
STOP = ast.parse("yield None").body[0]


class Insert(ast.NodeTransformer):
    """Puts a stop before each statement and test; calls of helpers become `yield from`."""

    def __init__(self, helpers: set[str]) -> None:
        self.helpers = helpers
        self.atomic = False

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [made for statement in body for made in self.statement(statement)]

    def stop(self) -> list[ast.stmt]:
        return [] if self.atomic else [STOP]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Global() | ast.Break() | ast.Continue():
                return [node]
            case ast.Expr(ast.Call(ast.Name("wait"), [condition])):
                return [ast.parse(f"yield (lambda: {ast.unparse(condition)})").body[0]]
            case ast.If(test, body, otherwise):
                return [*self.stop(), ast.If(test, self.block(body), self.block(otherwise))]
            case ast.While(ast.Constant(True), body):
                return [ast.While(ast.Constant(True), self.block(body), [])]
            case ast.While(test, body):
                leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
                return [ast.While(ast.Constant(True), [*self.stop(), leave, *self.block(body)], [])]
            case ast.For(target, over, body):
                return [*self.stop(), ast.For(target, over, [*self.block(body), *self.stop()], [])]
            case ast.With(_, body):
                self.atomic = True
                inside = self.block(body)
                self.atomic = False
                return [STOP, *inside]
            case ast.Assign(targets, ast.Call(ast.Name(name)) as call) if name in self.helpers:
                return [ast.Assign(targets, ast.YieldFrom(call), lineno=1)]
            case ast.Expr(ast.Call(ast.Name(name)) as call) if name in self.helpers:
                return [ast.Expr(ast.YieldFrom(call))]
        return [*self.stop(), node]


class Reference:
    """One run from the start; a new one is made for every schedule."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)
        functions = [part for part in tree.body if isinstance(part, ast.FunctionDef)]
        helpers = {part.name for part in functions if not part.decorator_list}
        insert = Insert(helpers)
        for function in functions:
            function.decorator_list = []
            # A generator needs a yield, and the first stop is where the process begins.
            function.body = [*insert.block(function.body), ast.If(ast.Constant(False), [STOP], [])]
        self.variables: dict[str, Any] = {}
        exec(compile(ast.fix_missing_locations(tree), "<model>", "exec"), self.variables)  # noqa: S102
        self.processes: dict[str, Generator] = {
            part.name: self.variables[part.name]() for part in functions if part.name not in helpers
        }
        self.guards: dict[str, Guard | None] = {}
        self.ended: set[str] = set()
        self.failed: set[str] = set()
        for name in self.processes:
            self._advance(name)

    def _advance(self, name: str) -> None:
        try:
            self.guards[name] = next(self.processes[name])
        except StopIteration:
            self.ended.add(name)
        except ERRORS:
            self.failed.add(name)

    def enabled(self) -> set[str]:
        live = set(self.processes) - self.ended - self.failed
        return {name for name in live if self._passes(name) is not False}

    def _passes(self, name: str) -> bool | None:
        """Whether the wait lets it go on; None: its condition fails."""
        guard = self.guards[name]
        try:
            return guard is None or bool(guard())
        except ERRORS:
            return None

    def step(self, name: str) -> None:
        if self._passes(name) is None:
            self.failed.add(name)
        else:
            self._advance(name)

    def shared(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: self.variables[name] for name in names}
