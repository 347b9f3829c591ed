"""Pieces of syntax trees that the rewriting of source is made of, and where they stand in the text."""

from __future__ import annotations

import ast
from collections.abc import Iterable


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def me() -> ast.Name:
    """The process that runs."""
    return load("_possibly_p")


def assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def nothing_in(names: Iterable[str]) -> ast.stmt:
    """All of them become None."""
    return ast.Assign([ast.Name(name, ast.Store()) for name in names], ast.Constant(None))


def store_in(target: ast.expr, name: str) -> ast.stmt:
    return ast.Assign([target], load(name))


def call(word: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(load(f"_possibly_{word}"), list(arguments), [])


def log_call(kind: int, *parts: ast.expr) -> ast.Call:
    return call("log", ast.Tuple([ast.Constant(kind), *parts], ast.Load()))


def log(kind: int, *parts: ast.expr) -> ast.stmt:
    return ast.Expr(log_call(kind, *parts))


def tell(kind: int, *parts: ast.expr) -> ast.stmt:
    """The same where no store stands right before: whoever follows the program may stop it there."""
    return ast.Expr(call("tell", ast.Tuple([ast.Constant(kind), *parts], ast.Load())))


def pick(parts: list[ast.expr], position: int) -> ast.expr:
    return ast.Subscript(ast.Tuple(parts, ast.Load()), ast.Constant(position), ast.Load())


def key(node: ast.expr) -> ast.expr:
    """What stands between brackets, as a value."""
    match node:
        case ast.Slice(lower, upper, step):
            return call("slice", *(each or ast.Constant(None) for each in (lower, upper, step)))
        case ast.Tuple(items):
            return ast.Tuple([key(each) for each in items], ast.Load())
    return node


def words(names: Iterable[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(each) for each in names], ast.Load())


def snap(name: str, *held: ast.expr) -> ast.stmt:
    """`_possibly_s = v if type(v) is plain else kept(v, ...)`, without a call of ours for plain values."""
    plain = ast.Compare(
        ast.Attribute(load(name), "__class__", ast.Load()), [ast.In()], [load("_possibly_plain")]
    )
    return assign("_possibly_s", ast.IfExp(plain, load(name), call("kept", load(name), *held)))


def targets_of(node: ast.stmt) -> list[ast.expr]:
    """What a simple statement stores in, or deletes."""
    match node:
        case ast.Assign(targets) | ast.Delete(targets):
            return targets
        case ast.AugAssign(target) | ast.AnnAssign(target, _, ast.expr()):
            return [target]
    return []


def is_definition(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def is_compound(node: ast.AST) -> bool:
    return hasattr(node, "body") or isinstance(node, ast.Match)


def insert(body: list[ast.stmt], first: list[ast.stmt], near: ast.AST) -> None:
    """Puts statements first, after the docstring and imports from the future."""
    position = 0
    while position < len(body) and comes_first(body[position], position):
        position += 1
    for each in first:
        locate(each, near)
    body[position:position] = first


def comes_first(statement: ast.stmt, position: int) -> bool:
    match statement:
        case ast.Expr(ast.Constant(str())):
            return position == 0
        case ast.ImportFrom(module="__future__"):
            return True
    return False


def locate(node: ast.AST, near: ast.AST) -> None:
    """Gives every new node the place of what it was made from, so that tracebacks stay as they were."""
    place = {
        "lineno": getattr(near, "lineno", 1),
        "col_offset": getattr(near, "col_offset", 0),
        "end_lineno": getattr(near, "end_lineno", None),
        "end_col_offset": getattr(near, "end_col_offset", None),
    }
    for each in ast.walk(node):
        if "lineno" in each._attributes and not hasattr(each, "lineno"):
            for name, value in place.items():
                setattr(each, name, value)
