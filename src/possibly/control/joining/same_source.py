"""Programs whose threads do the same, as their source shows: in a small language, else they do not count.

Law: in such a program threads are made in one list, from one function with the same constants; they are
started in one loop over it and joined in another, and nothing else in the program can get hold of a thread,
its name or its number. The function only computes with numbers and strings, looks at and changes global
variables, and uses primitives. Then the program cannot tell its threads apart by anything but what they do.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from types import CodeType

STATEMENTS = (
    ast.Global, ast.Expr, ast.Assign, ast.AugAssign, ast.With, ast.If, ast.For, ast.While, ast.Pass,
    ast.Break, ast.Continue, ast.Assert, ast.Return,
)  # fmt: skip
EXPRESSIONS = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript,
    ast.Attribute, ast.Call, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.withitem,
)  # fmt: skip
FUNCTIONS = frozenset({"len", "min", "max", "abs", "range", "int"})
METHODS = frozenset({"acquire", "release", "append", "set", "is_set", "clear"})
PRIMITIVES = frozenset({"Lock", "RLock", "Semaphore", "BoundedSemaphore", "Event"})


def is_alike(executed: list[str], codes: dict[tuple[str, str], CodeType]) -> bool:
    """Whether the program is one whose threads are interchangeable."""
    if executed != ["__main__"]:
        return False
    file = next((file for file, module in codes if module == "__main__"), None)
    return file is not None and _is_alike(file)


@lru_cache(maxsize=4)
def _is_alike(file: str) -> bool:
    with open(file, "rb") as opened:
        return is_alike_in(ast.parse(opened.read(), file))


def is_alike_in(tree: ast.Module) -> bool:
    made = [each for each in tree.body if _threads_of(each) is not None]
    if len(made) != 1:
        return False
    threads = _threads_of(made[0])
    assert threads is not None
    loops = [each for each in tree.body if isinstance(each, ast.For) and _is_named(each.iter, threads.name)]
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    function = functions.get(threads.function)
    return (
        function is not None
        and [_called_in(each) for each in loops] == ["start", "join"]
        and _is_plain(function)
        and _is_apart(tree, [made[0], *loops], {threads.name, _target(loops[0]), _target(loops[1])})
        and _is_otherwise_plain(tree, [made[0], *loops, function])
    )


class _Threads:
    def __init__(self, name: str, function: str) -> None:
        self.name, self.function = name, function


def _threads_of(statement: ast.stmt) -> _Threads | None:
    """`NAME = [threading.Thread(target=FUNCTION, args=(CONSTANTS)) for _ in range(N)]`."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.ListComp(
                elt=ast.Call(func=func, args=[], keywords=keywords),
                generators=[
                    ast.comprehension(target=ast.Name(), iter=ast.Call(func=ast.Name(id="range")), ifs=[])
                ],
            ),
        ) if _is_thread(func):
            given = {each.arg: each.value for each in keywords}
            target, arguments = given.pop("target", None), given.pop("args", ast.Tuple(elts=[]))
            constant = isinstance(arguments, ast.Tuple) and _are_constant(arguments.elts)
            if not given and isinstance(target, ast.Name) and constant:
                return _Threads(name, target.id)
    return None


def _are_constant(given: list[ast.expr]) -> bool:
    return all(isinstance(each, ast.Constant) for each in given)


def _is_thread(func: ast.expr) -> bool:
    match func:
        case ast.Attribute(value=ast.Name(id="threading"), attr="Thread") | ast.Name(id="Thread"):
            return True
    return False


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _target(loop: ast.For) -> str:
    return loop.target.id if isinstance(loop.target, ast.Name) else ""


def _called_in(loop: ast.For) -> str:
    """`start` or `join`, if the loop does nothing else with each thread."""
    match loop:
        case ast.For(
            target=ast.Name(id=name),
            body=[
                ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(id=used), attr=attr), args=[], keywords=[]
                    )
                )
            ],
            orelse=[],
        ) if name == used:
            return attr
    return ""


def _is_plain(function: ast.FunctionDef) -> bool:
    """Whether it is in the small language."""
    given = function.args
    if function.decorator_list or given.defaults or given.kwonlyargs or given.vararg or given.kwarg:
        return False
    return all(_is_allowed(node) for statement in function.body for node in ast.walk(statement))


def _is_allowed(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            return name in FUNCTIONS
        case ast.Call(func=ast.Attribute(attr=attr), keywords=[]):
            return attr in METHODS
        case ast.Call():
            return False
        case ast.For(iter=ast.Call(func=ast.Name(id="range")), target=ast.Name(), orelse=[]):
            return True
        case ast.For():
            return False
        case ast.Is() | ast.IsNot():
            return False
        case ast.withitem(optional_vars=None, context_expr=ast.Name()):
            return True
        case ast.withitem():
            return False
        case ast.Attribute(attr=attr):
            return not attr.startswith("_")
    return isinstance(node, (*STATEMENTS, *EXPRESSIONS))


def _is_apart(tree: ast.Module, allowed: list[ast.stmt], names: set[str]) -> bool:
    """Whether the names of threads stand nowhere else."""
    inside = {id(node) for statement in allowed for node in ast.walk(statement)}
    return not any(
        (isinstance(node, ast.Name) and node.id in names and id(node) not in inside)
        or (isinstance(node, ast.Global) and not names.isdisjoint(node.names))
        for node in ast.walk(tree)
    )


def _is_otherwise_plain(tree: ast.Module, known: list[ast.stmt]) -> bool:
    """Whether the rest imports and uses nothing that knows of threads, and hides no function we rely on."""
    for statement in tree.body:
        if any(statement is each for each in known):
            continue
        for node in ast.walk(statement):
            match node:
                case ast.Import(names=[ast.alias(name="threading", asname=None)]):
                    continue
                case ast.ImportFrom(module="threading", names=names):
                    if any(each.asname or each.name not in {*PRIMITIVES, "Thread"} for each in names):
                        return False
                case ast.Import() | ast.ImportFrom() | ast.ClassDef() | ast.Lambda() | ast.AsyncFunctionDef():
                    return False
                case ast.FunctionDef() | ast.Try() | ast.Delete():
                    return False
                case ast.Attribute(value=ast.Name(id="threading"), attr=attr):
                    if attr not in PRIMITIVES:
                        return False
                case ast.Attribute(attr=attr):
                    if attr.startswith("_"):
                        return False
                case ast.Name(id=name, ctx=ast.Store()):
                    if name in FUNCTIONS or name in ("threading", "Thread", "print"):
                        return False
    return True
