"""What stands around a line of the user's source: the statements that it is in, as its syntax says."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from possibly.trace.place import place_in


class Span(NamedTuple):
    """A statement and the first and last line of it."""

    node: ast.AST
    first: int
    last: int


def _spans(file: str) -> tuple[Span, ...]:
    linecache.checkcache(file)  # a program may be edited while we live
    return _spans_of("".join(linecache.getlines(file)))


@lru_cache(maxsize=32)
def _spans_of(text: str) -> tuple[Span, ...]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return tuple(Span(node, node.lineno, node.end_lineno or node.lineno) for node in nodes)


def around(at: str) -> list[ast.stmt]:
    """The statements that a line is in, from the outermost to the innermost."""
    file, line = place_in(at)
    found = [span for span in _spans(file) if span.first <= line <= span.last]
    found.sort(key=lambda span: (span.first, -span.last))
    return [span.node for span in found if isinstance(span.node, ast.stmt)]


def is_test(at: str) -> bool:
    """Whether a line asks a question on which something depends."""
    line = place_in(at).line
    tests = (node.test for node in around(at) if isinstance(node, ast.If | ast.While))
    return any(test.lineno <= line <= (test.end_lineno or test.lineno) for test in tests)


def test_around(at: str) -> ast.If | ast.While | None:
    """The innermost `if` or `while` whose body a line is in."""
    line = place_in(at).line
    nodes = [node for node in around(at) if isinstance(node, ast.If | ast.While)]
    return next((node for node in reversed(nodes) if node.lineno < line), None)


def decides_on(test: str, act: str) -> bool:
    """Whether one line is the question of an `if` or `while` in whose body the other one is."""
    file, asked = place_in(test)
    if place_in(act).file != file:
        return False
    nodes = [node for node in around(act) if isinstance(node, ast.If | ast.While)]
    bodies = [node for node in nodes if node.body[0].lineno <= place_in(act).line]
    return any(node.test.lineno <= asked <= (node.test.end_lineno or node.test.lineno) for node in bodies)


def iterated_at(at: str) -> str:
    """What the loop that begins on a line goes through."""
    line = place_in(at).line
    loops = [node for node in around(at) if isinstance(node, ast.For) and node.lineno == line]
    return ast.unparse(loops[-1].iter) if loops else ""


def function_of(at: str) -> str:
    functions = [each for each in around(at) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    return functions[-1].name if functions else ""


def is_async(at: str) -> bool:
    functions = [each for each in around(at) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    return bool(functions) and isinstance(functions[-1], ast.AsyncFunctionDef)


def loop_of(at: str) -> str:
    """The library of event loops that a file uses: `asyncio` if nothing else is said."""
    spans = _spans(place_in(at).file)
    imported = [span.node for span in spans if isinstance(span.node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imported for alias in node.names} | {
        node.module for node in imported if isinstance(node, ast.ImportFrom)
    }
    return next((name for name in ("asyncio", "trio", "anyio") if name in names), "asyncio")


def is_tidied_up(at: str) -> bool:
    """Whether something is done whatever happens at a line: a `finally`, a handler, a `with` around it."""
    inside = around(at)
    return any(isinstance(each, ast.Try | ast.With | ast.AsyncWith) for each in inside)


def calls_at(at: str) -> Iterator[ast.Call]:
    """The calls that a line makes, the innermost statement's alone."""
    line = place_in(at).line
    nodes = around(at)
    if nodes:
        for node in ast.walk(nodes[-1]):
            if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno):
                yield node


def methods_at(at: str) -> set[str]:
    """The names of the methods that a line calls."""
    return {call.func.attr for call in calls_at(at) if isinstance(call.func, ast.Attribute)}


def names_called_at(at: str) -> set[str]:
    """What a line calls, by the last word of it: functions, classes and methods."""
    called = [ast.unparse(call.func) for call in calls_at(at)]
    return {name.rpartition(".")[2] for name in called}


def called_after(at: str, name: str) -> str:
    """Where the function that a line is in calls another one, on that line or behind it."""
    file, line = place_in(at)
    functions = [each for each in around(at) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not functions or not name:
        return ""
    calls = [node for node in ast.walk(functions[-1]) if isinstance(node, ast.Call) and node.lineno >= line]
    lines = [call.lineno for call in calls if ast.unparse(call.func).rpartition(".")[2] == name]
    return f"{file}:{min(lines)}" if lines else ""


def is_entered_at(at: str) -> bool:
    """Whether a line is a `with` of something that was there before: at its end that is closed."""
    line = place_in(at).line
    blocks = [node for node in around(at) if isinstance(node, ast.With | ast.AsyncWith)]
    items = [item.context_expr for node in blocks if node.lineno == line for item in node.items]
    return any(isinstance(item, ast.Name | ast.Attribute) for item in items)


def changed_around(at: str) -> tuple[int, int] | None:
    """The last line before and the first behind a line at which its function changes what it shares."""
    functions = [each for each in around(at) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not functions:
        return None
    shared = {name for node in ast.walk(functions[-1]) if isinstance(node, ast.Global) for name in node.names}
    nodes = [node for node in ast.walk(functions[-1]) if isinstance(node, ast.Assign | ast.AugAssign)]
    lines = sorted(node.lineno for node in nodes if any(_is_shared(each, shared) for each in _targets(node)))
    here = place_in(at).line
    before, behind = [line for line in lines if line < here], [line for line in lines if line > here]
    return (before[-1], behind[0]) if before and behind else None


def _targets(node: ast.Assign | ast.AugAssign) -> list[ast.expr]:
    return list(node.targets) if isinstance(node, ast.Assign) else [node.target]


def _is_shared(target: ast.expr, names: set[str]) -> bool:
    is_part = isinstance(target, ast.Attribute | ast.Subscript)
    return is_part or (isinstance(target, ast.Name) and target.id in names)


def plain_pops(at: str) -> bool:
    """Whether a line takes the last item of a list: `pop()` without an index."""
    return any(
        isinstance(call.func, ast.Attribute) and call.func.attr == "pop" and not call.args
        for call in calls_at(at)
    )
