"""Which scope a name of a Python source belongs to: what a look at the source needs to know.

A scope is a module, a class or a function (also a lambda). `Scope.where(name)` is where the name lives, as
the
language defines it; names that a nested function rebinds by `nonlocal` are shared between those functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from possibly.records import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Scoped = Function | ast.ClassDef | ast.Module


@dataclass(slots=True)
class Scope:
    node: Scoped
    parent: Scope | None
    own: set[str] = field(default_factory=set)
    """Names bound here."""
    outer: set[str] = field(default_factory=set)
    """Names declared global here."""
    enclosing: set[str] = field(default_factory=set)
    """Names declared nonlocal here."""
    rebound: set[str] = field(default_factory=set)
    """Names of `own` that a nested function declares nonlocal."""
    is_generator: bool = False

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, Function)

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")

    def where(self, name: str) -> Scope | None:
        """The scope whose variable the name is; None for a global one."""
        if name in self.outer:
            return None
        scope: Scope | None = self
        if name in self.enclosing:
            scope = self.parent
        while scope is not None and not isinstance(scope.node, ast.Module):
            bound = name in scope.own and name not in scope.outer | scope.enclosing
            if bound and (scope.is_function or scope is self):
                return scope
            scope = scope.parent
        return None


def scopes_of(tree: ast.Module) -> dict[ast.AST, Scope]:
    """Every module, class and function of the tree with its scope."""
    found: dict[ast.AST, Scope] = {}
    _enter(tree, None, found)
    for scope in found.values():
        for name in scope.enclosing:
            home = scope.where(name)
            if home is not None:
                home.rebound.add(name)
    return found


def _enter(node: Scoped, parent: Scope | None, found: dict[ast.AST, Scope]) -> None:
    scope = found[node] = Scope(node, parent)
    if isinstance(node, Function):
        scope.own.update(argument.arg for argument in arguments_of(node.args))
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    for part in body:
        _look(part, scope, found)


def arguments_of(given: ast.arguments) -> list[ast.arg]:
    rest = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *rest]


def _look(node: ast.AST, scope: Scope, found: dict[ast.AST, Scope]) -> None:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            scope.own.add(node.name)
            _enter(node, scope, found)
            for part in _outside(node):
                _look(part, scope, found)
            return
        case ast.Lambda():
            _enter(node, scope, found)
            return
        case ast.Global(names):
            scope.outer.update(names)
        case ast.Nonlocal(names):
            scope.enclosing.update(names)
        case ast.Yield() | ast.YieldFrom():
            scope.is_generator = True
        case ast.Name(name, ast.Store() | ast.Del()):
            scope.own.add(name)
        case ast.alias(name, asname):
            scope.own.add(asname or name.partition(".")[0])
        case ast.ExceptHandler(name=str() as name):
            scope.own.add(name)
        case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
            scope.own.add(name)
    for part in ast.iter_child_nodes(node):
        _look(part, scope, found)


def _outside(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.AST]:
    """What of a definition is evaluated where it stands."""
    yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from (keyword.value for keyword in node.keywords)
    else:
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default is not None)


def rebindable_globals(tree: ast.Module, scopes: dict[ast.AST, Scope]) -> set[str]:
    """Global names that are variables rather than functions, classes and modules."""
    fixed: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            fixed.add(statement.name)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            fixed.update(each.asname or each.name.partition(".")[0] for each in statement.names)
    declared = {name for scope in scopes.values() for name in scope.outer}
    return (scopes[tree].own - fixed) | declared
