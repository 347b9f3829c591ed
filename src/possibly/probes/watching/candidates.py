"""Which variables of a program its tasks may share, by a look at its source: what is recorded unasked.

A variable counts if some function changes it after it was made: a global or a variable of an outer function
that is bound again, an attribute that is set outside the method that makes its object, a container that a
global or an attribute leads to and that is changed in place. What holds a container from the beginning counts
too, since that may be changed by another name. Whether tasks really share it is seen in the run.

Modules are found by the `import` statements of the program's own files. What is imported in another way is
told of all the same, but adds no names.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator

from possibly.probes import port
from possibly.probes.watching.scopes import Scope, arguments_of, scopes_of
from possibly.probes.watching.watch import MUTATORS
from possibly.records import dataclass

MAKERS = ("__init__", "__new__", "__post_init__", "__setstate__")
"""Methods that give an object of theirs its first values."""
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_CONTAINERS = frozenset("list dict set deque defaultdict OrderedDict Counter bytearray".split())


@dataclass(frozen=True, slots=True)
class Candidates:
    """Words by which variables that may be shared are known."""

    names: frozenset[str] = frozenset()
    """Globals, and variables of outer functions."""
    members: frozenset[str] = frozenset()
    """Attributes."""


NOTHING = Candidates()


def candidates_of_program(words: tuple[str, ...]) -> Candidates:
    """Those of a program, as it is given to `python`: a file or -m with a module, and its arguments."""
    trees = list(_own_trees(words))
    found = [candidates(tree) for tree in trees]
    names = frozenset(word for each in found for word in each.names)
    members = frozenset(word for each in found for word in each.members)
    asked = {word for tree in trees for word in _of_modules(tree)}
    return Candidates(names, members | (asked & names))


def words_of_program(words: tuple[str, ...]) -> set[str]:
    """Every name and attribute in a program's own files."""
    nodes = (node for tree in _own_trees(words) for node in ast.walk(tree))
    return {
        node.id if isinstance(node, ast.Name) else node.attr for node in nodes if isinstance(node, _WORDS)
    }


_WORDS = (ast.Name, ast.Attribute)


def _of_modules(tree: ast.Module) -> Iterator[str]:
    """What is asked of modules by attribute: globals of theirs."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    named = (each.asname or each.name for node in imports for each in node.names)
    modules = {part for name in named for part in name.split(".")}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name(owner) | ast.Attribute(attr=owner), attribute) if owner in modules:
                yield attribute


def candidates(tree: ast.Module) -> Candidates:
    """Those of one module."""
    found = _Changes()
    for node, scope in scopes_of(tree).items():
        found.names |= scope.enclosing | scope.outer
        if scope.is_function:
            found.look_at(node, scope)
        elif isinstance(node, ast.Module):
            found.names |= {each.id for each in _given_containers(node) if isinstance(each, ast.Name)}
    return Candidates(frozenset(_plain(found.names)), frozenset(_plain(found.members)))


def _plain(words: Iterable[str]) -> Iterator[str]:
    return (word for word in words if not word.startswith("__"))


class _Changes:
    """What the functions of a module change."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.members: set[str] = set()

    def look_at(self, function: ast.AST, scope: Scope) -> None:
        maker = _object_made_by(function)
        self.members |= {each.attr for each in _given_containers(function) if isinstance(each, ast.Attribute)}
        for node in _within(function):
            match node:
                case ast.Attribute(ast.Name(owner), _, ast.Store()) if owner == maker:
                    pass
                case ast.Attribute(_, attribute, ast.Store() | ast.Del()):
                    self.members.add(attribute)
                case ast.Subscript(container, _, ast.Store() | ast.Del()):
                    self._changed_in_place(container, scope)
                case ast.Call(ast.Attribute(container, method)) if method in MUTATORS:
                    self._changed_in_place(container, scope)

    def _changed_in_place(self, container: ast.expr, scope: Scope) -> None:
        while isinstance(container, ast.Subscript):
            container = container.value
        match container:
            case ast.Attribute(attr=attribute):
                self.members.add(attribute)
            case ast.Name(name) if scope.where(name) is None:
                self.names.add(name)


def _given_containers(node: ast.AST) -> Iterator[ast.expr]:
    """What is given a new container there."""
    for each in _within(node):
        match each:
            case ast.Assign(targets, value):
                pairs = [(target, value) for target in targets]
            case ast.AnnAssign(target, _, ast.expr() as value):
                pairs = [(target, value)]
            case _:
                continue
        yield from (target for pair in pairs for target, value in _unpacked(*pair) if _is_container(value))


def _unpacked(target: ast.expr, value: ast.expr) -> Iterable[tuple[ast.expr, ast.expr]]:
    """Each target with its own value, where both are written side by side."""
    match target, value:
        case ((ast.Tuple(targets) | ast.List(targets)), (ast.Tuple(values) | ast.List(values))):
            return zip(targets, values, strict=False)
    return [(target, value)]


def _is_container(value: ast.expr) -> bool:
    match value:
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name)):
            return name in _CONTAINERS
    return isinstance(value, _DISPLAYS)


def _object_made_by(function: ast.AST) -> str | None:
    """What the method calls the object that it gives its first values."""
    if isinstance(function, ast.FunctionDef) and function.name in MAKERS:
        return next((each.arg for each in arguments_of(function.args)), None)
    return None


def _within(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes in it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


# ---- the program's own files ------------------------------------------------------------------------


def _own_trees(words: tuple[str, ...]) -> Iterator[ast.Module]:
    """The modules of a program that stand in files of the user's, as far as statements name them."""
    first = _file_of_module(words[1], [os.getcwd()]) if words[0] == "-m" else words[0]
    folders = [os.getcwd() if words[0] == "-m" else os.path.dirname(os.path.abspath(words[0]))]
    folders += [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    waiting, seen = [first] if first else [], set[str]()
    while waiting:
        file = os.path.abspath(waiting.pop())
        tree = None if file in seen or not port.is_user_file(file) else _parsed(file)
        seen.add(file)
        if tree is not None:
            yield tree
            waiting += _imported(tree, file, folders)


def _parsed(file: str) -> ast.Module | None:
    try:
        with open(file, "rb") as source:
            return ast.parse(source.read(), file)
    except (OSError, SyntaxError, ValueError):
        return None  # whoever runs it says what is wrong with it


def _imported(tree: ast.Module, file: str, folders: list[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                modules, places = [each.name for each in names], folders
            case ast.ImportFrom(module, names, level):
                base = f"{module}." if module else ""
                modules = [*([module] if module else []), *(f"{base}{each.name}" for each in names)]
                places = [_above(file, level)] if level else folders
            case _:
                continue
        for module in modules:
            found = _file_of_module(module, places)
            if found is not None:
                yield found


def _above(file: str, level: int) -> str:
    for _ in range(level):
        file = os.path.dirname(file)
    return file


def _file_of_module(module: str, folders: list[str]) -> str | None:
    path = module.replace(".", os.sep)
    for folder in folders:
        for ending in (".py", f"{os.sep}__init__.py", f"{os.sep}__main__.py"):
            if os.path.isfile(found := os.path.join(folder, path + ending)):
                return found
    return None
