"""Flow graphs of a live program, from its source: the statements of the function in which a task stands.

A statement is a shape, known by its line; what a loop or a branch asks is one with two ways on. An exception
is followed from the `try` to its handlers, not from each statement that may raise it.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Mapping, Sequence

from possibly.control.temporal.model_system import ModelSystem
from possibly.session.debugging.temporal import Debugger, standing
from possibly.trace.place import place_in
from possibly.views.export.arcs import Arc, Graph, Shape
from possibly.views.export.flowgraph import flow_graphs

LONGEST = 60
END = "end"
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
Ends = list[tuple[str, str]]
"""Where a way on is still open: the statement, and what it answered."""


def source_graphs(places: Mapping[str, str], read: Mapping[str, str]) -> list[Graph]:
    """One for each task that stands somewhere: `places` are theirs, `read` is the text of each file."""
    found = []
    for task, place in places.items():
        file, line = place_in(place)
        tree = _parsed(read.get(file, ""))
        if tree is not None and line:
            found.append(_Flow(_function_at(tree, line), read[file].splitlines(), task, line).graph)
    return found


def graphs_here(debugger: Debugger, only: str | None = None) -> list[Graph]:
    """The flow graphs of the processes, of a model or of a program that runs, marked where each stands."""
    system, state = debugger.system, debugger.stack.state
    if isinstance(system, ModelSystem):
        return flow_graphs(system.model, state, only)
    places = {task: at for task, at in standing(system, state).items() if only in (None, task)}
    files = {place_in(at).file for at in places.values()}
    return source_graphs(places, {file: "".join(linecache.getlines(file)) for file in files})


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text) if text else None
    except (SyntaxError, ValueError, RecursionError):
        return None


def _function_at(tree: ast.Module, line: int) -> Function:
    """The innermost function with that line; else the module."""
    found: Function = tree
    for node in ast.walk(tree):  # outer ones come first
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first < line <= (node.end_lineno or line) or (node.lineno == line == node.end_lineno):
                found = node
    return found


class _Flow:
    def __init__(self, function: Function, lines: Sequence[str], task: str, line: int) -> None:
        self.lines = lines
        name = "the module" if isinstance(function, ast.Module) else function.name
        self.graph = Graph(f"{task} in {name}")
        self.line = line
        self._loops: list[tuple[str, Ends]] = []
        self.graph.shapes.append(Shape("begin", ("begin",), "plain"))
        self._reach(END, self._wired(function.body, [("begin", "")]))
        if any(arc.second == END for arc in self.graph.arcs):
            self.graph.shapes.append(Shape(END, (END,), "plain"))
        self.graph.arcs = list(dict.fromkeys(self.graph.arcs))

    def _reach(self, name: str, ends: Iterable[tuple[str, str]]) -> None:
        self.graph.arcs += [Arc(before, name, answer) for before, answer in ends]

    def _wired(self, statements: Sequence[ast.stmt], ends: Ends) -> Ends:
        for statement in statements:
            ends = self._one(statement, ends)
        return ends

    def _one(self, statement: ast.stmt, ends: Ends) -> Ends:
        name = self._shaped(statement, ends)
        match statement:
            case ast.If():
                yes = self._wired(statement.body, [(name, "true")])
                return yes + self._wired(statement.orelse, [(name, "false")])
            case ast.While() | ast.For() | ast.AsyncFor():
                return self._loop(statement, name)
            case ast.With() | ast.AsyncWith():
                return self._wired(statement.body, [(name, "")])
            case ast.Try() | ast.TryStar():
                return self._tried(statement, name)
            case ast.Match():
                cases = [self._wired(each.body, [(name, "case")]) for each in statement.cases]
                return [end for each in cases for end in each] + [(name, "no case")]
            case ast.Return() | ast.Raise():
                self._reach(END, [(name, "")])
                return []
            case ast.Break() | ast.Continue() if self._loops:
                test, broken = self._loops[-1]
                if isinstance(statement, ast.Break):
                    broken.append((name, ""))
                else:
                    self._reach(test, [(name, "")])
                return []
        return [(name, "")]

    def _loop(self, statement: ast.While | ast.For | ast.AsyncFor, name: str) -> Ends:
        broken: Ends = []
        self._loops.append((name, broken))
        self._reach(name, self._wired(statement.body, [(name, "true")]))
        self._loops.pop()
        is_endless = isinstance(statement, ast.While) and _is_true(statement.test)
        return broken if is_endless else self._wired(statement.orelse, [(name, "false")]) + broken

    def _tried(self, statement: ast.Try | ast.TryStar, name: str) -> Ends:
        found = self._wired([*statement.body, *statement.orelse], [(name, "")])
        for handler in statement.handlers:
            caught = self._shaped(handler, [(name, "raises")])
            found += self._wired(handler.body, [(caught, "")])
        return self._wired(statement.finalbody, found)

    def _shaped(self, statement: ast.stmt | ast.excepthandler, ends: Ends) -> str:
        name = f"n{statement.lineno}.{statement.col_offset}"
        asks = isinstance(statement, ast.If | ast.While | ast.For | ast.AsyncFor | ast.Match)
        text = self.lines[statement.lineno - 1].strip()
        text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
        here = statement.lineno <= self.line <= _last_line(statement)
        self.graph.shapes.append(
            Shape(name, (f"{statement.lineno}: {text}",), "test" if asks else "box", here)
        )
        self._reach(name, ends)
        return name


def _is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _last_line(statement: ast.stmt | ast.excepthandler) -> int:
    """Of the statement itself, without what is nested in it."""
    last = statement.end_lineno or statement.lineno
    if isinstance(statement, ast.Match):
        return statement.lineno
    body = getattr(statement, "body", None)
    return max(statement.lineno, body[0].lineno - 1) if body else last
