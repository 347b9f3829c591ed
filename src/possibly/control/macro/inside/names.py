"""What a program calls the queues and pipes that it makes: the variable that gets a new one.

Law: a name depends on the source and on what its process has made before, never on what others do meanwhile:
the same thing is called the same in all executions. What the first thread and the main coroutine make has the
plain name, what others make has theirs before it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType

FIRST = ("main", "Task-1")


def channel_name(process: str, word: str, frame: FrameType | None, made: dict[str, int]) -> str:
    """`requests`, `Worker.box`, `boxes-2`; `main.queue1` for what no variable gets. `made` counts them."""
    variable = _variable(frame, process, made) if frame is not None else ""
    if not variable:
        key = f"{process}.{word}"
        return f"{key}{_counted(key, made)}"
    key = variable if process in FIRST else f"{process}.{variable}"
    number = _counted(key, made)
    return key if number == 1 else f"{key}-{number}"


def _counted(key: str, made: dict[str, int]) -> int:
    made[key] = made.get(key, 0) + 1
    return made[key]


def _variable(frame: FrameType, process: str, made: dict[str, int]) -> str:
    targets = _assigned(frame.f_code.co_filename).get(frame.f_lineno, ())
    if not targets:
        return ""
    number = _counted(f"{process} at {frame.f_code.co_filename}:{frame.f_lineno}", made)
    match targets[(number - 1) % len(targets)]:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name("self"), name) if "self" in frame.f_locals:
            return f"{type(frame.f_locals['self']).__name__}.{name}"
        case ast.Attribute(_, name):
            return name
    return ""


@lru_cache(maxsize=256)
def _assigned(file: str) -> dict[int, tuple[ast.expr, ...]]:
    """Line -> what gets the results of calls there, from left to right; the innermost statement counts."""
    try:
        with open(file, "rb") as opened:
            tree = ast.parse(opened.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, tuple[ast.expr, ...]] = {}
    for node in ast.walk(tree):  # outer ones first
        if isinstance(node, ast.Assign | ast.AnnAssign):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            found.update(dict.fromkeys(lines, tuple(_targets(node))))
    return found


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[ast.expr]:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    match target, node.value:
        case ast.Tuple(targets), ast.Tuple(values):
            pairs = zip(targets, values, strict=False)
            yield from (each for each, value in pairs if isinstance(value, ast.Call))
        case ((ast.Name() | ast.Attribute()), _):
            yield target
